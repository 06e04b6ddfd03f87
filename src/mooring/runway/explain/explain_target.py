"""The target of `explain`, written as in kubectl: `pod/web`, `deploy/web`, `statefulset.apps/db`."""

from __future__ import annotations

from typing import NamedTuple

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError

__all__ = ["ExplainTarget", "parse_target"]


class ExplainTarget(NamedTuple):
    """A kind and the name of one of its objects; without a name, all pods that wait for a node."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}" if self.name else f"{self.kind.lower()}s"


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
    return " or ".join([", ".join(f"{kind}/NAME" for kind in kinds[:-1]), f"{kinds[-1]}/NAME"])


def _kind(word: str) -> str | None:
    resource, _, group = word.lower().partition(".")
    for kind, known in CATALOG.workloads().items():
        if resource in (known.plural, known.short, kind.lower()):
            return kind if group in ("", known.group, f"v1.{known.group}") else None
    return None
