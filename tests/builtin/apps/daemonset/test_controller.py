"""DaemonSet: which nodes get a pod, how pods are replaced, whose they are, and what status says."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.apps.daemonset.controller import CONTROLLER, reconcile
from mooring.builtin.apps.daemonset.history import new_revision
from mooring.builtin.apps.daemonset.nodes import NODES
from mooring.builtin.apps.daemonset.pods_on_nodes import LONGEST_DELAY, Memory
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import CONTROLLER_REVISION, DAEMON_SET
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

KEY = Key("default", "agent")
UID = "DaemonSet/default/agent"
LABELS = {"app": "agent"}
GENERATION = "deprecated.daemonset.template.generation"


def template(image: str = "agent:1", **spec: Any) -> Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def daemon_set(
    *, rolling: Object | None = None, strategy: str = "RollingUpdate", status: Object | None = None, **spec: Any
) -> Object:
    update: Object = {"type": strategy}
    if strategy == "RollingUpdate":
        update["rollingUpdate"] = {"maxUnavailable": 1, "maxSurge": 0, **(rolling or {})}
    body = {"selector": {"matchLabels": LABELS}, "template": template(), "updateStrategy": update, **spec}
    metadata = {"name": "agent", "namespace": "default", "generation": 1}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": body, "status": status or {}}


def node(name: str, *taints: Object, **labels: str) -> Object:
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": list(taints)}}


def nodes(count: int) -> list[Object]:
    return [node(f"n{number}") for number in range(count)]


def taint(key: str, effect: str = "NoSchedule") -> Object:
    return {"key": key, "effect": effect}


def owner_reference() -> Object:
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": UID, "controller": True}


def revision_of(owner: Object) -> Object:
    """The revision that the controller makes for the template of a set."""
    view = view_of([owner])
    made = new_revision(view.get(DAEMON_SET, *KEY), 1)  # type: ignore[arg-type]
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", **made.object}


def hash_of(owner: Object) -> str:
    return str(revision_of(owner)["metadata"]["labels"]["controller-revision-hash"])


def pod(
    name: str,
    on: str,
    revision: str,
    *,
    bound: bool = True,
    phase: str = "Running",
    ready: int | None = 60,
    age: int = 60,
    deleting: bool = False,
    owned: bool = True,
    labels: Object | None = None,
) -> Object:
    """A pod for a node that was created `age` and became ready `ready` seconds ago."""
    metadata: Object = {
        "name": name,
        "namespace": "default",
        "labels": {**(LABELS if labels is None else labels), "controller-revision-hash": revision},
        "creationTimestamp": timestamp(NOON - timedelta(seconds=age)),
    }
    if owned:
        metadata["ownerReferences"] = [owner_reference()]
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    status: Object = {"phase": phase}
    if ready is not None:
        since = timestamp(NOON - timedelta(seconds=ready))
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    spec: Object = {"affinity": only_on(on)}
    if bound:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def only_on(name: str) -> Object:
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def decide(owner: Object, *objects: Object, now: datetime = NOON, memory: Any = None) -> Decision:
    """What is decided once today's revision is there."""
    everything = [owner, revision_of(owner), *objects]
    return reconcile(KEY, view_of(everything, now, memory=memory, folds=(NODES,)), now)


def targets(decision: Decision) -> list[str]:
    """The nodes that get a pod."""
    found = []
    for write in decision.children:
        if isinstance(write, Create):
            of_nodes = write.object["spec"]["affinity"]["nodeAffinity"]
            (term,) = of_nodes["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            found += term["matchFields"][0]["values"]
    return found


def deleted(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def said(decision: Decision) -> Object:
    (patch,) = decision.status
    assert isinstance(patch, Patch)
    return dict(patch.body["status"])


# Which nodes


@pytest.mark.parametrize(
    ("spec", "there", "wanted"),
    [
        pytest.param({}, nodes(2), ["n0", "n1"], id="every node gets one"),
        pytest.param(
            {"nodeSelector": {"gpu": "yes"}}, [node("a", gpu="yes"), node("b")], ["a"], id="a selector chooses by label"
        ),
        pytest.param(
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]
                        }
                    }
                }
            },
            [node("a", gpu="yes"), node("b")],
            ["a"],
            id="so does required affinity",
        ),
        pytest.param({"nodeName": "b"}, [*nodes(1), node("b")], ["b"], id="a template may name its node"),
        pytest.param({}, [node("a", taint("spot")), node("b")], ["b"], id="a taint keeps it away"),
        pytest.param({}, [node("a", taint("spot", "PreferNoSchedule"))], ["a"], id="a soft taint does not"),
        pytest.param(
            {"tolerations": [{"operator": "Exists"}]}, [node("a", taint("spot"))], ["a"], id="unless it is tolerated"
        ),
        pytest.param(
            {}, [node("a", taint("node.kubernetes.io/unschedulable"))], ["a"], id="a cordon does not keep it away"
        ),
        pytest.param(
            {}, [node("a", taint("node.kubernetes.io/not-ready", "NoExecute"))], ["a"], id="nor does a node in trouble"
        ),
        pytest.param(
            {}, [node("a", taint("node.kubernetes.io/network-unavailable"))], [], id="a node without network does"
        ),
        pytest.param(
            {"hostNetwork": True},
            [node("a", taint("node.kubernetes.io/network-unavailable"))],
            ["a"],
            id="but not where the pod uses the host's",
        ),
    ],
)
def test_a_pod_is_made_for(spec: Object, there: list[Object], wanted: list[str]) -> None:
    assert targets(decide(daemon_set(template=template(**spec)), *there)) == wanted


def test_a_pod_is_made_for_one_node_and_tolerates_what_befalls_nodes() -> None:
    decision = decide(daemon_set(), *nodes(1))
    (create,) = decision.children
    assert isinstance(create, Create)
    spec, labels = create.object["spec"], create.object["metadata"]["labels"]
    assert "nodeName" not in spec
    assert spec["affinity"] == only_on("n0")
    assert [(t["key"].rpartition("/")[2], t["operator"], t["effect"]) for t in spec["tolerations"]] == [
        ("not-ready", "Exists", "NoExecute"),
        ("unreachable", "Exists", "NoExecute"),
        ("disk-pressure", "Exists", "NoSchedule"),
        ("memory-pressure", "Exists", "NoSchedule"),
        ("pid-pressure", "Exists", "NoSchedule"),
        ("unschedulable", "Exists", "NoSchedule"),
    ]
    assert labels == {**LABELS, "controller-revision-hash": hash_of(daemon_set())}
    assert [event.message for event in decision.events] == [f"Created pod: {create.key.name}"]


def test_a_toleration_with_a_time_limit_is_made_to_last() -> None:
    limited = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    owner = daemon_set(template=template(tolerations=[{**limited, "tolerationSeconds": 30}]))
    (create,) = decide(owner, *nodes(1)).children
    assert isinstance(create, Create)
    assert create.object["spec"]["tolerations"][0] == limited
    assert len(create.object["spec"]["tolerations"]) == 6


def test_preferences_of_the_template_stay_beside_the_name_of_the_node() -> None:
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}, "podAffinity": {}}
    (create,) = decide(daemon_set(template=template(affinity=affinity)), *nodes(1)).children
    assert isinstance(create, Create)
    made = create.object["spec"]["affinity"]
    assert made["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] == preferred
    assert "podAffinity" in made


def test_the_template_generation_becomes_a_label() -> None:
    owner = daemon_set()
    owner["metadata"]["annotations"] = {GENERATION: "3"}
    (create,) = decide(owner, *nodes(1)).children
    assert isinstance(create, Create)
    assert create.object["metadata"]["labels"]["pod-template-generation"] == "3"


def test_names_follow_from_the_set_and_pass_over_a_pod_that_is_there() -> None:
    first = [write.key.name for write in decide(daemon_set(), *nodes(2)).children]
    assert first == [write.key.name for write in decide(daemon_set(), *nodes(2)).children]
    stranger = pod(first[0], "elsewhere", "x", owned=False, labels={"app": "other"})
    second = [write.key.name for write in decide(daemon_set(), *nodes(2), stranger).children]
    assert first[0] not in second
    assert second[0] == first[1]


# What is there already


def test_a_node_that_has_its_pod_is_left_alone() -> None:
    word = hash_of(daemon_set())
    assert decide(daemon_set(), *nodes(1), pod("a", "n0", word)).children == ()


def test_a_pod_that_is_not_bound_yet_counts_for_the_node_it_is_made_for() -> None:
    word = hash_of(daemon_set())
    assert decide(daemon_set(), *nodes(1), pod("a", "n0", word, bound=False, phase="Pending")).children == ()


def test_a_pod_on_its_way_out_must_be_gone_before_the_next_one_comes() -> None:
    leaving = pod("a", "n0", hash_of(daemon_set()), deleting=True)
    assert decide(daemon_set(), *nodes(1), leaving).children == ()


def test_with_surge_the_next_one_does_not_wait() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    leaving = pod("a", "n0", hash_of(owner), deleting=True)
    assert targets(decide(owner, *nodes(1), leaving)) == ["n0"]


def test_of_two_pods_on_a_node_the_older_one_stays() -> None:
    word = hash_of(daemon_set())
    decision = decide(daemon_set(), *nodes(1), pod("old", "n0", word, age=90), pod("new", "n0", word, age=30))
    assert deleted(decision) == ["new"]


def test_a_pod_on_a_node_that_is_not_chosen_any_more_goes() -> None:
    owner = daemon_set(template=template(nodeSelector={"gpu": "yes"}))
    assert deleted(decide(owner, *nodes(1), pod("a", "n0", hash_of(owner)))) == ["a"]


@pytest.mark.parametrize(("effect", "gone"), [("NoSchedule", []), ("NoExecute", ["a"])])
def test_a_new_taint_drives_off_only_what_must_not_stay(effect: str, gone: list[str]) -> None:
    decision = decide(daemon_set(), node("n0", taint("spot", effect)), pod("a", "n0", hash_of(daemon_set())))
    assert deleted(decision) == gone
    assert said(decision)["numberMisscheduled"] == 1


def test_a_pod_that_waits_for_a_node_that_is_gone_is_deleted() -> None:
    word = hash_of(daemon_set())
    waiting, lost = pod("waiting", "gone", word, bound=False, phase="Pending"), pod("lost", "gone", word)
    assert deleted(decide(daemon_set(), waiting, lost)) == ["waiting"]


# Pods that ended


def test_a_failed_pod_is_deleted_and_told_of() -> None:
    decision = decide(daemon_set(), *nodes(1), pod("a", "n0", hash_of(daemon_set()), phase="Failed", ready=None))
    assert deleted(decision) == ["a"]
    assert [(event.type, event.reason, event.message) for event in decision.events] == [
        ("Warning", "FailedDaemonPod", "Found failed daemon pod default/a on node n0, will try to kill it"),
        ("Normal", "SuccessfulDelete", "Deleted pod: a"),
    ]


def test_a_pod_that_succeeded_is_deleted_too() -> None:
    decision = decide(daemon_set(), *nodes(1), pod("a", "n0", hash_of(daemon_set()), phase="Succeeded", ready=None))
    assert deleted(decision) == ["a"]
    assert decision.events[0].message == "Found succeeded daemon pod default/a on node n0, will try to delete it"


def test_pods_that_fail_again_and_again_are_deleted_ever_more_slowly() -> None:
    owner = daemon_set()
    failed = pod("a", "n0", hash_of(owner), phase="Failed", ready=None)
    now, memory, gaps = NOON, None, []
    for _ in range(13):
        decision = decide(owner, *nodes(1), failed, now=now, memory=memory)
        assert deleted(decision) == ["a"]
        memory = decision.memory
        delay = memory.patience["n0"].delay
        early = decide(owner, *nodes(1), failed, now=now + delay - timedelta(milliseconds=1), memory=memory)
        assert deleted(early) == []
        gaps.append(delay.total_seconds())
        now += delay
    assert gaps[:4] == [1, 2, 4, 8]
    assert gaps[-1] == LONGEST_DELAY.total_seconds()


def test_a_new_generation_is_met_with_new_patience() -> None:
    failed = pod("a", "n0", hash_of(daemon_set()), phase="Failed", ready=None)
    memory = decide(daemon_set(), *nodes(1), failed).memory
    assert isinstance(memory, Memory)
    seen = daemon_set(status={"observedGeneration": 1})
    assert deleted(decide(seen, *nodes(1), failed, memory=memory)) == ["a"]


# Updates


def old_pods(count: int, **kwargs: Any) -> list[Object]:
    return [pod(f"old{number}", f"n{number}", "outdated", **kwargs) for number in range(count)]


@pytest.mark.parametrize(
    ("limit", "gone"),
    [
        pytest.param(1, ["old0"], id="one at a time"),
        pytest.param("50%", ["old0", "old1"], id="half of four"),
        pytest.param("26%", ["old0", "old1"], id="a portion is rounded up"),
    ],
)
def test_outdated_pods_are_replaced(limit: int | str, gone: list[str]) -> None:
    owner = daemon_set(rolling={"maxUnavailable": limit})
    assert deleted(decide(owner, *nodes(4), *old_pods(4))) == gone


def test_what_is_away_already_counts() -> None:
    owner = daemon_set(rolling={"maxUnavailable": 2})
    starting = pod("new0", "n0", hash_of(owner), ready=None)
    assert deleted(decide(owner, *nodes(4), starting, *old_pods(4)[1:])) == ["old1"]


def test_outdated_pods_that_are_broken_go_first_and_all_at_once() -> None:
    broken = old_pods(3, ready=None)
    assert deleted(decide(daemon_set(), *nodes(4), *broken, pod("old3", "n3", "outdated"))) == ["old0", "old1", "old2"]


def test_ready_for_a_moment_is_not_available() -> None:
    owner = daemon_set(minReadySeconds=30)
    fresh = pod("new0", "n0", hash_of(owner), ready=10)
    decision = decide(owner, *nodes(2), fresh, *old_pods(2)[1:])
    assert deleted(decision) == []
    assert said(decision)["numberReady"] == 2
    assert said(decision)["numberAvailable"] == 1
    later = decide(owner, *nodes(2), fresh, *old_pods(2)[1:], now=NOON + timedelta(seconds=20))
    assert deleted(later) == ["old1"]


def test_on_delete_nothing_is_replaced_until_somebody_deletes_it() -> None:
    owner = daemon_set(strategy="OnDelete")
    assert decide(owner, *nodes(2), *old_pods(2)).children == ()
    assert targets(decide(owner, *nodes(2), *old_pods(1))) == ["n1"]


def test_with_surge_new_pods_come_first() -> None:
    owner = daemon_set(rolling={"maxSurge": 2, "maxUnavailable": 0})
    decision = decide(owner, *nodes(3), *old_pods(3))
    assert targets(decision) == ["n0", "n1"]
    assert deleted(decision) == []


def test_with_surge_the_old_pod_goes_when_the_new_one_is_available() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    word = hash_of(owner)
    both = (*nodes(1), pod("old", "n0", "outdated"))
    assert deleted(decide(owner, *both, pod("new", "n0", word, ready=None, age=1))) == []
    assert deleted(decide(owner, *both, pod("new", "n0", word, ready=1, age=1))) == ["old"]


def test_with_surge_an_old_pod_that_is_not_ready_is_not_kept() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    pair = pod("old", "n0", "outdated", ready=None), pod("new", "n0", hash_of(owner), ready=None, age=1)
    assert deleted(decide(owner, *nodes(1), *pair)) == ["old"]


def test_with_surge_a_node_that_is_wanted_no_more_is_left_when_others_serve() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    closed = node("n0", taint("spot"))
    starting = pod("new1", "n1", hash_of(owner), ready=None, age=1)
    assert deleted(decide(owner, closed, node("n1"), pod("old0", "n0", "outdated"), starting)) == []
    serving = pod("new1", "n1", hash_of(owner), ready=1, age=1)
    assert deleted(decide(owner, closed, node("n1"), pod("old0", "n0", "outdated"), serving)) == ["old0"]


# History and ownership


def test_the_template_becomes_a_revision_before_any_pod_is_made() -> None:
    owner = daemon_set()
    owner["metadata"]["annotations"] = {"kubernetes.io/change-cause": "first"}
    decision = reconcile(KEY, view_of([owner, *nodes(1)], folds=(NODES,)), NOON)
    (create,) = decision.intent
    assert isinstance(create, Create)
    word = create.object["metadata"]["labels"]["controller-revision-hash"]
    assert create.key.name == f"agent-{word}"
    assert create.object["revision"] == 1
    assert create.object["metadata"]["annotations"] == {"kubernetes.io/change-cause": "first"}
    assert create.object["data"] == {"spec": {"template": {**template(), "$patch": "replace"}}}
    assert decision.children == ()


def past_revision(name: str, number: int, image: str = "agent:0", **labels: str) -> Object:
    metadata = {
        "name": name,
        "namespace": "default",
        "labels": {**LABELS, "controller-revision-hash": name, **labels},
        "ownerReferences": [owner_reference()],
    }
    data = {"spec": {"template": {**template(image), "$patch": "replace"}}}
    return {
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": number,
    }  # fmt: skip


def test_a_word_that_another_revision_has_is_counted_as_a_collision() -> None:
    taken = {**past_revision("x", 1), "data": {}}
    taken["metadata"] = {**taken["metadata"], "name": revision_of(daemon_set())["metadata"]["name"]}
    decision = reconcile(KEY, view_of([daemon_set(), taken], folds=(NODES,)), NOON)
    assert said(decision)["collisionCount"] == 1
    counted = daemon_set(status={"collisionCount": 1})
    (create,) = reconcile(KEY, view_of([counted, taken], folds=(NODES,)), NOON).intent
    assert create.key.name != taken["metadata"]["name"]


def test_going_back_gives_the_old_revision_the_newest_number() -> None:
    decision = decide(daemon_set(), past_revision("later", 5), *nodes(1))
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    assert (patch.key.name, patch.body) == (revision_of(daemon_set())["metadata"]["name"], {"revision": 6})


def test_two_revisions_of_one_template_become_one_and_pods_follow() -> None:
    owner = daemon_set()
    twin = past_revision("twin", 7, image="agent:1")
    mine, other = pod("mine", "n0", hash_of(owner)), pod("other", "n1", "outdated")
    decision = decide(owner, twin, *nodes(2), mine, other)
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    assert (patch.key.name, patch.body["metadata"]["labels"]) == ("mine", {"controller-revision-hash": "twin"})
    assert deleted(decision) == [revision_of(owner)["metadata"]["name"]]


def test_history_is_cut_at_its_limit_but_not_what_pods_still_run() -> None:
    owner = daemon_set(revisionHistoryLimit=1, strategy="OnDelete")
    old = [past_revision(f"r{number}", -3 + number, image=f"agent:-{number}") for number in range(3)]
    decision = decide(owner, *old, *nodes(1), pod("a", "n0", "r0"))
    assert [write.key.name for write in decision.release] == ["r1", "r2"]


def test_pods_and_revisions_without_an_owner_are_adopted_and_strangers_let_go() -> None:
    owner = daemon_set()
    orphan = pod("orphan", "n0", "x", owned=False)
    stranger = pod("stranger", "n0", "x", labels={"app": "other"})
    revision = past_revision("r", 1)
    del revision["metadata"]["ownerReferences"]
    decision = decide(owner, orphan, stranger, revision, *nodes(1))
    assert {(w.kind, w.key.name) for w in decision.intent} >= {(CONTROLLER_REVISION, "r")}
    assert {w.key.name for w in decision.intent} == {"r", "orphan", "stranger"}


def test_a_set_on_its_way_out_makes_and_says_nothing() -> None:
    leaving = daemon_set()
    leaving["metadata"] |= {"deletionTimestamp": timestamp(NOON), "finalizers": ["foregroundDeletion"]}
    assert decide(leaving, *nodes(2), pod("orphan", "n0", "x", owned=False)) == Decision()


# Status


def test_status_counts_nodes() -> None:
    owner = daemon_set(strategy="OnDelete")
    word = hash_of(owner)
    decision = decide(
        owner,
        *nodes(3),
        node("closed", taint("spot")),
        pod("a", "n0", word),
        pod("b", "n1", "outdated", ready=None),
        pod("c", "closed", word),
    )
    assert said(decision) == {
        "currentNumberScheduled": 2,
        "numberMisscheduled": 1,
        "desiredNumberScheduled": 3,
        "numberReady": 1,
        "observedGeneration": 1,
        "updatedNumberScheduled": 1,
        "numberAvailable": 1,
        "numberUnavailable": 2,
    }


# To the end


def world(owner: Object, *objects: Object, **kwargs: Any) -> World:
    return World([CONTROLLER], [owner, *objects], **kwargs)


def test_after_any_crash_every_node_ends_with_one_pod() -> None:
    calm = same_end_after_any_crash(lambda: world(daemon_set(), *nodes(4)))
    assert len(calm.of("Pod")) == 4
    assert calm.get("DaemonSet", "agent")["status"]["numberReady"] == 4


@pytest.mark.parametrize("rolling", [{"maxUnavailable": 2}, {"maxSurge": 2, "maxUnavailable": 0}])
def test_after_any_crash_an_update_ends_with_new_pods_only(rolling: Object) -> None:
    def updated() -> World:
        made = world(daemon_set(rolling=rolling), *nodes(4))
        made.run()
        made.edit("DaemonSet", "agent", {"spec": {"template": template("agent:2")}})
        made.most.clear()
        return made

    calm = same_end_after_any_crash(updated)
    assert {p["spec"]["containers"][0]["image"] for p in calm.of("Pod")} == {"agent:2"}
    assert len(calm.of("Pod")) == 4
    assert calm.most["Pod"] <= 4 + rolling.get("maxSurge", 0)
    assert [r["revision"] for r in calm.of("ControllerRevision")] in ([1, 2], [2, 1])


def test_pods_that_never_start_stop_an_update_at_its_limit() -> None:
    made = world(daemon_set(rolling={"maxUnavailable": 2}), *nodes(5))
    made.run()
    made.kubelet = never_starts
    made.edit("DaemonSet", "agent", {"spec": {"template": template("agent:2")}})
    made.run()
    images = sorted(p["spec"]["containers"][0]["image"] for p in made.of("Pod"))
    assert images == ["agent:1"] * 3 + ["agent:2"] * 2
    assert made.get("DaemonSet", "agent")["status"]["numberUnavailable"] == 2
