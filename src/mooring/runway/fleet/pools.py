"""Pools for people, as `mooring pools` tells of them: bounds, nodes, hosts for more, and what was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mooring.api.kinds import Key
from mooring.kube.times import moment
from mooring.runtime.pool_report import PoolReport, PoolWorld
from mooring.runway.shown import Shown

__all__ = ["AutoscalerAnswer", "AutoscalerDecision", "FleetPool", "autoscaler_answer", "fleet_pools"]


class FleetPool(Shown, frozen=True):
    """`story` is what `mooring pools explain` says of it, line by line."""

    namespace: str
    name: str
    min: str
    max: str
    target: int
    ready: int
    free_hosts: int
    state: str
    story: tuple[str, ...]


class AutoscalerDecision(Shown, frozen=True):
    text: str
    time: str | None = None


class AutoscalerAnswer(Shown, frozen=True):
    """`notes` say what there is no pool for, and why; `decisions` are the newest last."""

    notes: tuple[str, ...]
    decisions: tuple[AutoscalerDecision, ...]


def fleet_pools(report: PoolReport, world: PoolWorld, decisions: Mapping[str, str]) -> dict[str, FleetPool]:
    """By namespace and name."""
    return {
        f"{row.namespace}/{row.name}": FleetPool(
            row.namespace,
            row.name,
            row.least,
            row.most,
            row.target,
            row.ready,
            row.free_hosts,
            row.state,
            tuple(report.explain(world, decisions, Key(row.namespace, row.name))),
        )
        for row in report.rows(world, decisions)
    }


def autoscaler_answer(report: PoolReport, decisions: Mapping[str, str]) -> AutoscalerAnswer:
    return AutoscalerAnswer(tuple(report.notes(decisions)), tuple(_decisions(decisions.get("log", "").splitlines())))


def _decisions(lines: Sequence[str]) -> Iterator[AutoscalerDecision]:
    for line in lines:
        first, _, rest = line.partition(" ")
        yield AutoscalerDecision(rest, first) if _is_moment(first) else AutoscalerDecision(line)


def _is_moment(text: str) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return text.endswith("Z")
