"""`expectedOutputs`: type, shape, bounds and emptiness of the value of a cell.

A Python kernel is asked about the value itself. Without an answer, what the cell has shown is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from mooring.notebook_runner.comparison.outputs import text_of
from mooring.notebook_runner.execution.value_probe import METADATA_KEY
from mooring.notebook_runner.settings import ExpectedOutput
from mooring.notebook_runner.validation.finding import RuleFinding

__all__ = ["expected_findings"]

_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_EMPTY: Final = re.compile(r"\s*(?:\[\]|\{\}|\(\)|set\(\)|''|\"\"|Empty DataFrame[\s\S]*|Series\(\[\][\s\S]*)?\s*")


def expected_findings(
    notebook: dict[str, Any], reached: int, expected: tuple[ExpectedOutput, ...]
) -> Iterator[RuleFinding]:
    cells = notebook["cells"]
    for each in expected:
        where = f"expectedOutputs names cell {each.cell}"
        if each.cell >= len(cells):
            yield RuleFinding(
                "ExpectedOutputMissing", None, f"{where}, and the notebook has {len(cells)} cells, from 0 on"
            )
        elif cells[each.cell]["cell_type"] != "code":
            yield RuleFinding("ExpectedOutputMissing", each.cell, f"{where}, which is no code cell")
        elif each.cell < reached:
            problem = _problem(each, cells[each.cell])
            if problem:
                yield RuleFinding("ExpectedOutputMissing", each.cell, f"cell {each.cell} {problem}")


def _problem(expected: ExpectedOutput, cell: dict[str, Any]) -> str:
    value = cell["metadata"].get(METADATA_KEY, {}).get("value") or {}
    text = _shown(cell)
    if not value and not text:
        return "has no output, and one is expected"
    if expected.type and not _is_type(expected.type, value.get("types") or []):
        return f"gave {_type_name(value)}; expected is {expected.type}"
    if expected.shape and not _has_shape(expected.shape, value.get("shape")):
        have, want = _sizes(value.get("shape")), _sizes(expected.shape)
        return f"gave a value of shape {have}; expected is {want}"
    if expected.not_empty and (value.get("length") == 0 or (value.get("length") is None and _EMPTY.fullmatch(text))):
        return "gave an empty value"
    return _bounds(expected, value, text)


def _bounds(expected: ExpectedOutput, value: dict[str, Any], text: str) -> str:
    if expected.minimum is None and expected.maximum is None:
        return ""
    number = _number(value, text)
    if number is None:
        return "gave no number, and bounds of one are expected"
    # NaN is within no bounds.
    if expected.minimum is not None and not (not number.is_nan() and number >= expected.minimum):
        return f"gave {number}, and at least {expected.minimum} is expected"
    if expected.maximum is not None and not (not number.is_nan() and number <= expected.maximum):
        return f"gave {number}, and at most {expected.maximum} is expected"
    return ""


def _number(value: dict[str, Any], text: str) -> Decimal | None:
    if value.get("number") is not None:
        return Decimal(value["number"])
    found = _NUMBER.findall(text)
    return Decimal(found[-1]) if found and not value else None


def _shown(cell: dict[str, Any]) -> str:
    """The text of the last result, otherwise of what was printed."""
    printed, result = "", ""
    for output in cell["outputs"]:
        if output["output_type"] == "stream" and output["name"] == "stdout":
            printed += text_of(output["text"])
        elif output["output_type"] in ("execute_result", "display_data"):
            result = text_of(output["data"].get("text/plain", ""))
    return (result or printed).strip()


def _is_type(wanted: str, types: list[str]) -> bool:
    """`pandas.DataFrame` is pandas.core.frame.DataFrame: people write the package, Python says the module."""
    package, _, name = wanted.rpartition(".")
    for full in types:
        module, _, own = full.rpartition(".")
        if own == name and (not package or module == package or module.startswith(package + ".")):
            return True
    return False


def _type_name(value: dict[str, Any]) -> str:
    types = value.get("types") or []
    return f"a value of type {types[0].replace('builtins.', '')}" if types else "no value whose type can be told"


def _has_shape(wanted: tuple[int, ...], shape: list[int] | None) -> bool:
    return (
        shape is not None and len(shape) == len(wanted) and all(want in (-1, have) for want, have in zip(wanted, shape))
    )


def _sizes(shape: Any) -> str:
    return "unknown" if shape is None else ",".join(map(str, shape)) or "()"
