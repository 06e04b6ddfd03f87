"""What decides is plain functions: no I/O, no clock, no await, no randomness of their own.

Import contracts keep modules out (pyproject.toml); this looks at what code calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "mooring"
DECIDING = (
    "admission",
    "agents/host/conditions.py",
    "agents/host/steps.py",
    "api",
    "builtin",
    "features",
    "kube",
    "nodes/simulated",
    "nodes/stages",
    "notebook_runner/bundle.py",
    "notebook_runner/comparison",
    "notebook_runner/frames.py",
    "notebook_runner/report",
    "notebook_runner/validation",
    "notebook_runner/verdict.py",
    "placement",
    "registry",
    "runtime/dispatcher/dispatcher.py",
    "runway/advised_size.py",
    "runway/capacity.py",
    "runway/deployments",
    "runway/fit.py",
    "runway/model_fit.py",
    "runway/models",
    "runway/node_facts.py",
    "runway/preflight.py",
    "runway/problems.py",
    "runway/proposals.py",
    "runway/providers",
    "runway/settings.py",
    "workloads",
)
# Run as programs, or read a table that is shipped with the package.
EXEMPT = ("placement/__main__.py",)
CLOCKS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}
RANDOMNESS = {("uuid", "uuid4"), ("os", "urandom"), ("secrets", "token_hex"), ("secrets", "token_bytes")}
BUILT_IN_IO = {"open", "print", "input"}


def modules() -> Iterator[Path]:
    for part in DECIDING:
        place = SOURCE / part
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def faults_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        match node:
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                yield f"{where} waits"
            case ast.Call(func=ast.Name(id=name)) if name in BUILT_IN_IO:
                yield f"{where} calls {name}"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)) if (owner, name) in CLOCKS:
                yield f"{where} reads the clock; take `now` as an argument"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)) if (owner, name) in RANDOMNESS:
                yield f"{where} draws a random value; the driver mints it"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="random"), attr=name)) if name != "Random":
                yield f"{where} draws from the shared generator; take a random.Random as an argument"


@pytest.mark.parametrize("part", DECIDING)
def test_what_decides_neither_waits_nor_reads_a_clock(part: str) -> None:
    exempt = {SOURCE / path for path in EXEMPT}
    paths = [path for path in modules() if (SOURCE / part) in (path, *path.parents) and path not in exempt]
    assert paths
    assert [fault for path in paths for fault in faults_of(path)] == []


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("async def f():\n    pass", "waits"),
        ("datetime.now(UTC)", "reads the clock; take `now` as an argument"),
        ("uuid.uuid4()", "draws a random value; the driver mints it"),
        ("random.random()", "draws from the shared generator; take a random.Random as an argument"),
        ("open('x')", "calls open"),
    ],
)
def test_a_fault_is_found(code: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    path = tmp_path / "wrong.py"
    path.write_text(code, encoding="utf-8")
    assert [each.partition(" ")[2] for each in faults_of(path)] == [fault]
