"""Writes docs/modules.md, a table of every package's modules made from their docstrings; --check only compares."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.made import ROOT, write_or_check

SOURCE = ROOT / "src" / "mooring"
PAGE = ROOT / "docs" / "modules.md"
COMMAND = "python -m scripts.modules"

_HEAD = f"""# Modules

One table per package, made from the first line of each module by `{COMMAND}`; a test keeps it so.
[architecture.md](architecture.md) says how the packages stand to each other.
"""


def first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def packages() -> Iterator[Path]:
    yield from sorted(path.parent for path in SOURCE.rglob("__init__.py"))


def table(package: Path) -> str:
    name = str(package.relative_to(SOURCE.parent)).replace("/", ".")
    lines = [f"## {name}", "", first_line(package / "__init__.py")]
    modules = sorted(path for path in package.glob("*.py") if path.name != "__init__.py")
    if modules:
        lines += ["", "| module | what it holds |", "|---|---|"]
        lines += [f"| `{path.name}` | {first_line(path)} |" for path in modules]
    return "\n".join(lines)


def text() -> str:
    return "\n\n".join([_HEAD.rstrip(), *map(table, packages())]) + "\n"


def main() -> int:
    return write_or_check({PAGE: text()}, COMMAND)


if __name__ == "__main__":
    sys.exit(main())
