"""Standard error of cells, and the warnings in it. What the kernel's own process prints is no output of a cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mooring.notebook_runner.comparison.outputs import text_of
from mooring.notebook_runner.validation.finding import RuleFinding, code_cells

__all__ = ["stderr_findings", "warning_findings"]

# As the warnings module prints them (file:line: Category: text), and as logging does at level WARNING.
_WARNING: Final = re.compile(r"^(?:.*?:[0-9]+: )?([A-Za-z_]\w*Warning): (.*)$|^(WARNING)[:\s]\s*(.*)$", re.MULTILINE)
# IPython's advice to a person when code calls sys.exit.
_EXIT_ADVICE: Final = re.compile(
    r"^.*UserWarning: To exit: use 'exit', 'quit', or Ctrl-D\.\n(?:  warn\(.*\n?)?", re.MULTILINE
)
_SHOWN_CHARACTERS: Final = 200


def stderr_findings(notebook: dict[str, Any], reached: int) -> Iterator[RuleFinding]:
    for index, cell in code_cells(notebook, reached):
        text = _stderr(cell).strip()
        if text:
            yield RuleFinding("StderrFound", index, f"cell {index} wrote to standard error: {_shown(text)}")


def warning_findings(notebook: dict[str, Any], reached: int) -> Iterator[RuleFinding]:
    for index, cell in code_cells(notebook, reached):
        found = _WARNING.search(_stderr(cell))
        if found is not None:
            category, text = found.group(1) or found.group(3), found.group(2) or found.group(4) or ""
            yield RuleFinding("WarningsFound", index, f"cell {index} gave a warning, {category}: {_shown(text)}")


def _stderr(cell: dict[str, Any]) -> str:
    streams = (each for each in cell["outputs"] if each["output_type"] == "stream" and each["name"] == "stderr")
    return _EXIT_ADVICE.sub("", "".join(text_of(each["text"]) for each in streams))


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
