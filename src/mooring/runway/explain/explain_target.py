"""The target of `explain`, written as in kubectl: `pod/web`, `deploy web`, `statefulset.apps/db`, `node/gpu-1`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError

__all__ = ["NODE", "WAITING_PODS", "ExplainTarget", "parse_target", "parse_targets"]

NODE: Final = "Node"
_NODE_NAMES: Final = ("node", "nodes", "no")


class ExplainTarget(NamedTuple):
    """A kind and the name of one of its objects; without a name, all pods that wait for a node."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}" if self.name else f"{self.kind.lower()}s"


WAITING_PODS: Final = ExplainTarget("Pod", "")
"""All pods that wait for a node."""


def parse_targets(words: Sequence[str]) -> ExplainTarget:
    """`KIND/NAME`, or `KIND NAME`."""
    if len(words) == 2 and "/" not in "".join(words):
        return parse_target("/".join(words))
    if len(words) > 1:
        raise InputError(f'"{" ".join(words)}" is more than one target: ask for them one by one')
    return parse_target(words[0])


def parse_target(text: str) -> ExplainTarget:
    word, slash, name = text.partition("/")
    kind = _kind(word)
    if slash and not name:
        raise InputError(f'"{text}" has no name after the slash; expected {_known()}, or pods')
    if kind is None or (not slash and kind != "Pod"):
        raise InputError(f'expected {_known()}, or pods for all that wait, not "{text}"')
    return ExplainTarget(kind, name)


def _known() -> str:
    """The kinds that can be explained; long names in their short form."""
    kinds = [each.short if len(each.kind) > 11 else each.kind.lower() for each in CATALOG.workloads().values()]
    return ", ".join(f"{kind}/NAME" for kind in kinds) + " or node/NAME"


def _kind(word: str) -> str | None:
    resource, _, group = word.lower().partition(".")
    if resource in _NODE_NAMES:
        return NODE if group in ("", "v1") else None
    for kind, known in CATALOG.workloads().items():
        if resource in (known.plural, known.short, kind.lower()):
            return kind if group in ("", known.group, f"v1.{known.group}") else None
    return None
