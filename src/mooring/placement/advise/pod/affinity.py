"""Relax a required pod affinity or anti-affinity term of the pod: make it a preference, or correct its topology key."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.pod.spreading import misspelt_topology
from mooring.placement.advise.pointers import edited, pointer
from mooring.placement.advise.search import Search
from mooring.placement.filters import ALONE, REPELLED, UNWELCOME
from mooring.placement.pods import CompiledTemplate, PodInfo

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

# The strongest wish there is: what was required is wanted most.
WEIGHT = 100


def pod_affinity(search: Search) -> Iterator[Advice]:
    if not search.only(ALONE, REPELLED, *(() if _is_live(search) else (UNWELCOME,))).any():
        return
    affinity = search.spec.get("affinity") or {}
    for field, words in (("podAffinity", "pod affinity"), ("podAntiAffinity", "pod anti-affinity")):
        for index, term in enumerate((affinity.get(field) or {}).get(REQUIRED) or ()):
            yield from _key(search, field, words, index, term)
            yield from _prefer(search, field, words, index, term)


def _key(search: Search, field: str, words: str, index: int, term: Object) -> Iterator[Advice]:
    key = str(term.get("topologyKey") or "")
    other = misspelt_topology(search, key)
    if other is not None:
        advice = search.on_pod(
            AdviceKind.CORRECT,
            f'Correct topologyKey of required {words} term {index} from "{key}" to "{other}"',
            Edit("pod", "replace", pointer("spec", "affinity", field, REQUIRED, index, "topologyKey"), key, other),
        )
        if advice is not None:
            yield advice


def _prefer(search: Search, field: str, words: str, index: int, term: Object) -> Iterator[Advice]:
    wish = {"weight": WEIGHT, "podAffinityTerm": term}
    edits = (
        Edit("pod", "relax", pointer("spec", "affinity", field, REQUIRED, index), term, None),
        Edit("pod", "relax", pointer("spec", "affinity", field, PREFERRED, "-"), None, wish),
    )
    title = f"Prefer instead of require {words} term {index} ({_selected(term)} per {term.get('topologyKey')})"
    with _replicas_changed(search, edits):
        advice = search.on_pod(AdviceKind.RELAX, title, *edits)
    if advice is not None:
        yield advice


def _is_live(search: Search) -> bool:
    return search.workload is not None and search.workload.live


@contextmanager
def _replicas_changed(search: Search, edits: Sequence[Edit]) -> Iterator[None]:
    """Replicas that were placed before the pod, changed as the pod is: a term that they have too keeps it off.

    Those that run already are left as they are. They are renewed one by one, and the first that is new meets the terms
    of all that are old.
    """
    before = [] if _is_live(search) else _placed_replicas(search)
    if not before:
        yield
        return
    template = search.compile(edited(search.pod, edits)).template
    with search.cluster.pretending((), [pod.key for pod in before]):
        changed = [_with_template(pod, template) for pod in before]
        for pod in changed:
            search.cluster.bind(pod, search.cluster.slots[pod.node_name])
        try:
            yield
        finally:
            for pod in reversed(changed):
                search.cluster.remove_pod(pod.key)


def _placed_replicas(search: Search) -> list[PodInfo]:
    found = (search.cluster.pods.get(key) for key in sorted(search.own))
    return [pod for pod in found if pod is not None and pod.node_name and pod.template is search.info.template]


def _with_template(pod: PodInfo, template: CompiledTemplate) -> PodInfo:
    """Under another name, so that it is not taken for the one that is there."""
    changed = copy.copy(pod)
    changed.key, changed.template = f"{pod.key}-changed", template
    return changed


def _selected(term: Object) -> str:
    """What a term selects, in the words of a label selector."""
    selector = term.get("labelSelector")
    if selector is None:
        return "no pods"
    parts = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or ():
        values = expression.get("values") or ()
        words = f"{expression.get('key')} {expression.get('operator')}"
        parts.append(f"{words} [{', '.join(values)}]" if values else words)
    return ", ".join(parts) or "all pods"
