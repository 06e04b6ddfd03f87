"""Thousands of drawn expressions: what kube-apiserver 1.35 finds wrong with them, and what they are on three objects.

`python -m tests.conformance.language.record expressions` draws and records them. What differs is in `differing.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import CelCompileError, CelRuntimeError
from mooring.kube.cel.functions import NO_SUCH_OVERLOAD
from mooring.kube.cel.program import CelProgram
from mooring.kube.cel.rules.compiled import compile_rule
from mooring.kube.cel.rules.costs import RuleCosts
from mooring.kube.cel.rules.extents import extent_of
from mooring.kube.cel.rules.readers import reader_of
from mooring.kube.cel.rules.types import schema_type
from mooring.kube.schemas import structural_schema
from tests.conformance.language.recordings import read
from tests.conformance.language.samples import SPEC, VALUES

SCHEMA = structural_schema({"type": "object", "properties": {"spec": SPEC}}).properties["spec"]
DIFFERING = Path(__file__).with_name("differing.txt")
_OVERLOAD: Final = "': call arguments did not match a supported operator, function or macro signature for rule"


def test_expressions_are_refused_and_have_values_as_with_kubernetes() -> None:
    known = set(DIFFERING.read_text(encoding="utf-8").splitlines())
    differ, lines = set(), []
    for expression, wanted, found in answers():
        if wanted != found:
            differ.add(expression)
            if expression not in known:
                lines.append(f"{expression}\n  there {wanted}\n  here  {found}")
    assert not lines, "\n".join([f"{len(lines)} expressions differ", *lines[:20]])
    assert known == differ, "these are alike now, and need no line in differing.txt"


def answers() -> Iterator[tuple[str, Any, Any]]:
    """Each expression with what it is there and here."""
    kind, extent, reader = (
        schema_type(SCHEMA, "selfType", resource=False),
        extent_of(SCHEMA, resource=False),
        reader_of(SCHEMA),
    )
    assert kind is not None
    assert extent is not None
    assert reader is not None
    environment = Environment({"self": kind, "oldSelf": kind})
    for expression, wanted in read("expressions"):
        if isinstance(wanted, list):
            try:
                program = environment.compile(f"'%s'.format([{expression}])")
            except CelCompileError as error:
                yield expression, wanted, str(error)
                continue
            yield expression, wanted, [_value(program, reader(value)) for value in VALUES]
        else:
            compiled = compile_rule({"rule": expression}, kind, SCHEMA, extent.size_at)
            found = compiled.error
            if compiled.program is not None:
                costs = RuleCosts(kept=False).errors("", "estimated rule cost", compiled.program.worst_cost)
                found = next((f"Forbidden: {each.detail}" for each in costs), "")
            yield expression, wanted, found


def _value(program: CelProgram, value: Any) -> str:
    try:
        found, _ = program.run({"self": value})
    except CelRuntimeError as error:
        return f"! '{error.message}{_OVERLOAD}" if error.message.startswith(NO_SUCH_OVERLOAD) else f"! {error.message}"
    assert isinstance(found, str)
    return "= \n" if "\n" in found.strip() else f"= {found.rstrip()}"
