"""On which line of a file a field stands: what people need to mend it.

The readers of manifests give values without lines, because nearly all files are right. This looks again, at a file that
has been read before and found wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

__all__ = ["line_of"]

# Wheels of PyYAML bring libyaml; a build from source may lack it, and then only the slow parser exists.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def line_of(file: Path, document: int, item: int | None, fields: Iterable[str]) -> int | None:
    """The line of the first of these fields that is there, or of the nearest thing around it; None when unknown.

    `document` counts from 1, and `item` from 0 in the List that the document is.
    """
    root = _document(file, document)
    if root is not None and item is not None:
        items = _child(root, "items")
        root = items.value[item] if isinstance(items, yaml.SequenceNode) and item < len(items.value) else None
    if root is None:
        return None
    found = [_deepest(root, field) for field in fields]
    if not found:
        return int(root.start_mark.line) + 1
    return max(found)[1]


def _document(file: Path, number: int) -> yaml.Node | None:
    try:
        with file.open("rb") as stream:
            loader = _Loader(stream)
            try:
                while loader.check_node():
                    node = loader.get_node()
                    if node is not None and not _is_empty(node):
                        number -= 1
                        if number == 0:
                            return node  # type: ignore[no-any-return]
            finally:
                loader.dispose()
    except (OSError, yaml.YAMLError):
        return None
    return None


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value == ""


def _deepest(node: yaml.Node, field: str) -> tuple[int, int]:
    """How far a path such as `spec.taints[0].effect` leads into a document, in letters, and the line it leads to."""
    line, done, rest = node.start_mark.line + 1, 0, field
    while rest:
        step = _step(node, rest)
        if step is None:
            break
        node, mark, rest = step
        line, done = mark.line + 1, len(field) - len(rest)
    return done, line


def _step(node: yaml.Node, path: str) -> tuple[yaml.Node, Any, str] | None:
    """One step along a path: where it leads, where that starts, and what is left of the path."""
    path = path.removeprefix(".")
    if isinstance(node, yaml.MappingNode):
        # Keys may hold dots themselves, so the longest one that fits is meant.
        for key, value in sorted(node.value, key=lambda pair: -len(str(pair[0].value))):
            bracketed = f"[{key.value}]"
            for spelt in (str(key.value), bracketed):
                rest = path.removeprefix(spelt)
                if rest != path and (not rest or rest[0] in ".["):
                    return value, key.start_mark, rest
    if isinstance(node, yaml.SequenceNode) and path.startswith("["):
        index, _, rest = path[1:].partition("]")
        if index.isdigit() and int(index) < len(node.value):
            item = node.value[int(index)]
            return item, item.start_mark, rest
    return None


def _child(node: yaml.Node, name: str) -> yaml.Node | None:
    step = _step(node, name)
    return None if step is None else step[0]
