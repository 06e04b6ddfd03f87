"""Places pods one after another and keeps the outcome of each.

Every pod that lands is bound before the next one is placed, and a pod that lands by preemption replaces its victims. An
outcome holds all that is shown of a pod, because the cluster has changed when the next pod is placed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mooring.catalog import CATALOG
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.placement.answers import explain_answer
from mooring.placement.causes.nodes import Blocked, Cause, all_node_causes, blocked_groups
from mooring.placement.devices.unknowns import without_claims
from mooring.placement.engine import Engine, Explanation
from mooring.placement.node_pools import NodePool, pool_notes
from mooring.placement.pods import PodInfo
from mooring.placement.reservations import assume, reservation
from mooring.placement.snapshot import Snapshot
from mooring.placement.unknowns import without_volumes
from mooring.runway.explain.asked_pods.unplaced_pods import UnplacedPod

if TYPE_CHECKING:
    from mooring.placement.advise import Advice, Advised, Asked

Verdict = Literal["lands", "cannot", "may"]

# Of more pods than this only the ones that fail are explained in full.
MOST_EXPLAINED_IN_FULL = 20


@dataclass
class PodOutcome:
    """The outcome of one pod. `slot` is its node, directly or by preemption, or -1."""

    unplaced: UnplacedPod
    slot: int = -1
    node: str = ""
    message: str = ""
    # An earlier pod that failed for the same reasons, or None.
    like: PodOutcome | None = None
    info: PodInfo | None = None
    explanation: Explanation | None = None
    blocked: list[Blocked] = field(default_factory=list)
    causes: dict[int, tuple[Cause, ...]] = field(default_factory=dict)
    advice: list[Advice] = field(default_factory=list)
    # Whether no advice means that there is none.
    is_hopeless: bool = False
    answer: dict[str, Any] = field(default_factory=dict)
    # The labels of all pods of its workload, where it has several; advice says which of them it brings a place.
    replicas: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # Why it is not certain that a pod which lands here does so on the cluster.
    unknowns: tuple[str, ...] = ()

    @property
    def gates(self) -> tuple[str, ...]:
        return self.info.gates if self.info is not None else ()

    @property
    def lands(self) -> bool:
        return self.slot >= 0 and not self.unplaced.errors and not self.gates

    @property
    def may_land(self) -> bool:
        """Whether it lands as far as is known, and something is not."""
        return self.lands and bool(self.unknowns)

    @property
    def victims(self) -> tuple[PodInfo, ...]:
        preemption = self.explanation.preemption if self.explanation else None
        return preemption.victims if preemption is not None else ()

    @property
    def tied(self) -> int:
        """How many other nodes have the best score too."""
        return max(self.explanation.best.size - 1, 0) if self.explanation else 0

    @property
    def runner_up(self) -> tuple[int, int] | None:
        """The slot that comes next, and by how many points it is behind; None where all others are tied or none is."""
        explanation = self.explanation
        if explanation is None or not explanation.scores or explanation.feasible.size <= explanation.best.size:
            return None
        totals = explanation.totals[explanation.feasible]
        rest = totals < totals.max()
        behind = explanation.feasible[rest][np.argmax(totals[rest])]
        return int(behind), int(totals.max() - explanation.totals[behind])


class Explainer:
    """Explains pods in order. `thorough` keeps the whole answer of every pod; `each_node` the causes of every node."""

    def __init__(
        self,
        engine: Engine,
        snapshot: Snapshot,
        *,
        thorough: bool,
        each_node: bool,
        limit: int,
        pools: Callable[[], Sequence[NodePool]] = tuple,
    ) -> None:
        self.engine = engine
        self.cluster = engine.cluster
        self._thorough = thorough
        self._each_node = each_node
        self._limit = limit
        self._read_pools = pools
        self._snapshot = snapshot
        # Pods are placed as by a scheduler at work: each search begins where the last one ended.
        self._start = 0
        self._failed: list[PodOutcome] = []
        # By workload, the first pod that waits, which has advice: one per workload is enough.
        self._told: dict[str, str] = {}
        # The pods that are explained: most of them are not in the cluster, so nobody can make room by deleting them.
        self._own: frozenset[str] = frozenset()

    @cached_property
    def pools(self) -> Sequence[NodePool]:
        """Read when the first pod finds no node: most find one."""
        return self._read_pools()

    def run(self, unplaced_pods: list[UnplacedPod], own: Iterable[str] = ()) -> Iterator[PodOutcome]:
        """`own` are other pods of the same workloads, which are no use to move either."""
        self._own = frozenset([*own, *(unplaced.key for unplaced in unplaced_pods)])
        close = self._thorough or len(unplaced_pods) <= MOST_EXPLAINED_IN_FULL
        for unplaced in unplaced_pods:
            outcome = self._explain(unplaced, close)
            self._settle(outcome)
            yield outcome

    def _explain(self, unplaced: UnplacedPod, close: bool) -> PodOutcome:
        try:
            info = self.cluster.compiler.compile(unplaced.view)
        except MooringError as error:
            if not unplaced.errors:
                raise
            return PodOutcome(unplaced, message=f"it cannot be placed: {error}")
        unknowns = self._snapshot.unknowns(info)
        without_volumes(info, unknowns)
        without_claims(info, unknowns)
        outcome = self._judge(unplaced, info, close)
        outcome.unknowns = tuple(dict.fromkeys([*unplaced.unknowns, *(unknown.text for unknown in unknowns)]))
        return outcome

    def _judge(self, unplaced: UnplacedPod, info: PodInfo, close: bool) -> PodOutcome:
        if before := self._failed_before(info):
            return replace(before, unplaced=unplaced, like=before)
        if not close:
            placement = self.engine.place(info, self._start)
            if placement.slot >= 0:
                self._start = placement.next_start
                return PodOutcome(unplaced, placement.slot, self.cluster.names[placement.slot], info=info)
            if str(unplaced.source) in self._told and not self._may_preempt(info):
                self._start = placement.next_start
                return PodOutcome(unplaced, message=placement.message, info=info)
        return self._look_closely(unplaced, info)

    def _look_closely(self, unplaced: UnplacedPod, info: PodInfo) -> PodOutcome:
        explanation = self.engine.explain(info, self._start)
        self._start = explanation.next_start
        slot, preemption = explanation.chosen, explanation.preemption
        if slot < 0 and preemption is not None:
            slot = preemption.slot
        outcome = PodOutcome(unplaced, slot, "", explanation.message, None, info, explanation)
        outcome.node = self.cluster.names[slot] if slot >= 0 else ""
        outcome.blocked = blocked_groups(explanation)
        if self._each_node:
            outcome.causes = all_node_causes(explanation)
        if (explanation.chosen < 0 or info.gates) and (self._thorough or str(unplaced.source) not in self._told):
            self._told.setdefault(str(unplaced.source), unplaced.view.metadata.name)
            outcome.advice, is_complete = self._advice(unplaced, explanation)
            outcome.is_hopeless = is_complete and not outcome.advice
            if outcome.victims:
                # The scheduler makes room by itself: nobody evicts by hand what it would.
                outcome.advice = [advice for advice in outcome.advice if not advice.victims]
        if self._thorough:
            outcome.answer = explain_answer(self.cluster, explanation)
        return outcome

    def weigh(self, outcomes: Sequence[PodOutcome]) -> None:
        """Say of all advice how many pods of its workload it brings a place, once all pods have been placed."""
        by_workload: dict[str, list[PodOutcome]] = {}
        for outcome in outcomes:
            by_workload.setdefault(str(outcome.unplaced.source), []).append(outcome)
        for members in by_workload.values():
            if len(members) > 1 and any(o.advice for o in members) and not _is_known_by_name(members[0].unplaced.pod):
                self._weigh_workload(members)
        for outcome in outcomes:
            if outcome.like is not None:
                outcome.advice, outcome.replicas = outcome.like.advice, outcome.like.replicas

    def _weigh_workload(self, members: list[PodOutcome]) -> None:
        from mooring.placement.advise import WorkloadPod, weigh
        from mooring.placement.advise.ranking import disruptive_last

        replicas = [
            WorkloadPod(
                each.unplaced.key, each.unplaced.pod, each.unplaced.source.template_path, each.lands, _unit(each)
            )
            for each in members
            if not each.unplaced.errors
        ]
        if not replicas:
            # The API takes none of them, so that no change of nodes brings any.
            return
        for outcome in members:
            if outcome.advice and outcome.like is None and outcome.explanation is not None:
                asked = self._asked(outcome.unplaced, outcome.explanation)
                template = outcome.unplaced.source.template_path
                outcome.replicas = {
                    each.unplaced.key: each.unplaced.pod["metadata"].get("labels") or {} for each in members
                }
                outcome.advice = _useful(
                    outcome, members, weigh(self.engine, outcome.advice, asked, replicas, template)
                )
                outcome.advice = disruptive_last([*outcome.advice, *self._scaled(outcome, asked, members)])

    def _scaled(self, outcome: PodOutcome, asked: Asked, members: list[PodOutcome]) -> list[Advice]:
        """Fewer replicas, where some of them have a place."""
        from mooring.placement.advise.workload.scale import scaled

        source = outcome.unplaced.source
        kind = CATALOG.workloads().get(source.kind)
        if kind is None or not kind.scales or asked.workload is None or asked.workload.kind != source.kind:
            return []
        landed = frozenset(each.unplaced.key for each in members if each.lands)
        count, total = kind.whole_units(outcome.replicas, landed)
        return [scaled(asked.workload, total, count, landed)] if 0 < count < total else []

    def _asked(self, unplaced: UnplacedPod, explanation: Explanation) -> Asked:
        from mooring.placement.advise import Asked, CommandTarget

        source = unplaced.top_owner() or unplaced.source
        pod_path = f"/{source.template_path.replace('.', '/')}" if source.template_path else ""
        kind = CATALOG.workloads().get(source.kind)
        fixed, fields = ((), {}) if kind is None else (kind.fixed(source.manifest or {}), kind.fields)
        live = source.live and (kind is None or not kind.create_only)
        workload = CommandTarget(
            source.kind,
            source.name,
            source.namespace,
            pod_path,
            source.file,
            live,
            source.manifest,
            fixed,
            fields,
            self._told[str(unplaced.source)],
            "" if kind is None else kind.api_version,
        )
        return Asked(
            explanation,
            _as_judged(unplaced.pod, explanation.pod),
            workload,
            self._snapshot.priorities,
            self._own,
            self.pools,
        )

    def _advice(self, unplaced: UnplacedPod, explanation: Explanation) -> Advised:
        # Most pods land, and then there is no need to wait for the import.
        from mooring.placement.advise import advise

        return advise(self.engine, self._asked(unplaced, explanation), self._limit)

    def _settle(self, outcome: PodOutcome) -> None:
        """Apply the outcome to the cluster: bind the pod and remove its victims."""
        if outcome.info is None or outcome.like is not None:
            return
        if outcome.lands:
            for victim in outcome.victims:
                self.cluster.remove_pod(victim.key)
            assume(self.cluster, reservation(self.cluster, outcome.info, outcome.slot))
            self.cluster.bind(outcome.info, outcome.slot)
            self._failed.clear()
        elif not outcome.unplaced.errors and not outcome.gates:
            self._failed.append(outcome)

    def _failed_before(self, info: PodInfo) -> PodOutcome | None:
        """An identical pod that failed, with nothing changed since."""
        for outcome in self._failed:
            other = outcome.info
            assert other is not None
            if (
                info.template is other.template
                and info.labels is other.labels
                and info.volumes == other.volumes
                and info.claims == other.claims
                and (info.namespace, info.priority, info.preempts, info.owner, info.gates, info.nominated)
                == (other.namespace, other.priority, other.preempts, other.owner, other.gates, other.nominated)
            ):
                return outcome
        return None

    def _may_preempt(self, info: PodInfo) -> bool:
        return info.preempts and any(p.priority < info.priority for p in self.cluster.pods.values())


def _useful(outcome: PodOutcome, members: list[PodOutcome], weighed: list[Advice]) -> list[Advice]:
    """Without advice that brings the workload no more pods, or no more whole units, where other advice does."""
    kind = CATALOG.workloads().get(outcome.unplaced.source.kind)
    if kind is None:
        return weighed
    now, _ = kind.whole_units(outcome.replicas, {each.unplaced.key for each in members if each.lands})
    more = [
        advice
        for advice in weighed
        if advice.brings is None or kind.whole_units(outcome.replicas, advice.brings)[0] > now
    ]
    return more or weighed


def _unit(outcome: PodOutcome) -> str:
    kind = CATALOG.workloads().get(outcome.unplaced.source.kind)
    if kind is None or kind.unit is None:
        return ""
    return kind.unit.of(outcome.unplaced.pod["metadata"].get("labels") or {})


def _is_known_by_name(pod: Object) -> bool:
    """Whether claims are made for a pod under its name, so that it cannot be tried under another."""
    spec = pod["spec"]
    return bool(spec.get("resourceClaims")) or any("ephemeral" in volume for volume in spec.get("volumes") or ())


def _as_judged(pod: Object, info: PodInfo) -> Object:
    """The pod without the claims that it was judged without: proposals are tried on what was judged."""
    if references := pod["spec"].get("resourceClaims"):
        names = {claim.name for claim in info.claims}
        kept = [reference for reference in references if reference["name"] in names]
        pod = {**pod, "spec": {**pod["spec"], "resourceClaims": kept}}
    volumes = pod["spec"].get("volumes")
    if not volumes:
        return pod
    judged = {volume.name for volume in info.volumes}
    kept = [v for v in volumes if v["name"] in judged or not (v.get("persistentVolumeClaim") or v.get("ephemeral"))]
    return {**pod, "spec": {**pod["spec"], "volumes": kept}}


def _raised(advice: Iterable[Advice]) -> list[NodePool]:
    """The pools that advice is to raise already."""
    return [part.pool for each in advice for part in each.parts or (each,) if part.pool is not None]


def all_land(outcomes: Iterable[PodOutcome]) -> bool:
    """Whether every pod lands, as far as is known."""
    return all(outcome.lands for outcome in outcomes)


def verdict(outcomes: Sequence[PodOutcome], *, held_up: bool) -> Verdict:
    """Of all pods together: one pod that cannot land outweighs any that may."""
    if held_up or not all_land(outcomes):
        return "cannot"
    return "may" if any(outcome.may_land for outcome in outcomes) else "lands"


def add_pool_notes(outcomes: Iterable[PodOutcome], pools: Collection[NodePool], decisions: Mapping[str, str]) -> None:
    """Tell of the pools that would bring nodes for pods that find none, and why none is made for them."""
    report = CATALOG.pool_report() if decisions else None
    for outcome in outcomes:
        if outcome.slot < 0:
            view = outcome.unplaced.view
            outcome.unplaced.notes += pool_notes(view, [pool for pool in pools if pool not in _raised(outcome.advice)])
            outcome.unplaced.notes += (
                () if report is None else report.pod_notes(decisions, view.spec.node_selector or {})
            )
