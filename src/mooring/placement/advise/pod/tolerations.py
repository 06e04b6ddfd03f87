"""Tolerations: one that covers the taints which alone keep the pod off some nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant
from mooring.placement.advise.nodes.conditions import UNSCHEDULABLE, is_condition
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import MAX_TRIES, Search
from mooring.placement.filters import CORDONED, TAINTED
from mooring.placement.labels import Mask
from mooring.placement.plugins.taints import UNSCHEDULABLE_TAINT, taint_text, tolerated, untolerated

MAX_ADVICE = 4

Taints = tuple[Taint, ...]


def tolerations(search: Search) -> Iterator[Advice]:
    spreading = search.spreading(by_taints=True)
    near = search.only(TAINTED, CORDONED, *spreading)
    if not near.any():
        return
    found: Counter[Taints] = Counter()
    for taints, count in blocking(search, near).items():
        for part in _by_key(taints) if TAINTED in search.ignored else (taints,) if _one_key(taints) else ():
            found[part] += count
    if spreading:
        # Spreading that honours taints may be helped by any node that it counts from then on.
        for taints in blocking(search, search.cluster.valid):
            for taint in taints:
                found[(taint,)] += 0
    shown = 0
    for taints, _ in sorted(found.items(), key=lambda item: -item[1])[:MAX_TRIES]:
        yield from _corrected(search, taints)
        toleration = _toleration(taints)
        names = " and ".join(map(taint_text, taints))
        edit = Edit("pod", "tolerate", pointer("spec", "tolerations", "-"), None, toleration)
        advice = search.on_pod(
            AdviceKind.TOLERATE,
            f"Tolerate taint {names}" if len(taints) == 1 else f"Tolerate taints {names}",
            edit,
            last_resort=any(is_condition(t) or t.key == UNSCHEDULABLE for t in taints),
        )
        if advice is not None:
            yield advice
            shown += not advice.last_resort
            if shown == MAX_ADVICE:
                return


def blocking(search: Search, mask: Mask) -> Counter[Taints]:
    """The taints that keep the pod off the nodes of `mask`, with how many nodes each combination blocks.

    A cordoned node counts as tainted even before its taint has arrived: the same toleration admits to both.
    """
    cluster = search.cluster
    tolerations = search.info.template.tolerations
    cordoned = cluster.unschedulable[mask] & (not tolerated(tolerations, UNSCHEDULABLE_TAINT))
    pairs, counts = np.unique(cluster.taint_set[mask].astype(np.int64) * 2 + cordoned, return_counts=True)
    found: Counter[Taints] = Counter()
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        taints = untolerated(tolerations, cluster.taint_sets[pair // 2])
        if pair % 2 and all(t.key != UNSCHEDULABLE for t in taints):
            taints.insert(0, UNSCHEDULABLE_TAINT)
        if taints:
            found[tuple(taints)] += count
    return found


def _corrected(search: Search, taints: Taints) -> Iterator[Advice]:
    """A toleration that the pod has and that was meant for these taints: one field of it is misspelt."""
    for index, there in enumerate(search.spec.get("tolerations") or ()):
        for field, wanted in (("key", taints[0].key), ("value", taints[0].value), ("effect", taints[0].effect)):
            before = there.get(field) or ""
            if before and wanted and before != wanted and meant(before, [wanted]) == wanted:
                path = pointer("spec", "tolerations", index, field)
                advice = search.on_pod(
                    AdviceKind.CORRECT,
                    f'Correct the {field} of toleration {index} from "{before}" to "{wanted}"',
                    Edit("pod", "replace", path, before, wanted),
                )
                if advice is not None:
                    yield advice


def _one_key(taints: Taints) -> bool:
    return len({t.key for t in taints}) == 1


def _by_key(taints: Taints) -> list[Taints]:
    """The taints that one toleration each would be for."""
    return [tuple(t for t in taints if t.key == key) for key in dict.fromkeys(t.key for t in taints)]


def _toleration(taints: Taints) -> Object:
    """The narrowest toleration for taints of one key."""
    toleration: Object = {"key": taints[0].key}
    if taints[0].value and len({t.value for t in taints}) == 1:
        toleration |= {"operator": "Equal", "value": taints[0].value}
    else:
        toleration["operator"] = "Exists"
    if len({t.effect for t in taints}) == 1:
        toleration["effect"] = taints[0].effect
    return toleration
