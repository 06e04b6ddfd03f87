"""Relax a required pod affinity or anti-affinity term of the pod: make it a preference, or correct its topology key."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import Search
from mooring.placement.advise.spreading import misspelt_topology
from mooring.placement.filters import ALONE, REPELLED

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

# The strongest wish there is: what was required is wanted most.
WEIGHT = 100


def pod_affinity(search: Search) -> Iterator[Advice]:
    if not search.only(ALONE, REPELLED).any():
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
    advice = search.on_pod(
        AdviceKind.RELAX,
        f"Prefer instead of require {words} term {index} ({_selected(term)} per {term.get('topologyKey')})",
        Edit("pod", "relax", pointer("spec", "affinity", field, REQUIRED, index), term, None),
        Edit("pod", "relax", pointer("spec", "affinity", field, PREFERRED, "-"), None, wish),
    )
    if advice is not None:
        yield advice


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
