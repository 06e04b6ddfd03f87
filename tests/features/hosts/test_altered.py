"""What the controllers of hosts decide in a cluster in which something is otherwise than it came to be, as recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.features.hosts.api.names import AGENT
from mooring.features.hosts.controllers import CONTROLLERS
from mooring.features.hosts.simulated.controller import LOST
from mooring.testing.hosts import bootstrap_kubeconfig, byo_host, byo_machine_template, installer_template, put_machine
from tests.features.altered import Change, decided_as_recorded
from tests.features.hosts.world import HostWorld, labelled

INSTALLER = {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "K8sInstallerConfigTemplate", "name": "installer"}
PAUSED = [Change(("metadata", "annotations", "cluster.x-k8s.io/paused"), "")]
ALSO = {
    "Cluster": [Change(("spec", "paused"), True)],
    "ByoHost": [
        *PAUSED,
        Change(("metadata", "annotations", LOST), "yes"),
        Change(("metadata", "annotations", AGENT), "1"),
        Change(("spec", "capacity"), {"cpu": "1", "memory": "1Gi"}),
        Change(("status", "lastHeartbeatTime"), "2025-12-31T00:00:00Z"),
        Change(("status", "conditions"), [{"type": "HostClean", "status": "True"}]),
        Change(("status", "conditions"), [{"type": "HostClean", "status": "False", "reason": "R", "message": "m"}]),
        Change(("status", "machineRef"), None),
    ],
    "ByoMachine": [
        *PAUSED,
        Change(("spec", "selector"), {"matchLabels": {"purpose": "gpu"}}),
        Change(("spec", "installerRef"), INSTALLER),
        Change(("spec", "capacityRequirements"), {"cpu": "100"}),
        Change(("spec", "kubernetesVersion"), "v1.35.0+x"),
        Change(("status", "hostRef"), None),
    ],
    "Node": [Change(("spec", "taints"), [{"key": "x", "effect": "NoSchedule"}])],
}


def claimed() -> HostWorld:
    world = HostWorld(labelled("a", "worker"), labelled("b", "gpu"), byo_host("c", annotations={AGENT: "1"}))
    world.put(byo_machine_template("t", {"purpose": "worker"}))
    world.put(bootstrap_kubeconfig("join"))
    put_machine(world.simulation, "m", {"purpose": "worker"})
    put_machine(world.simulation, "waits", {"purpose": "other"})
    return world.run(120)


def installing() -> HostWorld:
    image = {"osImage": "Ubuntu 22.04.3", "architecture": "amd64"}
    world = HostWorld(labelled("a", "worker", hostDetails=image), labelled("b", "worker"), agents=False)
    world.put(installer_template())
    put_machine(world.simulation, "m", {"purpose": "worker"})
    for name in ("a", "b"):
        world.patch("ByoHost", name, {"status": {"lastHeartbeatTime": "2026-01-01T00:00:00Z"}}, "status")
    world.patch("ByoMachine", "m", {"spec": {"installerRef": INSTALLER}})
    return world.wait(60)


def releasing() -> HostWorld:
    world = HostWorld(labelled("a", "worker"), labelled("b", "worker"), labelled("c", "worker"))
    for name in ("m", "n"):
        put_machine(world.simulation, name, {"purpose": "worker"})
    world.run(120)
    for host in ("a", "b", "c"):
        world.annotate("ByoHost", host, {LOST: "yes"})
    world.delete("ByoMachine", "m")
    return world.wait(30)


@pytest.mark.parametrize("story", [claimed, installing, releasing])
def test_hosts_are_decided_on_as_recorded_whatever_is_otherwise(story: Callable[[], HostWorld]) -> None:
    decided_as_recorded("hosts", story, CONTROLLERS, cases=170, also=ALSO)
