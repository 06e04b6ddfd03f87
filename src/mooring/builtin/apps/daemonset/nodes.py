"""Which nodes a DaemonSet wants: those that its pods' selector and affinity choose and whose taints they tolerate.

Only names, labels and taints of nodes are followed, so that nothing else about a node wakes a DaemonSet. An answer is
kept per question and node, and a node that changes is asked about anew, alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mooring.api.core.types import Toleration
from mooring.api.core.views import Node
from mooring.api.kinds import Kind
from mooring.placement.plugins.taints import tolerated, untolerated
from mooring.placement.pods import NodeTerms
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.workloads.kinds import NODE

# Questions of DaemonSets that were asked longest ago are forgotten beyond this many.
_MAX_DEMANDS = 256


class Demand(NamedTuple):
    """What a DaemonSet's template asks of a node."""

    node_name: str
    terms: NodeTerms | None
    tolerations: tuple[Toleration, ...]


class NodeVerdict(NamedTuple):
    """Whether a pod shall be on a node, and whether one that is there may stay."""

    run: bool
    stay: bool


_NEVER = NodeVerdict(run=False, stay=False)


class Nodes:
    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._answers: dict[Demand, dict[str, NodeVerdict]] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        name = change.key.name
        if change.new is None:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = change.new
        if _essence(change.old) == _essence(change.new):
            return False
        for answers in self._answers.values():
            answers.pop(name, None)
        return True

    def facts(self) -> object:
        """All that an answer may depend on."""
        return dict(self._nodes)

    def verdicts(self, demand: Demand) -> Mapping[str, NodeVerdict]:
        """The verdict on every node there is."""
        answers = self._answers.pop(demand, None)
        if answers is None:
            answers = {}
            if len(self._answers) >= _MAX_DEMANDS:
                del self._answers[next(iter(self._answers))]
        self._answers[demand] = answers
        if len(answers) < len(self._nodes):
            for name, node in self._nodes.items():
                if name not in answers:
                    answers[name] = judge(demand, node)
        return answers


def _essence(node: Node | None) -> Any:
    return None if node is None else (node.metadata.labels, node.spec.taints)


def judge(demand: Demand, node: Node) -> NodeVerdict:
    if not selects(demand, node.metadata.name, node.metadata.labels):
        return _NEVER
    taints = node.spec.taints or ()
    if not untolerated(demand.tolerations, taints):
        return NodeVerdict(run=True, stay=True)
    # What keeps new pods away does not drive off those that are there.
    return NodeVerdict(False, all(tolerated(demand.tolerations, t) for t in taints if t.effect == "NoExecute"))


def selects(demand: Demand, name: str, labels: Mapping[str, str]) -> bool:
    """Whether the template chooses a node, whatever its taints are."""
    if demand.node_name not in ("", name):
        return False
    terms = demand.terms
    if terms is None:
        return True
    if not all(labels.get(key) == value for key, value in terms.node_selector):
        return False
    return terms.terms is None or any(term.matches(labels, name) for term in terms.terms)


NODES = Fold("daemon-nodes", (NODE,), Nodes, Nodes.change, facts=Nodes.facts)
