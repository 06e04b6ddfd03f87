"""One node with some pods added or taken away, for preemption and for nominated pods.

The answer follows the scheduler's own bookkeeping, which differs from a fresh count in one way: taking away a
terminating pod lowers a spread count that never contained it.
"""

from __future__ import annotations

from collections import Counter

from mooring.placement.filters import (
    ALONE,
    CROWDED,
    NO_TOPOLOGY,
    PORT_TAKEN,
    REPELLED,
    TOO_MANY_PODS,
    UNWELCOME,
    Filters,
    insufficient,
    port_conflict,
)
from mooring.placement.plugins.node_checks import NodeChange
from mooring.placement.pods import HostPort, PodInfo
from mooring.placement.verdicts import ERROR, Reason, Verdicts, failure


class NodeTrial:
    def __init__(self, filters: Filters, verdicts: Verdicts, slot: int) -> None:
        self._filters = filters
        self._verdicts = verdicts
        self._slot = slot
        cluster = filters.cluster
        moving = {PORT_TAKEN, TOO_MANY_PODS, CROWDED, ALONE, REPELLED, UNWELCOME}
        plugins = {"NodeResourcesFit", *(check.plugin for check in filters.checks.all if not check.steady)}
        steady = sum(
            1 << i for i, reason in enumerate(verdicts.reasons) if reason not in moving and reason.plugin not in plugins
        )
        self._steady_bits = int(verdicts.bits[slot]) & steady
        self._needs = [
            (need.name, need.amount, int(need.allocatable[slot]), int(need.used[slot])) for need in filters.needs()
        ]
        self._used: Counter[str] = Counter()
        self._pods = int(cluster.pod_count[slot])
        # A set, as the scheduler has it: when one of two pods with the same port goes, the port is free.
        self._ports = {port for pod in cluster.node_pods[slot].values() for port in pod.template.ports}
        spread = filters.spread
        self._spread = [0] * len(spread.constraints) if spread else []
        interpod = filters.interpod
        self._affinity = 0
        self._anti = [0] * len(interpod.anti) if interpod else []
        self._existing: Counter[str] = Counter()
        self._checks = [check for check in filters.checks.all if not check.steady]
        self._added: dict[str, PodInfo] = {}
        self._removed: dict[str, PodInfo] = {}
        # The error that each check ended in when the node was last judged, by plugin.
        self.errors: dict[str, Reason] = {}

    def add(self, pod: PodInfo) -> None:
        self._change(pod, 1)

    def remove(self, pod: PodInfo) -> None:
        self._change(pod, -1)

    def _change(self, pod: PodInfo, sign: int) -> None:
        incoming = self._filters.pod
        if self._checks:
            undone, done = (self._removed, self._added) if sign > 0 else (self._added, self._removed)
            if undone.pop(pod.key, None) is None:
                done[pod.key] = pod
        held = pod.template.resources.node
        self._pods += sign
        self._used["cpu"] += sign * held.cpu
        self._used["memory"] += sign * held.memory
        self._used["ephemeral-storage"] += sign * held.ephemeral
        for name, amount in held.scalars:
            self._used[name] += sign * amount
        (self._ports.update if sign > 0 else self._ports.difference_update)(pod.template.ports)
        spread = self._filters.spread
        if spread is not None and pod.namespace == incoming.namespace and spread.keyed[self._slot]:
            for i, hard in enumerate(spread.constraints):
                if hard.eligible[self._slot] and hard.constraint.selector.matches(pod.labels):
                    self._spread[i] += sign
        interpod = self._filters.interpod
        if interpod is None:
            return
        query = interpod.affinity_query
        if query is not None and all(c.matches(pod.namespace, pod.labels) for c in query.clauses):
            self._affinity += sign
        for i, clause in enumerate(interpod.anti_clauses):
            if clause.matches(pod.namespace, pod.labels):
                self._anti[i] += sign
        namespace_labels = self._filters.cluster.namespaces.get(incoming.namespace, {})
        for term in pod.template.anti_required:
            if term.matches(incoming.namespace, incoming.labels, namespace_labels):
                self._existing[term.topology_key] += sign

    def bits(self) -> int:
        """The node's verdict now; 0 where the incoming pod fits."""
        verdicts = self._verdicts
        bits = self._steady_bits
        if self._pods >= int(self._filters.cluster.alloc_pods[self._slot]):
            bits |= verdicts.bit(TOO_MANY_PODS)
        for name, amount, allocatable, used in self._needs:
            if amount > allocatable - used - self._used[name]:
                bits |= verdicts.bit(insufficient(name, amount > allocatable))
        if any(self._is_taken(wanted) for wanted in self._filters.pod.template.ports):
            bits |= verdicts.bit(PORT_TAKEN)
        return bits | self._spread_bits() | self._interpod_bits() | self._check_bits()

    def _check_bits(self) -> int:
        bits = 0
        change = NodeChange(tuple(self._added.values()), tuple(self._removed.values()))
        self.errors.clear()
        for check in self._checks:
            for reason in check.at(self._slot, change):
                if reason.code == ERROR:
                    self.errors[reason.plugin] = reason
                    reason = failure(reason.plugin)
                bits |= self._verdicts.bit(reason)
        return bits

    def _is_taken(self, wanted: HostPort) -> bool:
        return any(port[1:] == wanted[1:] and port_conflict(wanted, port.ip) for port in self._ports)

    def _spread_bits(self) -> int:
        spread = self._filters.spread
        if spread is None:
            return 0
        if self._steady_bits & self._verdicts.bit(NO_TOPOLOGY):
            return 0
        for hard, delta in zip(spread.constraints, self._spread, strict=True):
            if hard.column.codes[self._slot] < 0:
                return self._verdicts.bit(NO_TOPOLOGY)
            if hard.crowded_at(self._slot, delta):
                return self._verdicts.bit(CROWDED)
        return 0

    def _interpod_bits(self) -> int:
        interpod = self._filters.interpod
        if interpod is None:
            return 0
        slot = self._slot
        if interpod.affinity and not self._has_company():
            return self._verdicts.bit(ALONE)
        for domains, delta in zip(interpod.anti, self._anti, strict=True):
            code = domains.column.codes[slot]
            if code >= 0 and domains.counts[code] + delta > 0:
                return self._verdicts.bit(REPELLED)
        labels = self._filters.cluster.labels
        for key in interpod.existing.keys() | self._existing.keys():
            code = labels.column(key).codes[slot]
            table = interpod.existing.get(key)
            if code >= 0 and (0 if table is None else int(table[code])) + self._existing[key] > 0:
                return self._verdicts.bit(UNWELCOME)
        return 0

    def _has_company(self) -> bool:
        """Whether the pod's affinity holds here, or nowhere at all while the pod matches itself."""
        interpod = self._filters.interpod
        assert interpod is not None
        codes = [int(d.column.codes[self._slot]) for d in interpod.affinity]
        if min(codes) < 0:
            return False
        here = [int(d.counts[code]) + self._affinity for d, code in zip(interpod.affinity, codes, strict=True)]
        if min(here) > 0:
            return True
        anywhere = any(d.total + self._affinity > 0 for d in interpod.affinity)
        return not anywhere and interpod.matches_itself
