"""Cordoning a node, or uncordoning it: the sentence, the command, and the write that does the same."""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object
from mooring.placement.writes import KubectlCommand, Write
from mooring.runway.shown import Shown

__all__ = ["CordonChange", "cordon_change"]

_PATH: Final = "/spec/unschedulable"


class CordonChange(Shown, frozen=True):
    text: str
    command: str
    writes: tuple[Write, ...]


def cordon_change(name: str, *, cordoned: bool) -> CordonChange:
    """What turns it the other way. A node that is not cordoned need not say so, which no patch can test."""
    if cordoned:
        verb, text = "uncordon", f"Uncordon node {name}: pods are sent there again"
        body: tuple[Object, ...] = ({"op": "test", "path": _PATH, "value": True}, {"op": "remove", "path": _PATH})
    else:
        verb, text = "cordon", f"Cordon node {name}: its pods stay, and no new ones are sent there"
        body = ({"op": "add", "path": _PATH, "value": True},)
    writes = (Write("patch", "v1", "Node", name, body=body),)
    return CordonChange(text, KubectlCommand((verb, name)).text, writes)
