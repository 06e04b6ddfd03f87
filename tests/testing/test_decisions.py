"""Deciding twice: every controller there is does, and one that would not is found out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.nodes.stages.crd import stage_definition
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.folds import Fold
from mooring.runtime.view import View
from mooring.testing.builders import node, pod
from mooring.testing.decisions import OBSERVERS, DecidingTwice
from mooring.testing.devices import claiming_pod, device_class, resource_claim_template, resource_slice
from mooring.testing.groups import leader_worker_set
from mooring.testing.hosts import installer_template
from mooring.testing.installations import installation
from mooring.testing.notebooks import notebook_job
from mooring.testing.replica_pools import replica_pods, replica_policy, serving_host
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workloads import (
    budget,
    claim_template,
    cron_job,
    daemon_set,
    deployment,
    job,
    replication_controller,
    service,
    stateful_set,
)
from mooring.testing.workspaces import gpu_node, node_claim, workspace
from mooring.workloads.kinds import NODE
from tests.builtin.access_objects import access_objects, deny_one
from tests.builtin.podautoscaler.objects import autoscaler
from tests.builtin.serving import service_without_selector, written_endpoints
from tests.builtin.volumes.objects import storage_objects
from tests.features.autoscaler.replica_pools.world import ReplicaPoolWorld
from tests.features.groups.town import EVERY_CONTROLLER, Town
from tests.features.hosts.approval.requests import put_agent_request
from tests.features.machines.world import workers

INSTALLER = {"kind": "K8sInstallerConfigTemplate", "name": "installer"}
LOST = {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}}


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def stage() -> Object:
    spec = {"resourceRef": {"apiGroup": "batch/v1", "kind": "Job"}, "selector": {}}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "odd"}, "spec": spec}


def orphan() -> Object:
    """A pod that waits for the Job that counts it, which is gone."""
    made = pod("orphan", labels={"batch.kubernetes.io/job-name": "gone"})
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "gone", "uid": "1", "controller": True}
    made["metadata"] |= {"finalizers": ["batch.kubernetes.io/job-tracking"], "ownerReferences": [owner]}
    return made


def test_every_controller_decides_the_same_twice() -> None:
    claims = [claim_template("data")]
    town = Town(
        stage_definition(), deployment("web", 3), service("web", "web"), budget("web", "web", minAvailable=1),
        stateful_set("db", 2, volumeClaimTemplates=claims), daemon_set("agent"),
        job("once"), replication_controller("old", 2), cron_job("night", "*/10 * * * *"),
        leader_worker_set(replicas=2, size=2), namespace("shop"), stage(), orphan(), *access_objects(),
        device_class(), resource_claim_template(), resource_slice("n1", "gpu-0"), claiming_pod("claims"),
        *storage_objects(),
        pod("big", cpu="200"), pod("elsewhere", node="n5"), gpu_node("gpu"), workspace(), node_claim(), notebook_job(),
        autoscaler(), installation(), service_without_selector("hand"), written_endpoints("hand", "10.0.0.1"),
        nodes=6, controllers=EVERY_CONTROLLER, run=False,
    )  # fmt: skip
    deny_one(town)
    # A CronJob has always something to wait for.
    town.run(1200)
    town.registry.create(town.registry.resource("v1", "Pod"), pod("inside", namespace="shop"), now=town.simulation.now)
    town.patch("Node", "n0", LOST)
    town.run(600)
    for kind, name in (
        ("v1 Pod", "claims"),
        ("apps/v1 Deployment", "web"),
        ("v1 Node", "n5"),
        ("v1 Namespace", "shop"),
    ):
        version, _, kind = kind.partition(" ")
        resource = town.registry.resource(version, kind)
        town.registry.delete(resource, "default" if resource.namespaced else "", name, now=town.simulation.now)
    town.run(600)
    decided = {name for name, count in town.decider.decided.items() if count} | pools_of_hosts()
    assert {controller.name for controller in CATALOG.controllers()} - decided == set(), "these have decided nothing"


def pools_of_hosts() -> set[str]:
    """The controllers that decided something while a pool claimed a host whose agent is new to the cluster."""
    decided: set[str] = set()
    OBSERVERS.append(lambda request, view, decision: None if decision.empty else decided.add(request.controller.name))
    try:
        replica = (replica_policy(), *replica_pods("serve-0", 1))
        hosts = [*workers("a"), serving_host("b")]
        world = ReplicaPoolWorld(installer_template(), scaled_pool(replicas=1), *replica, hosts=hosts, allowed=False)
        installed = {"spec": {"template": {"spec": {"installerRef": INSTALLER}}}}
        world.patch("ByoMachineTemplate", "worker-template", installed)
        put_agent_request(world.simulation, "a")
        world.run()
    finally:
        OBSERVERS.pop()
    return decided


def labelled(name: str, value: int) -> Decision:
    return Decision(children=(Patch(NODE, Key("", name), {"metadata": {"labels": {"seen": str(value)}}}),))


def counts_in_the_fold(fold: Fold[dict[str, int]]) -> Callable[[Key, View, datetime], Decision]:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        state = view.fold(fold)
        state["runs"] = state.get("runs", 0) + 1
        return Decision()

    return reconcile


def counts_for_itself() -> Callable[[Key, View, datetime], Decision]:
    runs: list[Key] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        runs.append(key)
        return labelled(key.name, len(runs)) if view.get(NODE, *key) is not None else Decision()

    return reconcile


def reads_something_else() -> Callable[[Key, View, datetime], Decision]:
    runs: list[Key] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        runs.append(key)
        view.get(NODE, "", f"n{len(runs)}")
        return Decision()

    return reconcile


NODES_SEEN: Fold[dict[str, int]] = Fold("nodes-seen", (NODE,), dict, lambda state, kind, change: True)


@pytest.mark.parametrize(
    ("reconcile", "complaint"),
    [
        (counts_in_the_fold(NODES_SEEN), "changes fold nodes-seen while it decides"),
        (counts_for_itself(), "decides otherwise when asked again"),
        (reads_something_else(), "reads something else when it is asked again"),
    ],
    ids=["one that keeps something in a fold", "one that keeps something itself", "one that reads something else"],
)
def test_a_controller_that_is_not_a_function_of_its_view_is_found_out(reconcile: Any, complaint: str) -> None:
    odd = Controller("odd", reconcile, of=NODE, reads=(NODE,), writes={NODE: ("patch",)}, folds=(NODES_SEEN,))
    simulation = Simulation([odd], decider=DecidingTwice())
    simulation.registry.create(simulation.registry.resource("v1", "Node"), node("a"), now=simulation.now)
    with pytest.raises(AssertionError, match=f"odd /?a {complaint}"):
        simulation.run()


def test_where_one_decision_in_three_is_made_twice_the_others_are_made_once() -> None:
    made: list[str] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.get(NODE, *key)
        made.append(key.name)
        return Decision()

    simulation = Simulation([Controller("once", reconcile, of=NODE)], decider=DecidingTwice())
    for name in "abcdef":
        simulation.registry.create(simulation.registry.resource("v1", "Node"), node(name), now=simulation.now)
    with DecidingTwice.one_in(3):
        simulation.run()
    assert made == ["a", "b", "c", "c", "d", "e", "f", "f"]
    assert DecidingTwice.every == 1
