"""One name, one thing: no two public classes of the product share a name, but for views of one part of the API."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "mooring"
# A kind of the API has a view with the fields that placement reads and one with those that controllers read.
VIEWS = SOURCE / "api"
# What stands for one thing of the API outside of it too, with the reason.
SAME_MEANING = {
    "NodeSelector": "as the API writes it, and ready to be matched",
    "NodeSelectorTerm": "as the API writes it, and ready to be matched",
    "Requirement": "as the API writes it, and ready to be matched",
    "Ordinals": "spec.ordinals of a StatefulSet, for controllers and for snapshots",
    "PolicyRule": "as the API writes it, and ready to be matched",
    "ConfigMap": "as any controller reads it, and with what Workspaces read of it",
    "ContainerState": "as the API writes it, and with what Workspaces read of it",
    "ContainerEnd": "part of ContainerState",
    "ContainerWait": "part of ContainerState",
    "View": "typed objects and what a reconcile asks for them: one word of docs/architecture.md",
}


def classes(folder: Path) -> dict[str, list[Path]]:
    """The modules that define each public class."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                found[statement.name].append(path)
    return found


def shared(found: dict[str, list[Path]]) -> dict[str, list[str]]:
    """Names that two classes have, unless all of them are views of the API."""
    return {
        name: [str(path.relative_to(SOURCE)) for path in paths]
        for name, paths in found.items()
        if len(paths) > 1 and not all(VIEWS in path.parents for path in paths)
    }


def test_no_two_classes_of_one_name_mean_different_things() -> None:
    found = shared(classes(SOURCE))
    assert {name: paths for name, paths in found.items() if name not in SAME_MEANING} == {}


def test_every_exception_is_still_needed() -> None:
    assert shared(classes(SOURCE)).keys() == SAME_MEANING.keys()
