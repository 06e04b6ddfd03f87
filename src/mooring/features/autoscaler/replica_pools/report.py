"""What is written down for people: which replicas wait and why, and what is wrong with the policy.

It stands in the autoscaler's ConfigMap under a key of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from mooring.api.core.views import ConfigMap
from mooring.features.autoscaler.replica_pools.decision import ReplicaPoolsDecision
from mooring.features.autoscaler.reports.events import STATUS_CONFIG_MAP
from mooring.features.autoscaler.reports.status_config_map import STATUS
from mooring.manifests.emit import to_yaml
from mooring.manifests.loader import load
from mooring.runtime.decision import Apply

__all__ = ["ReplicaPoolsReport", "WaitingReplica", "is_told", "read_report", "report_of", "report_write"]

_KEY: Final = "replicaPools"


class WaitingReplica(msgspec.Struct, frozen=True):
    """A replica without a pool, or whose pool should be larger, and why it is not."""

    replica: str
    label: str
    pods: int
    reason: str
    # What would have to change: the policy, hosts or a pool.
    where: str

    @property
    def told(self) -> str:
        return f"{self.pods} pods of {self.replica} wait for nodes with {self.label}"


class ReplicaPoolsReport(msgspec.Struct, frozen=True, omit_defaults=True):
    # What is wrong with the policy, where there is one.
    problem: str = ""
    waiting: tuple[WaitingReplica, ...] = ()

    @property
    def by_reason(self) -> list[WaitingReplica]:
        """One for each reason, which names the others for which it is the same."""
        same: dict[str, list[WaitingReplica]] = {}
        for each in self.waiting:
            same.setdefault(each.reason, []).append(each)
        return [_first(several) for several in same.values()]


def _first(several: Sequence[WaitingReplica]) -> WaitingReplica:
    first, others = several[0], len(several) - 1
    if not others:
        return first
    return msgspec.structs.replace(first, replica=f"{first.replica} (and of {others} more replicas)")


def report_of(decision: ReplicaPoolsDecision, problem: str) -> ReplicaPoolsReport:
    waiting = (
        WaitingReplica(each.replica.name, str(each.replica.label), len(each.replica.unbound), each.reason, each.where)
        for each in decision.refused
    )
    return ReplicaPoolsReport(problem, tuple(waiting))


def is_told(found: ConfigMap | None) -> bool:
    """Whether anything was told that may have to be taken back."""
    return found is not None and bool(found.data.get(_KEY))


def report_write(found: ConfigMap | None, report: ReplicaPoolsReport) -> Sequence[Apply]:
    """Nothing where it says so already."""
    told: dict[str, Any] = msgspec.to_builtins(report)
    text = to_yaml(told) if told else ""
    if text == ("" if found is None else found.data.get(_KEY, "")):
        return ()
    namespace, name = STATUS_CONFIG_MAP
    data = {_KEY: text} if text else {}
    return (Apply(STATUS, {"metadata": {"namespace": namespace, "name": name}, "data": data}),)


def read_report(data: Mapping[str, str]) -> ReplicaPoolsReport:
    """What the ConfigMap says."""
    text = data.get(_KEY, "")
    return msgspec.convert(load(text), ReplicaPoolsReport) if text else ReplicaPoolsReport()
