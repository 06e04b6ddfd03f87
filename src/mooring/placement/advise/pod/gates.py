"""What stops a pod before, or after, the filters: scheduling gates, and terms that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import Search

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODE_PREFERRED = ("spec", "affinity", "nodeAffinity", PREFERRED)

_LEADING_INTEGER = re.compile(r"\s*([+-]?[0-9]+)").match


def gates(search: Search) -> Iterator[Advice]:
    """A scheduling gate is removed by the controller that added it; a pod that would land waits for nothing else."""
    present = search.spec.get("schedulingGates") or []
    names = ", ".join(str(gate.get("name")) for gate in present)
    noun, them = ("gate", "it") if len(present) == 1 else ("gates", "them")
    edit = Edit("pod", "drop", pointer("spec", "schedulingGates"), present, None)
    title = f"Remove scheduling {noun} {names}, where the controller that added {them} does not"
    advice = search.on_pod(AdviceKind.UNGATE, title, edit)
    if advice is not None:
        yield advice


def unreadable(search: Search) -> Iterator[Advice]:
    """Terms that pass the API and fail every attempt: a Gt against "many", a selector that no label can match."""
    affinity = search.spec.get("affinity") or {}
    for i, term in enumerate((affinity.get("nodeAffinity") or {}).get(PREFERRED) or ()):
        yield from _bounds(search, i, term)
    for path, words, terms in _lists(search.spec, affinity):
        helped = False
        for i, term in enumerate(terms):
            edit = Edit("pod", "drop", pointer(*path, i), term, None)
            advice = search.on_pod(AdviceKind.DROP, f"Drop {words} {i}, which cannot be read", edit)
            if advice is not None:
                helped = True
                yield advice
        # Where one alone is to blame, the others stay.
        if len(terms) > 1 and not helped:
            edit = Edit("pod", "drop", pointer(*path), terms, None)
            advice = search.on_pod(AdviceKind.DROP, f"Drop every {words}", edit)
            if advice is not None:
                yield advice


def _lists(spec: Object, affinity: Object) -> Iterator[tuple[tuple[str, ...], str, list[Object]]]:
    for field, words in (
        ("nodeAffinity", "node affinity"),
        ("podAffinity", "pod affinity"),
        ("podAntiAffinity", "pod anti-affinity"),
    ):
        for strength, prefix in ((REQUIRED, "required"), (PREFERRED, "preferred")):
            terms = (affinity.get(field) or {}).get(strength)
            if isinstance(terms, list):
                yield ("spec", "affinity", field, strength), f"{prefix} {words} term", terms
    constraints = spec.get("topologySpreadConstraints")
    if constraints:
        yield ("spec", "topologySpreadConstraints"), "spread constraint", constraints


def _bounds(search: Search, index: int, term: Object) -> Iterator[Advice]:
    for j, body in enumerate((term.get("preference") or {}).get("matchExpressions") or ()):
        values: list[str] = body.get("values") or []
        if body.get("operator") not in ("Gt", "Lt") or len(values) != 1:
            continue
        found = _LEADING_INTEGER(str(values[0]))
        number = None if found is None else found.group(1)
        if number is None or number == values[0]:
            continue
        path = pointer(*NODE_PREFERRED, index, "preference", "matchExpressions", j, "values", 0)
        advice = search.on_pod(
            AdviceKind.CORRECT,
            f'Correct preferred node affinity term {index}, {body.get("key")} {body["operator"]} "{values[0]}" '
            f'to a whole number: "{number}"',
            Edit("pod", "replace", path, values[0], number),
        )
        if advice is not None:
            yield advice
