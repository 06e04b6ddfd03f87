"""The nodes that a workload chose, as a table: how many it needs, which match, and which count."""

from __future__ import annotations

from mooring.cli.render.page import TextColumn, TextPage
from mooring.kube.words import and_more, counted
from mooring.placement.workloads.known_cluster import NodeSelection

__all__ = ["add_selection"]

# How many nodes are named in a row.
_MAX_NAMES = 4


def add_selection(page: TextPage, owner: str, selection: NodeSelection) -> None:
    page.title(f"Nodes of {owner}")
    rows = [
        ("matching", str(len(selection.matching)), f"{_names(selection.matching)}{_labels(selection)}"),
        (selection.counted_as, str(len(selection.counted)), _names(selection.counted)),
    ]
    if selection.reason:
        rows.insert(0, ("required", str(selection.required or "?"), selection.reason))
    away = [f"{node.name} {node.reason}" for node in selection.uncounted]
    if len(away) > _MAX_NAMES:
        away[_MAX_NAMES:] = [f"and {counted(len(away) - _MAX_NAMES, 'more node')}"]
    for number, text in enumerate(away):
        rows.append(("", "", text) if number else ("left out", str(len(selection.uncounted)), text))
    if selection.claimed_type:
        rows.append(("claims", str(selection.claims), f"of type {selection.claimed_type}"))
    page.table([TextColumn(style="dim"), TextColumn(right=True), TextColumn()], rows)


def _names(names: tuple[str, ...]) -> str:
    return and_more(names, _MAX_NAMES)


def _labels(selection: NodeSelection) -> str:
    labels = selection.labels or "any label"
    return f" ({labels})" if selection.matching else labels
