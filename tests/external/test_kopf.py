"""An operator on kopf finds the API of the embedded server good enough to live on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.homes import Home
from mooring.testing.processes import ProgramProcess
from tests.external.kubectl import Kubectl
from tests.external.manifests import custom, definition

GROUP = "example.com"
OPERATOR = Path(__file__).parent / "buoys.py"


@pytest.fixture
def harbour(newest: Kubectl, home: Home, tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl beside a running operator."""
    newest.apply(definition(GROUP, "Buoy", depth={"type": "integer"}))
    command: list[str | Path] = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", newest.namespace]
    operator = ProgramProcess([*command, OPERATOR], tmp_path / "kopf.log", {"KUBECONFIG": str(home.kubeconfig)})
    try:
        yield newest
        assert operator.running(), operator.tail()
    finally:
        operator.stop()
        newest("delete", "crd", f"buoys.{GROUP}", "--wait=false")


def test_an_operator_on_kopf_follows_an_object_through_its_life(harbour: Kubectl) -> None:
    harbour.apply(custom(GROUP, "Buoy", "north", depth=5))
    harbour("wait", "buoy/north", "--for=jsonpath={.status.created.depth}=5", "--timeout=30s")
    assert harbour.get("buoy", "north")["metadata"]["finalizers"] == ["buoys.example.com/kopf"]

    harbour.apply(custom(GROUP, "Buoy", "north", depth=9))
    harbour("wait", "buoy/north", "--for=jsonpath={.status.deepened}=5 to 9", "--timeout=30s")

    harbour("delete", "buoy", "north", "--timeout=30s")
    harbour("wait", "events", "--for=jsonpath={.reason}=HauledIn", "--all", "--timeout=30s")
