"""Which files of tests are nearest to a module: those that import it, then those that import what imports it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

# Of tests that import nothing of it: they may start it as a process of its own.
FAR = 4
# A folder further out counts as much as this many imports.
OUTWARDS = 2


class ImportGraph:
    """Who imports a file, of the source and of the tests; paths are relative to the root."""

    def __init__(self, root: Path) -> None:
        paths = [path.relative_to(root) for name in ("src/mooring", "tests") for path in (root / name).rglob("*.py")]
        files = {_module_name(path): path for path in paths}
        self._importers: dict[Path, set[Path]] = defaultdict(set)
        for path in paths:
            for name in _imported((root / path).read_bytes()):
                found = files.get(name) or files.get(name.rpartition(".")[0])
                if found is not None:
                    self._importers[found].add(path)
        self._tests = [path for path in paths if path.name.startswith("test_")]

    @property
    def tests(self) -> list[str]:
        return sorted(map(str, self._tests))

    def nearest_tests(self, module: Path, folders: list[str]) -> list[str]:
        """The files in these folders, the nearest first; among equals one that is named after the module."""
        distances = self._distances(module)

        def rank(test: Path) -> tuple[int, bool, str]:
            folder = next(index for index, each in enumerate(folders) if test.is_relative_to(each))
            distance = min(distances.get(test, FAR), FAR) + OUTWARDS * folder
            return distance, module.stem not in test.stem, str(test)

        within = [test for test in self._tests if any(test.is_relative_to(each) for each in folders)]
        return [str(test) for test in sorted(within, key=rank)]

    def _distances(self, module: Path) -> dict[Path, int]:
        found = {module: 0}
        edge: Iterable[Path] = [module]
        while edge:
            edge = {importer for each in edge for importer in self._importers[each]} - found.keys()
            found |= dict.fromkeys(edge, max(found.values()) + 1)
        return found


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(source: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
