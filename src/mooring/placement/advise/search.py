"""The search for advice: candidate edits, each confirmed by the engine before it is advice.

A `Search` holds one rejected pod and one cluster. A candidate is a list of edits; the search applies them to a
copy of the pod, or to the cluster for the length of a `with` block, asks the engine which nodes take the pod then, and
makes an `Advice` of it only if there are some.

A search that ignores some reasons finds changes that help but for these: the first change of a set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np

from mooring.api.core.types import Node, Pod
from mooring.kube.objects import Object
from mooring.placement.advise import commands
from mooring.placement.advise.model import MAX_NAMED, Advice, AdviceKind, CommandTarget, Edit
from mooring.placement.advise.pointers import edited
from mooring.placement.engine import Engine, Explanation, Slots
from mooring.placement.filters import CROWDED, NO_TOPOLOGY, Filters
from mooring.placement.labels import Mask
from mooring.placement.node_pools import NodePool
from mooring.placement.pods import NodeTerms, PodInfo
from mooring.placement.verdicts import Reason, Verdicts

# How many ideas of one kind are put to the engine before the search gives up on them.
MAX_TRIES = 24
# How many nodes one set of changes may add while it is searched for: that of a pool, and one like another node.
_NEW_NODES = 2


class Search:
    def __init__(
        self,
        engine: Engine,
        explanation: Explanation,
        pod: Object,
        workload: CommandTarget | None,
        own: Collection[str] = (),
        ignored: frozenset[Reason] = frozenset(),
        pools: Sequence[NodePool] = (),
        among: frozenset[str] = frozenset(),
        imagined: frozenset[str] = frozenset(),
        changed: frozenset[str] = frozenset(),
    ) -> None:
        self.engine = engine
        # The pods of the workload itself, and others that are only imagined: nobody can make room by deleting them.
        self.own = own
        self.ignored = ignored
        # Pools that may be raised.
        self.pools = pools
        # The new nodes of a pool that is raised, which are to take the pod; empty where any node may.
        self.among = among
        # Nodes that are not there yet: they are neither changed nor imitated.
        self.imagined = among | imagined
        # Nodes that earlier changes are of: one more like that would not need the change of the old one.
        self._changed = changed
        self.cluster = engine.cluster
        self.explanation = explanation
        self.pod = pod
        self.spec: Object = pod.get("spec") or {}
        self.workload = workload
        self.info: PodInfo = explanation.pod
        self._selected: dict[str, frozenset[str]] = {}
        # A new node needs a slot; making them now keeps all masks of this search, and of those within, the same size.
        self.cluster.reserve(self.cluster.node_count + (0 if among else _NEW_NODES - 1))

    @cached_property
    def _judged(self) -> tuple[Filters, Verdicts]:
        filters, verdicts = self.explanation.filters, self.explanation.verdicts
        if filters is None or verdicts is None or verdicts.bits.size != self.cluster.size:
            return self.engine.judge(self.info)
        return filters, verdicts

    @property
    def filters(self) -> Filters:
        return self._judged[0]

    @property
    def verdicts(self) -> Verdicts:
        return self._judged[1]

    def ignoring(self, reasons: frozenset[Reason]) -> Search:
        return self._with(self.explanation, self.pod, ignored=reasons, among=self.among)

    def after_change(
        self, explanation: Explanation, pod: Object, among: frozenset[str], changed: frozenset[str]
    ) -> Search:
        """The search for what is left once a change is made. A pool is raised once."""
        return self._with(explanation, pod, among=self.among | among, changed=self._changed | changed)

    def _with(
        self,
        explanation: Explanation,
        pod: Object,
        *,
        among: frozenset[str],
        ignored: frozenset[Reason] = frozenset(),
        changed: frozenset[str] = frozenset(),
    ) -> Search:
        pools = () if among else self.pools
        found = Search(self.engine, explanation, pod, self.workload, self.own, ignored, pools, among, changed=changed)
        found._selected = self._selected
        return found

    def stays(self, pod: PodInfo) -> bool:
        """Whether a pod cannot be made to go: DaemonSets' and static ones come back to the same node."""
        return pod.key in self.own or (pod.owner is not None and pod.owner.kind in ("DaemonSet", "Node"))

    def selected_values(self, key: str) -> frozenset[str]:
        """The values of a label by which pods of the cluster select their nodes."""
        if key not in self._selected:
            templates = {id(pod.template): pod.template for pod in self.cluster.pods.values()}
            found = (_values_of(template.node_terms, key) for template in templates.values() if template.node_terms)
            self._selected[key] = frozenset(value for values in found for value in values)
        return self._selected[key]

    # Which nodes are near

    @property
    def candidates(self) -> Mask:
        """Nodes that may take the pod."""
        if not self.among:
            return self.cluster.valid
        mask = np.zeros(self.cluster.size, dtype=np.bool_)
        mask[[self.cluster.slots[name] for name in self.among]] = True
        return mask

    def there(self, slots: Slots) -> Slots:
        """The nodes that are there already."""
        if not self.imagined:
            return slots
        return slots[[self.cluster.names[slot] not in self.imagined for slot in slots.tolist()]]

    def imitable(self, slots: Slots) -> Slots:
        """The nodes that one more may be like."""
        slots = self.there(slots)
        return slots[[self.cluster.names[slot] not in self._changed for slot in slots.tolist()]]

    @cached_property
    def _bit_of(self) -> dict[Reason, int]:
        found: dict[Reason, int] = {}
        for i, reason in enumerate(self.verdicts.reasons):
            found[reason] = found.get(reason, 0) | 1 << i
        return found

    def bits(self, reasons: Iterable[Reason]) -> int:
        known = self._bit_of
        return sum(known.get(reason, 0) for reason in set(reasons))

    def only(self, *reasons: Reason) -> Mask:
        """Nodes that nothing but some of these rejects, and what is ignored."""
        bits, lifted = self.verdicts.bits, self.bits(reasons)
        mask: Mask = self.candidates & (bits & lifted != 0) & (bits & ~(lifted | self.bits(self.ignored)) == 0)
        return mask

    def spreading(self, *, by_taints: bool = False, by_affinity: bool = False) -> tuple[Reason, ...]:
        """The spread verdicts, where a change of taints or of selected nodes changes what the constraints count."""
        for constraint in self.info.template.spread_hard:
            if (by_taints and constraint.honor_taints) or (by_affinity and constraint.honor_affinity):
                return NO_TOPOLOGY, CROWDED
        return ()

    def rivals(self, slot: int) -> list[PodInfo]:
        """Pods for which room on a node is kept, because they are nominated to it and no less important."""
        nominated = self.cluster.nominated.get(self.cluster.names[slot], {})
        return [p for p in nominated.values() if p.priority >= self.info.priority and p.key != self.info.key]

    @property
    def independent(self) -> bool:
        """Whether a node's verdict depends on no other node's taints and labels."""
        return self.filters.spread is None and self.filters.interpod is None

    # Asking the engine

    def compile(self, pod: Object) -> PodInfo:
        return self.cluster.compiler.compile(msgspec.convert(pod, Pod))

    def takers(self, info: PodInfo) -> Mask:
        """Nodes that would take a pod. One that cannot be scored goes to the only node that fits, or nowhere."""
        if self.ignored:
            return self._nearly_takers(info)
        mask = self.engine.fits(info)
        if self.among:
            mask = mask & self.candidates
        if info.template.score_error and np.count_nonzero(mask) > 1:
            return np.zeros(self.cluster.size, dtype=np.bool_)
        return mask

    def _nearly_takers(self, info: PodInfo) -> Mask:
        """Nodes that nothing rejects but what is ignored."""
        if info.template.rejection is not None:
            return np.zeros(self.cluster.size, dtype=np.bool_)
        _, verdicts = self.engine.judge(info)
        ignored = sum(1 << i for i, reason in enumerate(verdicts.reasons) if reason in self.ignored)
        mask: Mask = self.candidates & (verdicts.bits & ~ignored == 0)
        return mask

    def takers_of(self, edits: Sequence[Edit]) -> Mask:
        return self.takers(self.compile(edited(self.pod, edits)))

    def changed_node(self, slot: int, edits: Sequence[Edit]) -> Node:
        node: Object = msgspec.to_builtins(self.cluster.nodes[slot])
        return msgspec.convert(edited(node, edits), Node)

    def named(self, slots: Slots) -> tuple[str, ...]:
        return tuple(self.cluster.names[slot] for slot in slots[:MAX_NAMED].tolist())

    def in_order(self, mask: Mask) -> Slots:
        order = self.cluster.order
        return order[mask[order]]

    # Advice

    def on_pod(self, kind: AdviceKind, title: str, *edits: Edit, last_resort: bool = False) -> Advice | None:
        """Advice to edit the pod, if that lets it in somewhere."""
        mask = self.takers_of(edits)
        if not mask.any():
            return None
        slots = self.in_order(mask)
        command = commands.patch(self.workload, self.pod, edits)
        return Advice(kind, title, edits, command, self.named(slots), int(slots.size), last_resort=last_resort)

    def after(self, nodes: Sequence[Node] = (), without: Sequence[str] = ()) -> tuple[tuple[str, ...], int]:
        """The nodes that would take the pod in a changed cluster, and how many they are."""
        with self.cluster.pretending(nodes, without):
            mask = self.takers(self.info)
            if not mask.any():
                return (), 0
            slots = self.in_order(mask)
            return self.named(slots), int(slots.size)


def _values_of(terms: NodeTerms, key: str) -> Iterator[str]:
    """The values of a label that nodes are selected by."""
    yield from (value for wanted, value in terms.node_selector if wanted == key)
    for term in terms.terms or ():
        for requirement in term.labels.requirements:
            if requirement.key == key and requirement.op == "In":
                yield from requirement.values
