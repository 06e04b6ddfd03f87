"""Namespaces that are deleted: their content goes first, pods before all else."""

from __future__ import annotations

from typing import Any

from mooring.api.kinds import Key
from mooring.builtin.namespaces import namespace_controller
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision, Delete, Patch
from mooring.testing import node, pod
from mooring.testing.conditions import has_condition
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import NOON, view_of
from mooring.workloads import kinds as k
from tests.builtin.town import CONTROLLERS, NAMESPACES, Town

CONTROLLER = namespace_controller((k.POD, k.JOB, k.SERVICE))
KEY = Key("", "team")


def namespace(*, deleting: bool = True, finalizers: tuple[str, ...] = ("kubernetes",)) -> Object:
    metadata: Object = {"name": "team"}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    spec = {"finalizers": list(finalizers)}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "spec": spec}


def service(name: str = "web", finalizers: tuple[str, ...] = ()) -> Object:
    metadata = {"name": name, "namespace": "team", "finalizers": list(finalizers)}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}


def decide(*objects: Object) -> Decision:
    return CONTROLLER.reconcile(KEY, view_of(objects, NOON), NOON)


def gone(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def test_a_namespace_that_stays_is_left_alone() -> None:
    assert decide(namespace(deleting=False), service()).empty
    assert decide(namespace(finalizers=("example.com/mine",)), service()).empty


def test_pods_go_before_all_else() -> None:
    assert gone(decide(namespace(), pod("p", namespace="team"), service())) == ["p"]
    assert gone(decide(namespace(), service())) == ["web"]


def test_other_namespaces_are_not_touched() -> None:
    assert gone(decide(namespace(), pod("p", namespace="other"), service())) == ["web"]


def test_an_empty_one_is_let_go() -> None:
    decision = decide(namespace(finalizers=("kubernetes", "example.com/mine")))
    assert decision.release == (Patch(k.NAMESPACE, KEY, {"spec": {"finalizers": ["example.com/mine"]}}, "finalize"),)


def test_it_says_what_it_waits_for() -> None:
    held = service(finalizers=("example.com/hold",))
    held["metadata"]["deletionTimestamp"] = timestamp(NOON)
    decision = decide(namespace(), held)
    assert not gone(decision)
    told = {c["type"]: c for w in decision.status if isinstance(w, Patch) for c in w.body["status"]["conditions"]}
    assert told["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: services. has 1 resource instances"
    )
    assert told["NamespaceFinalizersRemaining"]["message"] == (
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    )
    assert told["NamespaceDeletionContentFailure"]["status"] == "False"


def test_everything_in_it_goes_and_then_it_goes() -> None:
    town = Town(node("a"), controllers=CONTROLLERS)
    town.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    town.create(pod("p", namespace="team"))
    town.create(service())
    town.create(pod("stays"))
    town.run()
    town.delete("Namespace", "team")
    town.run(0.5)
    assert has_condition(town.get("Namespace", "team"), "NamespaceContentRemaining")
    town.run()
    assert town.get("Namespace", "team") is None
    assert set(town.pods()) == {"stays"}
    assert not town.all("Service")


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        spaces = registry.resource("v1", "Namespace")
        registry.create(spaces, {"metadata": {"name": "team"}}, now=now)
        for obj in (pod("p", namespace="team"), service(), service("other")):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now, namespace="team")
        registry.delete(spaces, "", "team", now=now)

    assert survives_every_crash((NAMESPACES,), populate) > 3
