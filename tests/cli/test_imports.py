"""What is loaded by the time a command answers: what it does not use, nobody waits for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER = """
from datetime import UTC, datetime
from mooring.catalog import CATALOG
from mooring.registry import Registry
from mooring.runtime.settings import DEFAULTS
from mooring.supervisor.admission import own_admission
own_admission(CATALOG.names, DEFAULTS)(Registry(now=datetime.now(UTC)))
"""
# All that the parent imports before it has started its children.
PARENT = """
import mooring.cli.main, mooring.cli.up
from mooring.supervisor import embedded, supervisor
from mooring.supervisor.fleet import rights
"""
EXPLAIN = """
import contextlib, io, sys
from mooring.cli.main import cli
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    cli(["explain", "-f", "examples/llama-70b.yaml", "--snapshot", "examples/fleet.yaml"])
assert "mooring.placement.engine" in sys.modules
"""
# What these are made of, beside the declaration.
CODE_OF_FEATURES = ("controller", "definition", "types", "validation", "webhooks", "workload")


def loaded(code: str) -> list[str]:
    told = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def of_features(modules: list[str]) -> list[str]:
    return [name for name in modules if name.startswith("mooring.features.") and name.endswith(CODE_OF_FEATURES)]


def test_the_api_server_loads_no_feature_before_a_write_needs_it() -> None:
    modules = loaded(SERVER)
    assert "mooring.features.groups.feature" in modules
    assert of_features(modules) == []
    heavy = ("mooring.api.crds", "mooring.placement", "mooring.runtime.view", "mooring.runtime.webhooks.loaded")
    assert [name for name in modules if name.startswith(heavy)] == []


def test_the_api_server_loads_no_library_that_few_requests_need() -> None:
    assert {"cryptography", "mooring.kube.cel.environment", "numpy", "tempfile", "yaml", "zoneinfo"}.isdisjoint(
        loaded(f"import mooring.apiserver.process\n{SERVER}")
    )


def test_the_parent_starts_its_children_before_it_loads_what_makes_credentials() -> None:
    assert {"asyncio", "cryptography", "secrets", "ssl", "tempfile", "yaml"}.isdisjoint(loaded(PARENT))


def test_explain_loads_the_workload_that_it_is_asked_about_and_no_other_feature() -> None:
    assert of_features(loaded(EXPLAIN)) == []
