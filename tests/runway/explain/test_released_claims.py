"""The claims of a pod that is explained as if it had not been placed: which devices are free again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mooring.api.resource.views import ResourceClaim
from mooring.manifests.views import convert
from mooring.runway.explain.asked_pods.manifest_pods import _release_claims


def claim(name: str, *users: str) -> Any:
    reserved = [{"resource": "pods", "name": user, "uid": user} for user in users]
    status = {"reservedFor": reserved, "allocation": {"devices": {"results": []}}}
    metadata = {"name": name, "namespace": "default", "uid": name}
    body = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata}
    return convert({**body, "spec": {"devices": {"requests": []}}, "status": status}, ResourceClaim)


class Devices:
    def __init__(self, *claims: Any) -> None:
        self.claims = {f"default/{each.metadata.name}": each for each in claims}
        self.told: list[tuple[str, str, bool]] = []

    def remove(self, found: Any) -> None:
        self.told.append(("remove", found.metadata.name, found.status.allocation is None))

    def set(self, found: Any) -> None:
        self.told.append(("set", found.metadata.name, found.status.allocation is None))


def test_devices_are_given_back_unless_another_pod_uses_them() -> None:
    devices = Devices(
        claim("made", "p"), claim("own", "p"), claim("shared", "p", "other"), claim("theirs", "other"), claim("unused")
    )
    names = [("none", False), ("made", True), ("own", False), ("shared", False), ("theirs", False), ("unused", False)]
    claims = [SimpleNamespace(claim=name, generated=generated) for name, generated in names]
    snapshot: Any = SimpleNamespace(cluster=SimpleNamespace(devices=devices))
    pod: Any = SimpleNamespace(namespace="default", uid="p", claims=claims)
    _release_claims(snapshot, pod)
    assert devices.told == [("remove", "made", False), ("set", "own", True), ("set", "unused", True)]
