"""Kueue's own manifests apply whole: definitions with hundreds of rules, roles, webhooks, an APIService."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED, whole
from tests.external.conftest import namespaced

pytestmark = pytest.mark.slow

MODULE = "sigs.k8s.io/kueue@v0.15.0"


def upstream_folder() -> Path:
    """Where the module proxy's copy of Kueue lies."""
    if shutil.which("go") is None:
        missing(LookupError("Kueue's manifests are in its Go module, and there is no Go; install 1.26 or newer"))
    asked = subprocess.run(["go", "mod", "download", "-json", MODULE], capture_output=True, text=True, check=True)
    return Path(json.loads(asked.stdout)["Dir"])


def test_kueues_manifests_apply_whole(tmp_path: Path) -> None:
    # A cluster of its own: Kueue's webhooks would refuse the pods of other tests while its manager does not run.
    with whole(EMBEDDED, tmp_path / "embedded") as home:
        kubectl = namespaced("kubectl", home, tmp_path / "cache")
        text = kubectl("kustomize", f"{upstream_folder()}/config/default")
        wanted = [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]
        # They say themselves which namespace each is for.
        applied = kubectl("apply", "--namespace=", "--server-side", "-f", "-", stdin=text)
        assert applied.count(" serverside-applied") == len(wanted) > 60
        for each in wanted:
            if each["kind"] == "CustomResourceDefinition":
                kubectl("wait", f"crd/{each['metadata']['name']}", "--for=condition=Established", "--timeout=20s")
