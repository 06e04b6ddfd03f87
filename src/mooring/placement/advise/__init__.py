"""What would help: the smallest changes that let a rejected pod in, each confirmed by the engine.

`advise` is complete for fixes of one change. It looks at nodes that one thing alone rejects, because only those are one
change away, derives the changes that would lift that one thing, and asks the engine about each before it is shown.
The cluster is left exactly as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mooring.kube.objects import Object
from mooring.placement.advise.gates import gates, unreadable
from mooring.placement.advise.model import Advice, AdviceKind, CommandTarget, Edit
from mooring.placement.advise.newnode import new_node
from mooring.placement.advise.nodelabels import labels
from mooring.placement.advise.nodeside import uncordon, untaint
from mooring.placement.advise.podaffinity import pod_affinity
from mooring.placement.advise.ports import ports
from mooring.placement.advise.priority import priorities
from mooring.placement.advise.ranking import ranked
from mooring.placement.advise.removals import removals
from mooring.placement.advise.requests import requests
from mooring.placement.advise.residents import Residents
from mooring.placement.advise.search import Search
from mooring.placement.advise.selectors import node_name, selectors
from mooring.placement.advise.spreading import spreading
from mooring.placement.advise.tolerations import tolerations
from mooring.placement.engine import Engine, Explanation

__all__ = ["Advice", "AdviceKind", "CommandTarget", "Edit", "advise"]


def advise(
    engine: Engine,
    explanation: Explanation,
    pod: Object,
    workload: CommandTarget | None = None,
    limit: int = 10,
    priority_classes: Mapping[str, int] | None = None,
) -> list[Advice]:
    """Changes of one edit that let `pod` in, best first; none for a pod that has a place already.

    `pod` is the object behind `explanation.pod`. `priority_classes` are the names and values that the cluster knows.
    """
    if not engine.cluster.node_count:
        return []
    search = Search(engine, explanation, pod, workload)
    return ranked((each for each in _found(search, priority_classes) if _can_follow(each, workload)), limit)


def _can_follow(advice: Advice, workload: CommandTarget | None) -> bool:
    """Whether it edits no part of the pod that its author cannot."""
    return workload is None or all(edit.target != "pod" or workload.can_edit(edit) for edit in advice.edits)


def _found(search: Search, priority_classes: Mapping[str, int] | None) -> Iterator[Advice]:
    explanation = search.explanation
    if explanation.rejected is not None:
        yield from selectors(search)
        yield from unreadable(search)
        return
    if explanation.feasible.size:
        if explanation.error and explanation.pod.template.score_error:
            yield from unreadable(search)
        elif explanation.pod.gates:
            yield from gates(search)
        return
    selected = list(selectors(search))
    yield from selected
    yield from tolerations(search)
    yield from node_name(search)
    yield from requests(search)
    yield from ports(search)
    yield from spreading(search)
    yield from pod_affinity(search)
    yield from uncordon(search)
    yield from labels(search, misspelt=any(advice.kind is AdviceKind.CORRECT for advice in selected))
    yield from untaint(search)
    yield from new_node(search)
    residents = Residents(search)
    yield from priorities(search, residents, priority_classes or {})
    yield from removals(search, residents)
