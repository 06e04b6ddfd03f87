"""Changes that would help, as people and pages are told of them: a sentence, a command, and where possible a patch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from mooring.kube.objects import Object

if TYPE_CHECKING:
    from mooring.placement.advise.model import Advice, Edit

__all__ = ["Proposal", "ProposedPatch", "proposal"]


class ProposedPatch(msgspec.Struct, frozen=True, rename="camel"):
    """A JSON patch of one object. It tests what it changes, so that it does nothing to an object that has changed."""

    api_version: str
    kind: str
    namespace: str
    name: str
    type: str
    body: list[Object]


class Proposal(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`brings` is how many pods have a place afterwards; `disruptive` says that running pods would go."""

    text: str
    brings: int
    disruptive: bool
    command: str | None = None
    patch: ProposedPatch | None = None


def proposal(advice: Advice) -> Proposal:
    """An advice that was found for one pod brings at least that one."""
    # Most deployments land, and then nobody waits for this.
    from mooring.placement.advise.model import AdviceKind

    return Proposal(
        text=advice.title,
        brings=1 if advice.brings is None else len(advice.brings),
        disruptive=advice.kind >= AdviceKind.PRIORITISE or bool(advice.victims),
        command=advice.command,
        patch=_node_patch(advice.edits),
    )


def _node_patch(edits: Iterable[Edit]) -> ProposedPatch | None:
    """The edits as a patch, where all of them are of one node."""
    targets = {edit.target for edit in edits}
    kind, _, name = next(iter(targets), "").partition("/")
    if len(targets) != 1 or kind != "node" or not name:
        return None
    body = [operation for edit in edits for operation in _operations(edit)]
    return ProposedPatch("v1", "Node", "", name, "application/json-patch+json", body)


def _operations(edit: Edit) -> Iterable[Object]:
    if edit.before is not None:
        yield {"op": "test", "path": edit.path, "value": edit.before}
    if edit.after is None:
        yield {"op": "remove", "path": edit.path}
    else:
        yield {"op": "add", "path": edit.path, "value": edit.after}
