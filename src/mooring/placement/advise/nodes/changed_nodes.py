"""The nodes that edits change or add, as they are afterwards."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mooring.api.core.types import Node
from mooring.kube.objects import Object
from mooring.placement.advise.model import Edit
from mooring.placement.advise.pointers import edited
from mooring.placement.scheduler_cache import SchedulerCache


def added_nodes(edits: Iterable[Edit]) -> frozenset[str]:
    return frozenset(edit.after["metadata"]["name"] for edit in edits if edit.op == "addNode")


def edited_nodes(edits: Iterable[Edit]) -> frozenset[str]:
    return frozenset(edit.target.removeprefix("node/") for edit in edits if edit.target.startswith("node/"))


def changed_nodes(cluster: SchedulerCache, edits: Iterable[Edit]) -> list[Node]:
    changed: dict[str, Object] = {}
    for edit in edits:
        kind, _, name = edit.target.partition("/")
        if kind == "node":
            before = changed.get(name) or msgspec.to_builtins(cluster.nodes[cluster.slots[name]])
            changed[name] = edited(before, (edit,))
        elif kind == "cluster":
            changed[edit.after["metadata"]["name"]] = edit.after
    return [msgspec.convert(each, Node) for each in changed.values()]
