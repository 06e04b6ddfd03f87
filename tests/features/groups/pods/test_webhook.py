"""What pods of a group are told before they are stored."""

from __future__ import annotations

import pytest

from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.features.groups import api
from mooring.features.groups.pods.webhook import POD_WEBHOOK
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import START
from mooring.runtime.webhooks.direct import install
from mooring.testing.builders import pod as plain_pod
from mooring.testing.groups import leader_pod, worker_pod
from mooring.testing.simulations import checked_simulation
from mooring.testing.webhooks import answered, denied_because, patched_to, review

KEY = "example.com/node-group"
UNIQUE = {
    api.UNIQUE_SELECTOR: KEY,
    api.UNIQUE_TOLERATION_KEY: KEY,
    api.UNIQUE_TOLERATION_EFFECT: "NoSchedule",
}
RACK = "example.com/rack"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def made(pod: Object) -> Object:
    return patched_to(POD_WEBHOOK, review(pod))


def labels(pod: Object) -> Object:
    found: Object = made(pod)["metadata"]["labels"]
    return {name.rpartition("/")[2]: value for name, value in found.items()}


def env(pod: Object, container: int = 0, field: str = "containers") -> list[tuple[str, str]]:
    return [(each["name"], each["value"]) for each in made(pod)["spec"][field][container]["env"]]


def refused(pod: Object) -> str:
    return denied_because(POD_WEBHOOK, review(pod))


def test_a_pod_of_nobody_is_left_alone() -> None:
    assert made(plain_pod("p")) == plain_pod("p")


def test_a_leader_learns_its_group() -> None:
    told = labels(leader_pod("leaderworkerset-sample-0"))
    assert told["group-index"] == "0"
    assert told["group-key"] == "9e1316d2ae590d1547fdcd8e941a83be8889e7d4"
    assert labels(leader_pod("test-sample-1"))["group-key"] == "b072c7f2aec151f513da6ebc6786ff77f0c7bdc4"


def test_a_group_key_that_is_there_stays() -> None:
    assert labels(leader_pod(labels={api.GROUP_KEY: "mine"}))["group-key"] == "mine"


def test_a_worker_learns_its_number() -> None:
    assert labels(worker_pod("serve-4-12"))["worker-index"] == "12"


def test_the_group_comes_first_in_every_environment() -> None:
    theirs = [{"name": "LWS_GROUP_SIZE", "value": "9"}, {"name": "A", "value": "$(LWS_LEADER_ADDRESS)"}]
    containers = [{"name": "a", "env": theirs}, {"name": "b"}]
    spec = {"containers": containers, "initContainers": [{"name": "i"}]}
    ours = [
        ("LWS_LEADER_ADDRESS", "serve-1.serve.default"), ("LWS_GROUP_SIZE", "3"), ("LWS_WORKER_INDEX", "2"),
    ]  # fmt: skip
    pod = worker_pod("serve-1-2", size=3, spec=spec)
    assert env(pod) == [*ours, ("A", "$(LWS_LEADER_ADDRESS)")]
    assert env(pod, 1) == ours
    assert env(pod, 0, "initContainers") == ours
    assert env(leader_pod("serve-1", size=3))[2] == ("LWS_WORKER_INDEX", "0")


def test_with_a_subdomain_of_its_own_the_leader_is_found_there() -> None:
    pod = leader_pod("serve-1", annotations={api.SUBDOMAIN: "UniquePerReplica"})
    assert made(pod)["spec"]["subdomain"] == "serve-1"
    assert env(pod)[0] == ("LWS_LEADER_ADDRESS", "serve-1.serve-1.default")


@pytest.mark.parametrize(
    ("size", "part", "indexes"),
    [
        (4, 2, ["0", "1", "1"]),
        (5, 4, ["0", "0", "0", "0"]),
        (5, 2, ["0", "0", "1", "1"]),
        (3, 1, ["1", "2"]),
        (6, 3, ["0", "0", "1", "1", "1"]),
    ],
)
def test_workers_are_divided_into_subgroups(size: int, part: int, indexes: list[str]) -> None:
    notes = {api.SUBGROUP_SIZE: str(part), api.SUBGROUP_TYPE: "LeaderWorker"}
    pods = [worker_pod(f"serve-0-{w}", size=size, annotations=notes) for w in range(1, size)]
    assert [labels(pod)["subgroup-index"] for pod in pods] == indexes


def test_the_leader_is_in_the_first_subgroup_unless_it_is_excluded() -> None:
    notes = {api.SUBGROUP_SIZE: "2", api.SUBGROUP_TYPE: "LeaderWorker"}
    told = labels(leader_pod("leaderworkerset-sample-0", size=4, annotations=notes))
    assert told["subgroup-index"] == "0"
    assert told["subgroup-key"] == "bbcb8915b3fc422b432777ae177705a012ab13d4"
    out = labels(leader_pod(size=5, annotations=notes | {api.SUBGROUP_TYPE: "LeaderExcluded"}))
    assert "subgroup-index" not in out
    assert "subgroup-key" not in out


def terms(pod: Object, side: str) -> list[Object]:
    found: list[Object] = made(pod)["spec"].get("affinity", {}).get(side, {}).get(REQUIRED, [])
    return found


def test_exclusive_placement_is_two_terms_behind_those_of_the_user() -> None:
    mine = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
    spec = {"affinity": {"podAntiAffinity": {REQUIRED: [mine]}}}
    pod = leader_pod(annotations={api.EXCLUSIVE_TOPOLOGY: RACK}, spec=spec)
    key = labels(pod)["group-key"]
    (near,) = terms(pod, "podAffinity")
    first, far = terms(pod, "podAntiAffinity")
    assert first == mine
    assert near == {
        "labelSelector": {"matchExpressions": [{"key": api.GROUP_KEY, "operator": "In", "values": [key]}]},
        "topologyKey": RACK,
    }
    assert far == {
        "labelSelector": {
            "matchExpressions": [
                {"key": api.GROUP_KEY, "operator": "Exists"},
                {"key": api.GROUP_KEY, "operator": "NotIn", "values": [key]},
            ]
        },
        "topologyKey": RACK,
    }


def test_workers_follow_their_leader_by_selector_and_get_no_terms_of_the_group() -> None:
    assert terms(worker_pod(annotations={api.EXCLUSIVE_TOPOLOGY: RACK}), "podAffinity") == []


def test_a_subgroup_has_terms_of_its_own() -> None:
    notes = {api.SUBGROUP_SIZE: "2", api.EXCLUSIVE_TOPOLOGY: "zone", api.SUBGROUP_EXCLUSIVE_TOPOLOGY: RACK}
    lead = leader_pod(size=4, annotations=notes)
    assert [term["topologyKey"] for term in terms(lead, "podAffinity")] == ["zone", RACK]
    (term,) = terms(worker_pod("serve-0-3", size=4, annotations=notes), "podAntiAffinity")
    assert term["topologyKey"] == RACK
    assert term["labelSelector"]["matchExpressions"][0]["key"] == api.SUBGROUP_KEY


def test_terms_of_the_user_on_both_sides_of_a_topology_keep_ours_out() -> None:
    mine = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": RACK}
    spec = {"affinity": {side: {REQUIRED: [mine]} for side in ("podAffinity", "podAntiAffinity")}}
    pod = leader_pod(annotations={api.EXCLUSIVE_TOPOLOGY: RACK}, spec=spec)
    assert terms(pod, "podAffinity") == [mine]


TOLERATION = {"key": KEY, "operator": "Equal", "value": "serve-1", "effect": "NoSchedule"}


def test_every_pod_of_a_replica_asks_for_the_nodes_of_its_leader() -> None:
    user = {"key": "gpu", "operator": "Exists"}
    spec = {"nodeSelector": {"gpu": "h200"}, "tolerations": [user]}
    for pod in (
        leader_pod("serve-1", annotations=UNIQUE, spec=spec),
        worker_pod("serve-1-1", annotations=UNIQUE, spec=spec),
        worker_pod("serve-1-2", annotations=UNIQUE, spec=spec),
    ):
        assert made(pod)["spec"]["nodeSelector"] == {"gpu": "h200", KEY: "serve-1"}
        assert made(pod)["spec"]["tolerations"] == [user, TOLERATION]


def test_either_half_works_alone() -> None:
    selected = made(leader_pod("serve-1", annotations={api.UNIQUE_SELECTOR: KEY}))["spec"]
    assert selected["nodeSelector"] == {KEY: "serve-1"}
    assert "tolerations" not in selected
    notes = {api.UNIQUE_TOLERATION_KEY: KEY, api.UNIQUE_TOLERATION_EFFECT: "NoSchedule"}
    tolerating = made(leader_pod("serve-1", annotations=notes))["spec"]
    assert tolerating["tolerations"] == [TOLERATION]
    assert "nodeSelector" not in tolerating


def test_empty_annotations_ask_for_nothing() -> None:
    notes = {api.UNIQUE_SELECTOR: "", api.UNIQUE_TOLERATION_KEY: "", api.UNIQUE_TOLERATION_EFFECT: "Foo"}
    assert made(leader_pod(annotations=notes))["spec"].keys() == made(leader_pod())["spec"].keys()


def test_a_selector_of_the_user_for_that_key_is_overruled() -> None:
    pod = leader_pod("serve-1", annotations=UNIQUE, spec={"nodeSelector": {KEY: "other"}})
    assert made(pod)["spec"]["nodeSelector"] == {KEY: "serve-1"}


def test_a_toleration_that_is_there_is_not_added_again() -> None:
    unwritten = {"key": KEY, "value": "serve-1", "effect": "NoSchedule"}
    for there in (TOLERATION, unwritten):
        pod = leader_pod("serve-1", annotations=UNIQUE, spec={"tolerations": [there]})
        assert made(pod)["spec"]["tolerations"] == [there]
    other = {"key": KEY, "operator": "Exists", "effect": "NoSchedule"}
    pod = leader_pod("serve-1", annotations=UNIQUE, spec={"tolerations": [other]})
    assert made(pod)["spec"]["tolerations"] == [other, TOLERATION]


@pytest.mark.parametrize("effect", ["Evict", "noschedule", ""])
def test_an_effect_that_there_is_not_is_refused(effect: str) -> None:
    said = refused(worker_pod(annotations=UNIQUE | {api.UNIQUE_TOLERATION_EFFECT: effect}))
    assert said.startswith("pod serve-0-1: annotation leaderworkerset.sigs.k8s.io/replicaUniqueTolerationEffect is ")
    assert said.endswith("it must be one of NoSchedule, PreferNoSchedule, NoExecute")


def test_no_execute_is_tolerated_for_ever() -> None:
    notes = UNIQUE | {api.UNIQUE_TOLERATION_EFFECT: "NoExecute"}
    (toleration,) = made(leader_pod(annotations=notes))["spec"]["tolerations"]
    assert "tolerationSeconds" not in toleration


def test_a_leader_outside_of_subgroups_still_gets_nodes_of_its_own() -> None:
    notes = UNIQUE | {api.SUBGROUP_SIZE: "2", api.SUBGROUP_TYPE: "LeaderExcluded"}
    assert made(leader_pod("serve-1", size=5, annotations=notes))["spec"]["nodeSelector"] == {KEY: "serve-1"}
    worker = worker_pod("serve-1-3", size=5, annotations=notes)
    assert made(worker)["spec"]["nodeSelector"] == {KEY: "serve-1"}


def test_a_worker_without_the_name_of_its_leader_goes_by_its_own() -> None:
    pod = worker_pod("serve-1-2", annotations=UNIQUE)
    del pod["metadata"]["annotations"][api.LEADER_NAME]
    assert made(pod)["spec"]["nodeSelector"] == {KEY: "serve-1"}


def test_a_pod_that_cannot_be_of_a_group_is_refused() -> None:
    sizeless = leader_pod()
    del sizeless["metadata"]["annotations"][api.SIZE]
    assert refused(sizeless) == (
        "pod serve-0 is labelled leaderworkerset.sigs.k8s.io/name and lacks annotation "
        "leaderworkerset.sigs.k8s.io/size, the size of its group"
    )
    assert 'is "four"; it must be a number' in refused(leader_pod(annotations={api.SIZE: "four"}))
    assert "does not end in a number" in refused(leader_pod("serve"))
    assert 'is "x"; it must be a number' in refused(worker_pod(annotations={api.SUBGROUP_SIZE: "x"}))


def test_pods_of_the_system_are_never_asked_about() -> None:
    assert POD_WEBHOOK.is_about_pods
    assert POD_WEBHOOK.object_selector
    assert not getattr(answered(POD_WEBHOOK, review(leader_pod())), "errors", ())


def test_it_serves_pods_of_another_controller_when_it_runs_alone() -> None:
    """A StatefulSet as upstream's controller makes it, in a cluster that has nothing of ours but this webhook."""
    registry = Registry(now=START)
    install(registry, [POD_WEBHOOK], clock=lambda: START)
    simulation = checked_simulation([statefulset.CONTROLLER], registry=registry)
    labels = {api.NAME: "serve", api.GROUP_INDEX: "3", api.GROUP_KEY: "k"}
    template = {
        "metadata": {"labels": labels, "annotations": {api.SIZE: "3", api.LEADER_NAME: "serve-3", **UNIQUE}},
        "spec": {"containers": [{"name": "main", "image": "a:1"}]},
    }
    spec = {
        "replicas": 2,
        "ordinals": {"start": 1},
        "serviceName": "serve",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": labels},
        "template": template,
    }
    sets = registry.resource("apps/v1", "StatefulSet")
    registry.create(sets, {"metadata": {"name": "serve-3", "namespace": "default"}, "spec": spec}, now=START)
    simulation.run()
    pods = registry.list(registry.resource("v1", "Pod")).items
    assert [pod["metadata"]["labels"][api.WORKER_INDEX] for pod in pods] == ["1", "2"]
    assert [pod["spec"]["nodeSelector"] for pod in pods] == [{KEY: "serve-3"}] * 2
    assert all(pod["spec"]["tolerations"][-1]["value"] == "serve-3" for pod in pods)
