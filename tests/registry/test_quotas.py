"""Quotas: what they say to be used is true after every write, and nothing gets past them."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.registry import Registry
from tests.registry.world import START, World, pod, refused


def quota(world: World, name: str = "all", **spec: Any) -> Object:
    resource = world.registry.resource("v1", "ResourceQuota")
    return world.registry.create(resource, {"metadata": {"name": name}, "spec": spec}, now=world.now)


def used(world: World, name: str = "all") -> Object:
    found = world.registry.get(world.registry.resource("v1", "ResourceQuota"), "default", name)
    return dict(found["status"]["used"])


def asking(name: str, cpu: str = "1", **spec: Any) -> Object:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def test_a_quota_counts_what_is_there_when_it_comes(world: World) -> None:
    world.make("pod", asking("a"))
    world.make("pod", asking("done"))
    world.merge("pod", "done", {"status": {"phase": "Succeeded"}}, subresource="status")
    quota(
        world,
        hard={"pods": "5", "count/pods": "5", "cpu": "5", "resourcequotas": "1", "count/nothing.example.com": "1"},
    )
    assert used(world) == {"pods": "1", "count/pods": "2", "cpu": "1", "resourcequotas": "1"}


def test_what_is_used_follows_pods_that_come_end_and_go(world: World) -> None:
    quota(world, hard={"pods": "2", "requests.cpu": "3"})
    world.make("pod", asking("a"))
    world.make("pod", asking("b", "1500m"))
    assert used(world) == {"pods": "2", "requests.cpu": "2500m"}
    with refused(403, "exceeded quota: all, requested: pods=1, used: pods=2, limited: pods=2"):
        world.make("pod", asking("c", "1m"))
    world.merge("pod", "b", {"status": {"phase": "Failed"}}, subresource="status")
    assert used(world) == {"pods": "1", "requests.cpu": "1"}
    world.delete("pod", "a")
    assert used(world) == {"pods": "0", "requests.cpu": "0"}


def test_a_refused_write_costs_nothing(world: World) -> None:
    quota(world, hard={"configmaps": "2"})
    world.make("configmap", {"metadata": {"name": "a"}})
    with refused(409, "already exists"):
        world.make("configmap", {"metadata": {"name": "a"}})
    world.make("configmap", {"metadata": {"name": "tried"}}, dry_run=True)
    assert used(world) == {"configmaps": "1"}


def test_a_quota_that_is_raised_lets_more_pass(world: World) -> None:
    made = quota(world, hard={"pods": "0"})
    with refused(403, "exceeded quota"):
        world.make("pod", asking("a"))
    resource = world.registry.resource("v1", "ResourceQuota")
    change = {"spec": {"hard": {"pods": "1", "cpu": "9"}}}
    world.registry.patch(resource, "default", made["metadata"]["name"], "merge", change, now=world.now)
    world.make("pod", asking("a"))
    assert used(world) == {"pods": "1", "cpu": "1"}


def test_every_quota_of_a_namespace_counts_and_no_other(world: World) -> None:
    quota(world, hard={"pods": "5"})
    quota(world, "one", hard={"pods": "1"}, scopes=["NotTerminating"])
    world.make("namespace", {"metadata": {"name": "elsewhere"}})
    world.make("pod", asking("a"))
    with refused(403, "exceeded quota: one"):
        world.make("pod", asking("b"))
    world.make("pod", asking("b"), namespace="elsewhere")
    world.make("pod", asking("c", activeDeadlineSeconds=60))
    assert (used(world), used(world, "one")) == ({"pods": "2"}, {"pods": "1"})
    # A pod that gets a deadline moves from one scope to another.
    world.merge("pod", "a", {"spec": {"activeDeadlineSeconds": 5}})
    assert used(world, "one") == {"pods": "0"}


def test_a_pod_that_should_be_gone_is_not_held_against_the_next(world: World) -> None:
    quota(world, hard={"pods": "1"})
    world.make("node", {"metadata": {"name": "n1"}})
    world.make("pod", asking("stuck", nodeName="n1"))
    world.delete("pod", "stuck")
    with refused(403, "exceeded quota"):
        world.make("pod", asking("next"))
    world.wait(120)
    world.make("pod", asking("next"))
    assert used(world) == {"pods": "1"}


def test_what_is_used_outlives_a_restart(world: World) -> None:
    quota(world, hard={"pods": "2"})
    world.make("pod", asking("a"))
    world.registry = Registry(world.storage, now=START, seed=2)
    world.make("pod", asking("b"))
    assert used(world) == {"pods": "2"}
    with refused(403, "exceeded quota"):
        world.make("pod", asking("c"))


def test_objects_of_custom_kinds_are_counted(world: World) -> None:
    names = {"plural": "boats", "singular": "boat", "kind": "Boat"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": versions}
    world.make("crd", {"metadata": {"name": "boats.example.com"}, "spec": spec})
    quota(world, hard={"count/boats.example.com": "1"})
    boats = world.registry.resource("example.com/v1", "Boat")
    world.registry.create(boats, {"metadata": {"name": "a"}}, now=world.now)
    with refused(403, "exceeded quota: all, requested: count/boats.example.com=1"):
        world.registry.create(boats, {"metadata": {"name": "b"}}, now=world.now)


def test_devices_are_counted_by_their_class(world: World) -> None:
    quota(world, hard={"gpu.deviceclass.resource.k8s.io/devices": "3"})
    claims = world.registry.resource("resource.k8s.io/v1", "ResourceClaim")
    exactly = {"deviceClassName": "gpu", "count": 2}
    several = [{"name": name, "deviceClassName": "gpu", "count": count} for name, count in (("a", 1), ("b", 2))]
    requests = [{"name": "one", "exactly": exactly}, {"name": "any", "firstAvailable": several}]
    claim: Object = {"metadata": {"name": "large"}, "spec": {"devices": {"requests": requests}}}
    with refused(403, "requested: gpu.deviceclass.resource.k8s.io/devices=4"):
        world.registry.create(claims, claim, now=world.now)
    claim["spec"]["devices"]["requests"] = requests[:1]
    world.registry.create(claims, claim, now=world.now)
    assert used(world) == {"gpu.deviceclass.resource.k8s.io/devices": "2"}


def test_a_registry_without_quotas_does_not_look_for_any(world: World) -> None:
    world.make("pod", pod("a"))
    assert world.registry._core.on_change is None


def test_what_somebody_else_writes_into_the_status_is_put_right_at_once(world: World) -> None:
    quota(world, hard={"pods": "2"})
    world.make("pod", asking("a"))
    resource = world.registry.resource("v1", "ResourceQuota")
    wrong = {"status": {"hard": {"pods": "9"}, "used": {"pods": "7"}}}
    answered = world.registry.patch(resource, "default", "all", "merge", wrong, subresource="status", now=world.now)
    assert answered["status"]["hard"] == {"pods": "9"}
    found = world.registry.get(resource, "default", "all")
    assert found["status"] == {"hard": {"pods": "2"}, "used": {"pods": "1"}}
