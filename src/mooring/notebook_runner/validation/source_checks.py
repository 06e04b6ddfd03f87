"""What the code of cells says: whether something is asserted, and whether exit codes are looked at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final

from mooring.notebook_runner.comparison.outputs import text_of
from mooring.notebook_runner.validation.finding import RuleFinding, code_cells

__all__ = ["assertion_findings", "exit_code_findings"]

# IPython runs such a line in a shell, and goes on whatever comes of it; the code is in `_exit_code`.
_SHELL_LINE: Final = re.compile(r"^\s*(?:[\w,\s]+=\s*)?!{1,2}\s*\S|^\s*%(?:sx|system)\s", re.MULTILINE)
_MAGIC_LINE: Final = re.compile(r"^\s*(?:[\w,\s]+=\s*)?[!%?].*$", re.MULTILINE)
_EXITS: Final = ("exit", "quit", "sys.exit", "os._exit")


def assertion_findings(notebook: dict[str, Any], reached: int) -> Iterator[RuleFinding]:
    cells = [_code(cell) for _, cell in code_cells(notebook, reached)]
    if cells and not any(_asserts(code) for code in cells):
        message = "no code cell asserts anything, so a wrong result would not be noticed; add an assert"
        yield RuleFinding("NoAssertions", None, message)


def exit_code_findings(notebook: dict[str, Any], reached: int) -> Iterator[RuleFinding]:
    for index, cell in code_cells(notebook, reached):
        code = _code(cell)
        if not code.lstrip().startswith("%%") and _SHELL_LINE.search(code) and "_exit_code" not in code:
            message = f"cell {index} runs a shell command and does not look at its exit code; check _exit_code after it"
            yield RuleFinding("ExitCodeMissing", index, message)
        elif any(_bare_exit(node) for node in _nodes(code)):
            message = f"cell {index} ends the notebook without an exit code; give one, such as sys.exit(0)"
            yield RuleFinding("ExitCodeMissing", index, message)


def _code(cell: dict[str, Any]) -> str:
    return text_of(cell["source"])


def _asserts(code: str) -> bool:
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _last_name(node.func).startswith("assert"))
        for node in _nodes(code)
    )


def _nodes(code: str) -> Iterator[ast.AST]:
    """Of the Python in a cell; none where it is another language."""
    try:
        tree = ast.parse(_MAGIC_LINE.sub("pass", code))
    except (SyntaxError, ValueError, RecursionError):
        # With magics inside blocks the indentation may be lost, or a cell may be no Python at all.
        return
    yield from ast.walk(tree)


def _bare_exit(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not node.args and not node.keywords and ast.unparse(node.func) in _EXITS


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
