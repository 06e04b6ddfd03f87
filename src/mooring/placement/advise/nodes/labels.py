"""Label a node so that the pod's selector, affinity or topology finds it; or take a label away that it shuns.

Labels that say what machine a node is and where it stands are added where they are missing, and never changed. No node
loses a label by which a pod of the cluster selects it, and another value comes after all that costs nobody a node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from mooring.kube.nodeselectors import NodeSelectorTerm
from mooring.kube.selectors import Requirement, parse_int64
from mooring.placement.advise import commands
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nodes.conditions import HOSTNAME, identifies
from mooring.placement.advise.nodes.opening import Edits, on_nodes
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import Search
from mooring.placement.engine import Slots
from mooring.placement.filters import ALONE, CROWDED, NO_TOPOLOGY, UNSELECTED
from mooring.placement.labels import Mask
from mooring.placement.writes import Commands

# How many values of one condition, and of one topology key, are tried.
MAX_VALUES = 4
# How many labels are tried in all.
MAX_LABELS = 12
MAX_ADVICE = 3


def labels(search: Search, *, misspelt: bool) -> Iterator[Advice]:
    """No node is labelled with what the pod only says by mistake, where its correction helps."""
    wanted = () if misspelt else _wanted(search)
    for found in (wanted, _shunned(search), _topology(search)):
        yield from islice(found, MAX_ADVICE)


def _label(
    search: Search, slots: Slots, key: str, value: str | None, kind: AdviceKind = AdviceKind.LABEL
) -> Advice | None:
    """Give nodes a label, or take it away; `None` for hostname means the node's own name is its value."""
    own_name = key == HOSTNAME

    def value_of(name: str) -> str:
        return name if own_name or value is None else value

    def edits(slot: int) -> Edits:
        name, before = search.cluster.names[slot], _value_at(search, key, slot)
        return (Edit(f"node/{name}", "label", pointer("metadata", "labels", key), before, value_of(name)),)

    def title(nodes: str) -> str:
        text = value_of(nodes.removeprefix("node ")) if nodes.startswith("node ") or not own_name else "their names"
        return f"Label {nodes} with {key}={text}"

    def command(names: Sequence[str], edits: Edits) -> Commands:
        there = any(_value_at(search, key, search.cluster.slots[name]) is not None for name in names)
        if own_name:
            pairs = zip(names, edits, strict=True)
            found = [commands.label([name], key, name, [edit], overwrite=there) for name, edit in pairs]
            return tuple(command for each in found for command in each)
        return commands.label(names, key, value_of(names[0]), edits, overwrite=there)

    return on_nodes(
        search,
        kind,
        slots,
        edits,
        title,
        command,
        independent=search.independent,
    )


def _value_at(search: Search, key: str, slot: int) -> str | None:
    column = search.cluster.labels.column(key)
    code = int(column.codes[slot])
    return None if code < 0 else column.values[code]


# Labels that the pod selects by


def _wanted(search: Search) -> Iterator[Advice]:
    near = search.only(UNSELECTED, NO_TOPOLOGY, CROWDED, ALONE)
    if search.info.template.node_terms is None or not near.any():
        return
    near &= search.bits((UNSELECTED,)) & search.verdicts.bits != 0
    for key, value in list(dict.fromkeys(_conditions(search)))[:MAX_LABELS]:
        mask = near & _selected_with(search, key, value)
        if identifies(key):
            mask &= ~search.cluster.labels.present(key)
        if key == HOSTNAME:
            mask &= search.engine.matching.named(value)
        if mask.any():
            yield from _labelled(search, mask, key, value)


def _labelled(search: Search, mask: Mask, key: str, value: str) -> Iterator[Advice]:
    """One of the nodes without the label; where none of them will do, one of those with another value."""
    present = search.cluster.labels.present(key)
    advice = _label(search, search.in_order(mask & ~present), key, value)
    if advice is None:
        slots = _not_selected_by(search, search.in_order(mask & present), key)
        advice = _label(search, slots, key, value, AdviceKind.RELABEL)
    if advice is not None:
        yield advice


def _not_selected_by(search: Search, slots: Slots, key: str) -> Slots:
    """Without the nodes that some pod of the cluster selects by the value that this label has."""
    column, selected = search.cluster.labels.column(key), search.selected_values(key)
    return slots[[column.values[code] not in selected for code in column.codes[slots].tolist()]]


def _conditions(search: Search) -> Iterator[tuple[str, str]]:
    """Labels that would meet some condition of the pod."""
    terms = search.info.template.node_terms
    assert terms is not None
    yield from terms.node_selector
    for term in terms.terms or ():
        for requirement in term.labels.requirements:
            for value in _meeting(search, requirement):
                yield requirement.key, value


def _meeting(search: Search, requirement: Requirement) -> list[str]:
    match requirement.op:
        case "In":
            return list(requirement.values[:MAX_VALUES])
        case "Exists":
            column = search.cluster.labels.column(requirement.key)
            codes = np.bincount(column.codes[search.cluster.valid & column.present])
            return [column.values[int(codes.argmax())]] if codes.size else ["true"]
        case "Gt" | "Lt":
            bound = parse_int64(requirement.values[0])
            return [] if bound is None else [str(bound + (1 if requirement.op == "Gt" else -1))]
    return []


def _selected_with(search: Search, key: str, value: str | None) -> Mask:
    """Nodes that the pod would select if their label `key` were `value`, or absent."""
    cluster = search.cluster
    terms = search.info.template.node_terms
    assert terms is not None
    made = {} if value is None else {key: value}

    def holds(requirement: Requirement) -> Mask:
        if requirement.key == key:
            return np.full(cluster.size, requirement.matches(made), dtype=np.bool_)
        return cluster.labels.requirement(requirement)

    def term_holds(term: NodeSelectorTerm) -> Mask:
        if term.empty or term.error:
            return np.zeros(cluster.size, dtype=np.bool_)
        mask: Mask = cluster.labels.term(term._replace(labels=type(term.labels)()), search.engine.matching.named)
        for requirement in term.labels.requirements:
            mask = mask & holds(requirement)
        return mask

    mask = cluster.valid.copy()
    for wanted, text in terms.node_selector:
        mask &= holds(Requirement(wanted, "In", (text,)))
    if terms.terms is not None:
        either = np.zeros(cluster.size, dtype=np.bool_)
        for term in terms.terms:
            either |= term_holds(term)
        mask &= either
    return mask


# Labels that the pod shuns


def _shunned(search: Search) -> Iterator[Advice]:
    near = search.only(UNSELECTED)
    terms = search.info.template.node_terms
    if terms is None or not near.any():
        return
    keys = dict.fromkeys(
        r.key for term in terms.terms or () for r in term.labels.requirements if r.op in ("NotIn", "DoesNotExist")
    )
    for key in list(keys)[:MAX_LABELS]:
        if identifies(key):
            continue
        mask = near & search.cluster.labels.present(key) & _selected_with(search, key, None)
        if mask.any():
            advice = _unlabel(search, mask, key)
            if advice is not None:
                yield advice


def _unlabel(search: Search, mask: Mask, key: str) -> Advice | None:
    def edits(slot: int) -> Edits:
        target, before = f"node/{search.cluster.names[slot]}", _value_at(search, key, slot)
        return (Edit(target, "unlabel", pointer("metadata", "labels", key), before, None),)

    return on_nodes(
        search,
        AdviceKind.UNLABEL,
        _not_selected_by(search, search.in_order(mask), key),
        edits,
        lambda nodes: f"Remove label {key} from {nodes}",
        lambda names, edits: commands.unlabel(names, key, edits),
        independent=search.independent,
    )


# Labels that the pod spreads or keeps company by


def _topology(search: Search) -> Iterator[Advice]:
    near = search.only(NO_TOPOLOGY, CROWDED, ALONE)
    if not near.any():
        return
    template = search.info.template
    keys = dict.fromkeys([c.topology_key for c in template.spread_hard])
    keys |= dict.fromkeys(t.topology_key for t in template.affinity_required)
    for key in keys:
        missing = search.cluster.valid & ~search.cluster.labels.present(key)
        # A node that is counted from now on may also make room elsewhere, if only by raising the least count.
        slots = np.concatenate((search.in_order(missing & near), search.in_order(missing & ~near)))
        if not slots.size:
            continue
        for value in _domains(search, key):
            advice = _label(search, slots, key, value)
            if advice is not None:
                yield advice
                break


def _domains(search: Search, key: str) -> list[str | None]:
    """Values to try for a missing topology label: those with the pods that are wanted near, then the emptiest."""
    if key == HOSTNAME:
        return [None]
    column = search.cluster.labels.column(key)
    live = np.unique(column.codes[search.cluster.valid & column.present])
    if not live.size:
        return [f"{key.rpartition('/')[2]}-1"]
    scores = np.zeros(len(column.values), dtype=np.int64)
    interpod, spread = search.filters.interpod, search.filters.spread
    for domains in interpod.affinity if interpod else ():
        if domains.column is column:
            scores -= domains.counts[: scores.size]
    for hard in spread.constraints if spread else ():
        if hard.column is column:
            scores[: hard.counts.size] += hard.counts
    ordered = live[np.argsort(scores[live], kind="stable")]
    return [column.values[code] for code in ordered[:MAX_VALUES].tolist()]
