"""A controller that dies between any two writes, and is started again, changes nothing about where things end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from mooring.api.kinds import Key
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_CLUSTER, BYO_MACHINE
from mooring.features.machines.api.names import API_VERSION
from mooring.features.machines.kinds import MACHINE_NODE
from mooring.features.machines.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch, status
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import View
from mooring.runtime.webhooks.direct import install
from mooring.testing.crashes import survives_every_crash
from mooring.testing.hosts import create
from mooring.testing.machines import machine_deployment
from tests.features.hosts.world import THIN_DEFINITIONS
from tests.features.machines.world import OWN, surroundings


def provide(key: Key, view: View, now: datetime) -> Decision:
    """A provider that has a Node for every Machine, at once: what hosts do has crash tests of its own."""
    machine = view.get(BYO_MACHINE, *key)
    if machine is None or machine.metadata.controller is None or machine.metadata.deleting or machine.status.ready:
        return Decision()
    node: Object = {
        "metadata": {"name": key.name},
        "spec": {"providerID": f"byoh://{key.name}"},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]},
    }
    return Decision(
        intent=(Patch(BYO_MACHINE, key, {"spec": {"providerID": f"byoh://{key.name}"}}),),
        children=() if view.get(MACHINE_NODE, "", key.name) else (Create(MACHINE_NODE, node),),
        status=(status(BYO_MACHINE, machine, {"ready": True}),),
    )


def data(key: Key, view: View, now: datetime) -> Decision:
    """Bootstrap data without a token, which would be another one in every run."""
    config = view.get(BOOTSTRAP_KUBECONFIG, *key)
    if config is None or config.metadata.controller is None or config.status.data_secret_name:
        return Decision()
    made = {"dataSecretName": key.name, "initialization": {"dataSecretCreated": True}}
    return Decision(status=(status(BOOTSTRAP_KUBECONFIG, config, made),))


def shelter(key: Key, view: View, now: datetime) -> Decision:
    """A cluster whose infrastructure is there at once."""
    cluster = view.get(BYO_CLUSTER, *key)
    if cluster is None or cluster.status.ready:
        return Decision()
    return Decision(status=(status(BYO_CLUSTER, cluster, {"ready": True}),))


PROVIDER = (
    Controller(
        "provider",
        provide,
        of=BYO_MACHINE,
        reads=(MACHINE_NODE,),
        writes={BYO_MACHINE: ("patch", "status"), MACHINE_NODE: ("create",)},
    ),
    Controller("data", data, of=BOOTSTRAP_KUBECONFIG, writes={BOOTSTRAP_KUBECONFIG: ("status",)}),
    Controller("shelter", shelter, of=BYO_CLUSTER, writes={BYO_CLUSTER: ("status",)}),
)


def story(pool: Object, *changes: Object, delete: bool = False) -> Callable[[Simulation], None]:
    """A pool that comes to rest and is changed then; the crash may come at any write of it all."""

    def populate(simulation: Simulation) -> None:
        install(simulation.registry, WEBHOOKS, clock=lambda: simulation.now)
        for obj in (*surroundings(), pool):
            create(simulation, obj)
        simulation.run()
        resource = simulation.registry.resource(API_VERSION, "MachineDeployment")
        for change in changes:
            simulation.registry.patch(resource, "default", "worker-pool", "merge", {"spec": change}, now=simulation.now)
            simulation.run()
        if delete:
            simulation.registry.delete(resource, "default", "worker-pool", now=simulation.now)
            simulation.run()

    return populate


# Without the kinds that only hosts have, each run takes half as long.
UNUSED = ("byohosts", "k8sinstallerconfigs", "k8sinstallerconfigtemplates")
DEFINITIONS = [each for each in THIN_DEFINITIONS if each["spec"]["names"]["plural"] not in UNUSED]
UPGRADE = {"template": {"spec": {"version": "v1.35.0"}}}
STORIES = {
    "a pool comes": story(machine_deployment()),
    "a pool is updated": story(machine_deployment(replicas=1, surge=0, unavailable=1), UPGRADE),
    "a pool goes": story(machine_deployment(replicas=1), delete=True),
}


@pytest.mark.parametrize("name", STORIES)
def test_it_ends_the_same_after_any_crash(name: str) -> None:
    assert survives_every_crash((*OWN, *PROVIDER), STORIES[name], before=DEFINITIONS, of=OWN) > 20
