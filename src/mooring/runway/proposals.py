"""Changes that would help, as people and pages are told of them: a sentence, a command, and the writes that do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from mooring.placement.writes import Write

if TYPE_CHECKING:
    from mooring.placement.advise.model import Advice

__all__ = ["Proposal", "ProposedEdit", "proposal"]


class ProposedEdit(msgspec.Struct, frozen=True):
    """One change in one place. `target` is the pod, a node by name or the cluster; without `after` it is taken away."""

    target: str
    op: str
    path: str
    before: Any
    after: Any


class Proposal(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`brings` is how many pods have a place afterwards, `nodes` are those that would take the pod; `disruptive` says
    that running pods would go. `writes` do what `command` does; there are none for what is not in the cluster.
    """

    text: str
    brings: int
    disruptive: bool
    edits: tuple[ProposedEdit, ...]
    nodes: tuple[str, ...]
    command: str | None = None
    writes: tuple[Write, ...] = ()


def proposal(advice: Advice) -> Proposal:
    """An advice that was found for one pod brings at least that one."""
    # Most deployments land, and then nobody waits for this.
    from mooring.placement.advise.model import AdviceKind

    return Proposal(
        text=advice.title,
        brings=1 if advice.brings is None else len(advice.brings),
        disruptive=advice.kind >= AdviceKind.PRIORITISE or bool(advice.victims),
        edits=tuple(ProposedEdit(each.target, each.op, each.path, each.before, each.after) for each in advice.edits),
        nodes=advice.nodes,
        command=advice.command,
        writes=advice.writes,
    )
