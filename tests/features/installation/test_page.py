"""docs/installation.md describes every field, every step and every reason of an Installation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from mooring.api.crds.resource import definition
from mooring.features.installation.api.definition import INSTALLATIONS
from mooring.features.installation.api.installation import Phase, StepState
from mooring.kube.objects import Object
from mooring.manifests.loader import load
from mooring.testing.installations import installation
from tests.features.installation.world import InstallationWorld

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
# Kubernetes, the runtime and the chart describe what is in these.
KNOWN = ("conditions", "effects", "values")


def fields(part: Object, path: str = "") -> Iterator[str]:
    for name, child in (part.get("properties") or {}).items():
        here = f"{path}.{name}" if path else name
        inner = child.get("items") or child
        if name in KNOWN or not inner.get("properties"):
            yield here
        else:
            yield from fields(inner, f"{here}[]" if "items" in child else here)


@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_is_described(part: str) -> None:
    (version,) = definition(INSTALLATIONS)["spec"]["versions"]
    found = list(fields(version["schema"]["openAPIV3Schema"]["properties"][part]))
    assert len(found) > 8
    assert [each for each in found if f"`{each}`" not in PAGE] == []


def test_every_phase_and_state_is_named() -> None:
    assert [each for each in (*get_args(Phase), *get_args(StepState)) if f"`{each}`" not in PAGE] == []


def test_every_reason_is_explained() -> None:
    folder = ROOT / "src" / "mooring" / "features" / "installation"
    text = "".join((folder / name).read_text() for name in ("failures.py", "round.py", "controller.py"))
    said = set(re.findall(r'HelmFailure\(\s*"(\w+)"', text)) | {"HelmMissing", "ReleasePending", "Recovering"}
    assert len(said) > 6
    assert {each for each in said if f"`{each}`" not in PAGE} == set()


def test_the_example_is_taken_and_installed() -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    world = InstallationWorld()
    world.put(load(example))
    world.run()
    assert world.status()["phase"] == "Installed"
    assert {step["name"].partition("-")[0] for step in world.status()["steps"]} <= set(re.findall(r"`(\w+)", PAGE))
    assert installation()["apiVersion"] in PAGE
