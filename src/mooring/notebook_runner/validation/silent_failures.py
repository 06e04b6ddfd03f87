"""Silent failures: a cell that says None or NaN where a value was meant, and raises nothing.

Only where a whole value is one: a table with a gap in it is data, and common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mooring.notebook_runner.comparison.normalizers import without_ansi
from mooring.notebook_runner.comparison.outputs import text_of
from mooring.notebook_runner.validation.finding import RuleFinding, code_cells

__all__ = ["silent_findings"]

_NOTHING: Final = r"(?:None|nan|NaN|NAN|NaT|<NA>)"
# A line that is nothing but such a value, or a name and such a value: "None", "loss: nan", "accuracy = NaN".
_LINE: Final = re.compile(rf"^(?:[\w .()/%\[\]-]{{1,80}}\s*[:=]\s*)?({_NOTHING})\s*[,;.]?$")
# The printed form of a number, an array, a list or a dictionary that has a NaN in it.
_NOT_A_NUMBER: Final = re.compile(r"(?<![\w'\"])nan(?![\w'\"])")


def silent_findings(notebook: dict[str, Any], reached: int) -> Iterator[RuleFinding]:
    for index, cell in code_cells(notebook, reached):
        for output in cell["outputs"]:
            value = _value(output)
            if value:
                yield RuleFinding("SilentFailure", index, f"cell {index} gave {value} and raised nothing")
                break


def _value(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream" and output["name"] == "stdout":
        return _said(text_of(output["text"]))
    if output["output_type"] != "execute_result":
        return ""
    data = output["data"]
    text = text_of(data.get("text/plain", ""))
    # What has a form in HTML is a table or a drawing.
    if "text/html" not in data and _NOT_A_NUMBER.search(text):
        return "NaN"
    return _said(text)


def _said(text: str) -> str:
    for line in without_ansi(text).splitlines():
        found = _LINE.match(line.strip())
        if found is not None:
            return "None" if found.group(1) == "None" else "NaN"
    return ""
