"""Every right that the controllers of hosts declare is one that they use."""

from __future__ import annotations

from mooring.features.hosts.controllers import CONTROLLERS
from mooring.testing.hosts import (
    bootstrap_kubeconfig,
    byo_cluster,
    byo_host,
    byo_machine_template,
    installer_template,
    put_machine,
)
from mooring.testing.rights import recorded_rights
from tests.features.hosts.approval.requests import put_agent_request, put_serving_request
from tests.features.hosts.world import HostWorld

REF = {"kind": "K8sInstallerConfigTemplate", "name": "installer"}


def a_whole_life() -> None:
    world = HostWorld(
        byo_host("a"),
        installer_template(),
        byo_machine_template("t"),
        byo_cluster("other", controlPlaneEndpoint={"host": "x", "port": 0}),
        bootstrap_kubeconfig("shared", apiserver=""),
        settings={"bootstrap-token-lifetime": "1m"},
    )
    put_agent_request(world.simulation, "a")
    world.patch("ByoCluster", "my-cluster", {"spec": {"controlPlaneEndpoint": None}})
    put_machine(world.simulation, "m", secret=None, installerRef=REF)
    machine = world.get("Machine", "m")
    owner = {"apiVersion": machine["apiVersion"], "kind": "Machine", "name": "m", "uid": machine["metadata"]["uid"]}
    own = bootstrap_kubeconfig("m", apiserver="")
    own["metadata"]["ownerReferences"] = [owner]
    world.put(own)
    world.run()
    world.patch("Machine", "m", {"spec": {"bootstrap": {"dataSecretName": "m"}}})
    world.run()
    assert world.ready("m")
    network = [{"macAddr": "00:00:00:00:00:01", "ipAddrs": ["10.0.0.7/24"]}]
    world.patch("ByoHost", "a", {"status": {"network": network}}, "status")
    put_serving_request(world.simulation, "a", "10.0.0.7")
    world.patch("Machine", "m", {"status": {"nodeRef": {"name": "a"}}}, "status")
    world.run()
    world.delete("ByoMachine", "m")
    world.delete("ByoCluster", "my-cluster")
    world.run()
    assert world.claims() == {}


def test_every_declared_right_of_hosts_is_used() -> None:
    with recorded_rights() as used:
        a_whole_life()
    # The API server asks for it when the request is approved; no write shows it.
    assert used.unused(CONTROLLERS) == {"byoh-csr-approver": ["approve certificates.k8s.io/v1/Signer"]}
