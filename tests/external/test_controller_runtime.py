"""An operator in Go on controller-runtime lives on the embedded server (go/main.go): informers, protobuf, a cached
client, server-side apply, a Lease and a finalizer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.homes import Home
from mooring.testing.processes import ProgramProcess
from tests.external.conftest import required
from tests.external.kubectl import Kubectl
from tests.external.manifests import custom, definition

GROUP = "operator.mooring.dev"


@pytest.fixture
def harbour(newest: Kubectl, home: Home, tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl beside the running operator, which keeps its Lease in a namespace named operator."""
    program = required("operator")
    newest("create", "namespace", "operator")
    newest.apply(definition(GROUP, "Berth", size={"type": "integer"}))
    operator = ProgramProcess([program], tmp_path / "operator.log", {"KUBECONFIG": str(home.kubeconfig)})
    try:
        yield newest
        assert operator.running(), operator.tail()
        assert operator.stop() == 0, operator.tail()
    finally:
        operator.kill()
        newest("delete", "crd", f"berths.{GROUP}", "--wait=false")
        newest("delete", "namespace", "operator", "--wait=false")


def test_an_operator_in_go_follows_an_object_through_its_life(harbour: Kubectl) -> None:
    harbour.apply(custom(GROUP, "Berth", "east", size=2))
    harbour("wait", "berth/east", "--for=jsonpath={.status.ships}=2", "--timeout=30s")
    berth, deployment = harbour.get("berth", "east"), harbour.get("deployment", "east")
    assert berth["metadata"]["finalizers"] == ["operator.mooring.dev/harbour-master"]
    assert deployment["metadata"]["ownerReferences"][0]["uid"] == berth["metadata"]["uid"]
    harbour("wait", "pod", "-l", "seen=yes,berth=east", "--for=condition=Ready", "--timeout=30s")
    book = harbour.get("configmap", "east-book", "--show-managed-fields")
    managers = [(entry["manager"], entry["operation"]) for entry in book["metadata"]["managedFields"]]
    assert managers == [("operator", "Apply")]
    assert harbour.get("lease", "harbour", "-n", "operator")["spec"]["holderIdentity"]

    harbour.apply(custom(GROUP, "Berth", "east", size=3))
    harbour("wait", "berth/east", "--for=jsonpath={.status.ships}=3", "--timeout=30s")
    harbour("wait", "configmap/east-book", "--for=jsonpath={.data.generation}=2", "--timeout=30s")

    harbour("delete", "berth", "east", "--timeout=30s")
    assert harbour.get("configmap", "east-left")
