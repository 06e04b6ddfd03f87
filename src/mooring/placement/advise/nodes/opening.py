"""Open a node: uncordon it, or take away the one taint that keeps the pod off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mooring.api.core.defaults.tolerations import UNREACHABLE
from mooring.api.core.types import Taint
from mooring.placement.advise import commands as kubectl
from mooring.placement.advise.model import MAX_NAMED, Advice, AdviceKind, Edit
from mooring.placement.advise.nodes.conditions import UNSCHEDULABLE, is_away, is_condition
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import Search
from mooring.placement.engine import Slots
from mooring.placement.filters import CORDONED, TAINTED
from mooring.placement.labels import Mask
from mooring.placement.plugins.taints import taint_text, untolerated
from mooring.placement.writes import Commands

# How many taints are shown, and how many are tried: more than shown only where spreading comes into it.
MAX_SHOWN = 4
MAX_TAINTS = 8
# On how many nodes an edit is tried. Only where nodes depend on each other does one that looks right turn out wrong,
# and there each alternative costs a question of its own.
MAX_NODES = 6
MAX_SINGLE = 4
# Of how many nodes together the edit is proposed to a workload that one of them is too few for.
MAX_TOGETHER = 8

Edits = tuple[Edit, ...]


def on_nodes(
    search: Search,
    kind: AdviceKind,
    slots: Slots,
    edits: Callable[[int], Edits],
    title: Callable[[str], str],
    commands: Callable[[Sequence[str], Edits], Commands],
    *,
    independent: bool,
    last_resort: bool = False,
) -> Advice | None:
    """The same edit for one of many nodes: the first that helps, and how many others would do as well.

    Nodes are independent where the edit of one changes nothing about the verdict on another. `title` is given "node a",
    or "nodes a and b" for the same edit of several, which a workload may need.
    """
    slots = search.there(slots)
    listed = slots[:MAX_NODES].tolist()
    for position, slot in enumerate(listed):
        chosen = edits(slot)
        nodes, count = search.after((search.changed_node(slot, chosen),))
        if not count:
            continue
        others, other_count = _others(search, slots[position + 1 :], edits, independent)
        name = search.cluster.names[slot]
        words = title(f"node {name}")
        if other_count:
            words += f" (or node {others[0]})" if other_count == 1 else f" (or one of {other_count} other nodes)"
        wider = []
        # A set of changes begins with one node.
        for more in range(1, 0 if search.ignored else min(len(others), MAX_TOGETHER - 1) + 1):
            names = [name, *others[:more]]
            changed = tuple(edit for each in names for edit in edits(search.cluster.slots[each]))
            opened = tuple(dict.fromkeys([*nodes, *names]))
            phrase = f"nodes {', '.join(names[:-1])} and {names[-1]}"
            wider.append(Advice(kind, title(phrase), changed, commands(names, changed), opened, len(opened)))
        return Advice(
            kind,
            words,
            chosen,
            commands([name], chosen),
            nodes,
            count,
            alternatives=others,
            alternative_count=other_count,
            last_resort=last_resort,
            wider=tuple(wider),
        )
    return None


def _others(
    search: Search, slots: Slots, edits: Callable[[int], Edits], independent: bool
) -> tuple[tuple[str, ...], int]:
    names = search.cluster.names
    if not independent:
        alone = [
            names[slot]
            for slot in slots[:MAX_SINGLE].tolist()
            if names[slot] in search.after((search.changed_node(slot, edits(slot)),))[0]
        ]
        return tuple(alone), len(alone)
    few = slots[:MAX_NAMED].tolist()
    if not few:
        return (), 0
    open_now, _ = search.after([search.changed_node(slot, edits(slot)) for slot in few])
    confirmed = tuple(names[slot] for slot in few if names[slot] in open_now)
    # Verdicts of independent nodes are of one kind: where all that were asked agree, the rest does.
    return confirmed, int(slots.size) if len(confirmed) == len(few) else len(confirmed)


def _blocking(search: Search) -> list[list[Taint]]:
    """The taints of each distinct set that the pod does not tolerate."""
    tolerations = search.info.template.tolerations
    return [untolerated(tolerations, taints) for taints in search.cluster.taint_sets]


def _where(search: Search, sets: Sequence[bool]) -> Mask:
    mask: Mask = np.array(sets, dtype=np.bool_)[search.cluster.taint_set]
    return mask


def _first_then(search: Search, near: Mask, others: Mask) -> Slots:
    """Nodes that would take the pod themselves, then those whose change may help elsewhere through spreading."""
    spreading = search.spreading(by_taints=True)
    rest = search.in_order(others & ~near) if spreading else np.zeros(0, dtype=np.int64)
    return np.concatenate((search.in_order(near), rest))


def uncordon(search: Search) -> Iterator[Advice]:
    """`kubectl uncordon` clears the field, and the node controller takes the taint away with it."""
    cordoned = search.cluster.valid & search.engine.matching.cordoned(search.info.template.tolerations)
    if not cordoned.any():
        return
    others_are_ignored = TAINTED in search.ignored
    lifted = _where(
        search, [others_are_ignored or all(t.key == UNSCHEDULABLE for t in taints) for taints in _blocking(search)]
    )
    near = cordoned & lifted & search.only(CORDONED, TAINTED, *search.spreading(by_taints=True))

    def edits(slot: int) -> Edits:
        node = search.cluster.nodes[slot]
        assert node is not None
        target = f"node/{node.metadata.name}"
        field = Edit(target, "uncordon", pointer("spec", "unschedulable"), True, False)
        taints = node.spec.taints or ()
        # Higher indices first, so that a removal does not move the next one.
        listed = [(i, taint) for i, taint in enumerate(taints) if taint.key == UNSCHEDULABLE][::-1]
        return (field, *(_taint_edit(target, "uncordon", i, taint) for i, taint in listed))

    advice = on_nodes(
        search,
        AdviceKind.UNCORDON,
        _first_then(search, near, cordoned & lifted),
        edits,
        lambda nodes: f"Uncordon {nodes}",
        kubectl.uncordon,
        independent=not search.spreading(by_taints=True),
    )
    if advice is not None:
        yield advice


def bring_back(search: Search) -> Iterator[Advice]:
    """A node that is not ready would take the pod if it were."""
    others_are_ignored = TAINTED in search.ignored
    sets = [
        any(map(is_away, taints)) and (others_are_ignored or all(map(is_away, taints))) for taints in _blocking(search)
    ]
    away = _where(search, sets) & search.cluster.valid
    near = away & search.only(TAINTED, *search.spreading(by_taints=True))

    def edits(slot: int) -> Edits:
        node = search.cluster.nodes[slot]
        assert node is not None
        listed = [(i, taint) for i, taint in enumerate(node.spec.taints or ()) if is_away(taint)][::-1]
        return tuple(_taint_edit(f"node/{node.metadata.name}", "bringBack", i, taint) for i, taint in listed)

    def title(nodes: str) -> str:
        node = search.cluster.node(nodes.removeprefix("node "))
        if node is None:
            return f"Bring {nodes} back"
        unreachable = any(taint.key == UNREACHABLE for taint in node.spec.taints or ())
        return f"Bring {nodes} back: it is {'unreachable' if unreachable else 'not ready'}"

    advice = on_nodes(
        search,
        AdviceKind.BRING_BACK,
        _first_then(search, near, away),
        edits,
        title,
        # What ails a node is not for us to know, so there is no command.
        lambda names, edits: (),
        independent=not search.spreading(by_taints=True),
    )
    if advice is not None:
        yield advice


def untaint(search: Search) -> Iterator[Advice]:
    spreading = search.spreading(by_taints=True)
    blocking = _blocking(search)
    if TAINTED in search.ignored:
        yield from _untaint_each(search, blocking)
        return
    single = _where(search, [len(taints) == 1 for taints in blocking]) & search.cluster.valid
    near = single & search.only(TAINTED, *spreading)
    if not near.any() and not (spreading and single.any()):
        return
    sets, counts = np.unique(search.cluster.taint_set[near], return_counts=True)
    found: dict[tuple[str, str, str], int] = {}
    for index, count in zip(sets.tolist(), counts.tolist(), strict=True):
        taint = blocking[index][0]
        if not is_away(taint):
            found[_key(taint)] = found.get(_key(taint), 0) + count
    if spreading:
        for taints in blocking:
            if len(taints) == 1 and not is_away(taints[0]):
                found.setdefault(_key(taints[0]), 0)
    shown = 0
    for key, _ in sorted(found.items(), key=lambda item: -item[1])[:MAX_TAINTS]:
        advice = _untaint(search, blocking, key, near, single)
        if advice is not None:
            yield advice
            shown += not advice.last_resort
            if shown == MAX_SHOWN:
                return


def _key(taint: Taint) -> tuple[str, str, str]:
    return taint.key, taint.value, taint.effect


def _untaint(
    search: Search, blocking: list[list[Taint]], key: tuple[str, str, str], near: Mask, single: Mask
) -> Advice | None:
    having = _where(search, [len(taints) == 1 and _key(taints[0]) == key for taints in blocking])
    return _untaint_one(search, key, _first_then(search, near & having, single & having))


def _untaint_each(search: Search, blocking: list[list[Taint]]) -> Iterator[Advice]:
    """Taints beside others, each on the first nodes that have it."""
    near = search.only(TAINTED, CORDONED)
    keys = dict.fromkeys(_key(t) for taints in blocking for t in taints if not is_condition(t))
    for key in [key for key in keys if key[0] != UNSCHEDULABLE][:MAX_TAINTS]:
        slots = search.in_order(near & _where(search, [key in map(_key, taints) for taints in blocking]))
        for slot in slots[:MAX_SHOWN]:
            advice = _untaint_one(search, key, np.array([slot]))
            if advice is not None:
                yield advice


def _untaint_one(search: Search, key: tuple[str, str, str], slots: Slots) -> Advice | None:
    taint = Taint(*key)

    def edits(slot: int) -> Edits:
        node = search.cluster.nodes[slot]
        assert node is not None
        taints = node.spec.taints or ()
        index = next(i for i, t in enumerate(taints) if _key(t) == key)
        return (_taint_edit(f"node/{node.metadata.name}", "untaint", index, taints[index]),)

    return on_nodes(
        search,
        AdviceKind.UNTAINT,
        slots,
        edits,
        lambda nodes: f"Remove taint {taint_text(taint)} from {nodes}",
        lambda names, edits: kubectl.untaint(names, taint, edits),
        independent=not search.spreading(by_taints=True),
        last_resort=is_condition(taint),
    )


def _taint_edit(target: str, op: str, index: int, taint: Taint) -> Edit:
    before = {"key": taint.key, "effect": taint.effect}
    if taint.value:
        before["value"] = taint.value
    return Edit(target, op, pointer("spec", "taints", index), before, None)
