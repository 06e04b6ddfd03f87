"""What the controller of DaemonSets decides: which pods come and go, and status."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.builtin.apps.daemonset.pods_on_nodes import INITIAL_BACKOFF, MAX_BACKOFF, DaemonSetMemory
from mooring.kube.objects import Object
from mooring.runtime.decision import Create
from mooring.testing.views import NOON
from tests.builtin.apps.daemonset.objects import (
    LABELS,
    daemon_set,
    decide,
    deleted,
    hash_of,
    node,
    nodes,
    only_on,
    pod,
    said,
    taint,
    targets,
    template,
)

GENERATION = "deprecated.daemonset.template.generation"


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
    assert gaps[-1] == MAX_BACKOFF.total_seconds()


def test_a_new_generation_is_met_with_new_patience() -> None:
    failed = pod("a", "n0", hash_of(daemon_set()), phase="Failed", ready=None)
    memory = decide(daemon_set(), *nodes(1), failed).memory
    assert isinstance(memory, DaemonSetMemory)
    seen = daemon_set(status={"observedGeneration": 1})
    assert deleted(decide(seen, *nodes(1), failed, memory=memory)) == ["a"]


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


@pytest.mark.parametrize(
    ("later", "delay"),
    [
        pytest.param(2 * MAX_BACKOFF, 2 * INITIAL_BACKOFF, id="remembered for twice the longest delay"),
        pytest.param(2 * MAX_BACKOFF + timedelta(seconds=1), INITIAL_BACKOFF, id="forgotten after that"),
    ],
)
def test_a_failure_long_ago_is_forgiven(later: timedelta, delay: timedelta) -> None:
    owner = daemon_set()
    failed = pod("a", "n0", hash_of(owner), phase="Failed", ready=None)
    memory = decide(owner, *nodes(1), failed).memory
    decision = decide(owner, *nodes(1), failed, now=NOON + later, memory=memory)
    assert deleted(decision) == ["a"]
    assert decision.memory.patience["n0"].delay == delay
