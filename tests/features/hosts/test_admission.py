"""What is refused: deleting a host in use, and bootstrap objects that nothing could join with."""

from __future__ import annotations

import base64

import pytest

from mooring.features.hosts.webhooks import WEBHOOKS
from mooring.kube.status import ApiError
from mooring.runtime.webhooks.direct import install
from mooring.testing.hosts import bootstrap_kubeconfig, byo_host, put_machine
from tests.features.hosts.world import HostWorld

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n").decode()


def guarded() -> HostWorld:
    world = HostWorld(byo_host("a"), byo_host("free", annotations={"cluster.x-k8s.io/paused": ""}))
    install(world.simulation.registry, WEBHOOKS, clock=lambda: world.simulation.now)
    put_machine(world.simulation, "m")
    world.run()
    return world


def test_a_host_in_use_cannot_be_deleted_and_a_free_one_can() -> None:
    world = guarded()
    with pytest.raises(ApiError) as refused:
        world.delete("ByoHost", "a")
    assert "ByoHost a cannot be deleted while it is assigned to ByoMachine m; delete its Machine first" in str(
        refused.value
    )
    world.delete("ByoHost", "free")
    assert world.find("ByoHost", "free") is None


def test_a_host_whose_machine_is_gone_can_be_deleted() -> None:
    world = guarded()
    world.patch("ByoMachine", "m", {"metadata": {"finalizers": None}})
    world.delete("ByoMachine", "m")
    world.delete("ByoHost", "a")
    assert world.find("ByoHost", "a") is None


@pytest.mark.parametrize(
    ("server", "authority", "field"),
    [
        ("https://10.0.0.1:6443", PEM, ""),
        ("", "", ""),
        ("https://[::1]:6443", "", ""),
        ("http://10.0.0.1:6443", "", "spec.apiserver"),
        ("https://10.0.0.1", "", "spec.apiserver"),
        ("https://:6443", "", "spec.apiserver"),
        ("10.0.0.1:6443", "", "spec.apiserver"),
        ("https://10.0.0.1:port", "", "spec.apiserver"),
        ("https://10.0.0.1:6443", "not base64!", "spec.certificate-authority-data"),
        ("https://10.0.0.1:6443", base64.b64encode(b"no PEM").decode(), "spec.certificate-authority-data"),
    ],
)
def test_an_address_or_authority_of_no_use_is_refused(server: str, authority: str, field: str) -> None:
    world = HostWorld()
    install(world.simulation.registry, WEBHOOKS, clock=lambda: world.simulation.now)
    made = bootstrap_kubeconfig("join", apiserver=server, **{"certificate-authority-data": authority})
    if not field:
        world.put(made)
        return
    with pytest.raises(ApiError) as refused:
        world.put(made)
    assert field in str(refused.value)


def test_a_bootstrap_object_of_no_use_can_be_let_go() -> None:
    """It may have been made before anybody looked, and its finalizers have to be taken off."""
    world = HostWorld()
    useless = bootstrap_kubeconfig("join", apiserver="nonsense")
    useless["metadata"]["finalizers"] = ["example.com/wait"]
    world.put(useless)
    install(world.simulation.registry, WEBHOOKS, clock=lambda: world.simulation.now)
    with pytest.raises(ApiError):
        world.patch("BootstrapKubeconfig", "join", {"metadata": {"finalizers": []}})
    world.delete("BootstrapKubeconfig", "join")
    world.patch("BootstrapKubeconfig", "join", {"metadata": {"finalizers": []}})
    assert world.find("BootstrapKubeconfig", "join") is None
