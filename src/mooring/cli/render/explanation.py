"""The page of an explanation: a headline, then the reasons, then the advice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mooring.catalog import CATALOG
from mooring.cli.render.nodes import add_blocked, add_each_node, add_feasible
from mooring.cli.render.page import TextColumn, TextPage
from mooring.cli.render.selection import add_selection
from mooring.kube.errors import FieldError, unique_texts
from mooring.kube.words import and_more, counted, nodes, share
from mooring.placement import messages
from mooring.placement.advise.model import AdviceKind
from mooring.placement.answers import VOLUME_FILTERS
from mooring.placement.causes.amounts import scattered
from mooring.placement.causes.volumes import awaited_claims
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runway.explain.asked_pods.found_pods import FoundWorkload
from mooring.runway.explain.asked_pods.unplaced_pods import PodSource
from mooring.runway.explain.explainer import PodOutcome

if TYPE_CHECKING:
    from mooring.placement.advise import Advice

# How many pods have a row each, and how many failures are told in full.
MAX_ROWS = 20
MAX_STORIES = 3
# How many nodes are named in a sentence.
MAX_NAMES = 3


def explanation_page(
    cluster: SchedulerCache,
    outcomes: Sequence[PodOutcome],
    notes: Sequence[str],
    workloads: Sequence[FoundWorkload] = (),
    *,
    all_nodes: bool,
) -> TextPage:
    """The page for all pods of one run, and for workloads of which there is more to tell."""
    page = TextPage()
    for workload in workloads:
        if workload.errors:
            _add_invalid(page, workload.source, workload.errors)
        elif workload.waits:
            page.line(f"{workload.source} waits: {workload.waits}", "bad")
    if outcomes and page.blocks:
        page.line()
    if len(outcomes) == 1:
        _add_pod(page, cluster, outcomes[0], all_nodes=all_nodes)
    elif outcomes:
        _add_several(page, cluster, outcomes, all_nodes=all_nodes)
    elif not workloads:
        page.line("There are no pods to place.", "bold")
    for workload in workloads:
        if workload.selection is not None:
            add_selection(page, str(workload.source), workload.selection)
    remarks = [*notes, *(note for outcome in outcomes for note in outcome.unplaced.notes)]
    _add_notes(page, dict.fromkeys(remarks))
    return page


# One pod


def _add_pod(page: TextPage, cluster: SchedulerCache, outcome: PodOutcome, *, all_nodes: bool) -> None:
    if outcome.unplaced.errors:
        _add_invalid(page, outcome.unplaced.source, outcome.unplaced.errors)
        page.line()
    if outcome.gates:
        _add_gated(page, outcome)
    explanation = outcome.explanation
    if explanation is None:
        page.line(f"{outcome.unplaced.key}: {outcome.message}", "bad")
        return
    headline = headline_of(cluster, outcome)
    if outcome.gates:
        headline = f"Without its gates: {headline}"
    elif outcome.unplaced.errors:
        headline = f"If it were accepted: {headline}"
    page.line(headline, "bad" if not outcome.lands else "warn" if outcome.may_land else "good")
    for unknown in outcome.unknowns:
        page.line(f"Not known: {unknown}.", indent=2)
    _add_event(page, outcome)
    _add_victims(page, outcome)
    if all_nodes:
        add_each_node(page, cluster, outcome)
    else:
        add_feasible(page, cluster, explanation)
        add_blocked(page, cluster, outcome.blocked)
        _add_scattered(page, outcome)
    _add_advice(page, cluster, outcome)


def _add_scattered(page: TextPage, outcome: PodOutcome) -> None:
    """Devices that would suffice if they were on one node."""
    filters = None if outcome.explanation is None else outcome.explanation.filters
    if filters is None or outcome.slot >= 0:
        return
    valid = filters.cluster.valid
    for need in filters.needs():
        text = scattered(need.name, need.amount, (need.allocatable - need.used)[valid]) if "/" in need.name else ""
        if text:
            page.line(f"There are {text}.", indent=2)


def headline_of(cluster: SchedulerCache, outcome: PodOutcome) -> str:
    key, explanation = outcome.unplaced.key, outcome.explanation
    assert explanation is not None
    count = cluster.node_count
    if explanation.rejected is not None:
        return f"{key} cannot be placed on any node: {explanation.rejected.text}"
    if explanation.error:
        return f"{key} cannot be placed: the scheduler fails on it, {explanation.error}"
    if outcome.victims:
        would = "may" if outcome.may_land else "would"
        return f"{key} {would} be scheduled on {outcome.node} {_after_victims(outcome)}"
    if outcome.slot < 0:
        return f"{key} cannot be placed: 0 of {nodes(count)} {'fits' if count == 1 else 'fit'}"
    if outcome.may_land:
        return f"{key} may be scheduled, on {outcome.node} as far as is known, {margin(cluster, outcome)}"
    return f"{key} would be scheduled on {outcome.node}, {margin(cluster, outcome)}"


def _after_victims(outcome: PodOutcome) -> str:
    count = len(outcome.victims)
    return f"after {counted(count, 'pod')} of lower priority {'leaves' if count == 1 else 'leave'}"


def margin(cluster: SchedulerCache, outcome: PodOutcome) -> str:
    """How sure it is that the pod lands there."""
    explanation = outcome.explanation
    if explanation is None:
        return ""
    if explanation.feasible.size == 1:
        return "the only node that fits"
    best = int(explanation.totals[explanation.chosen])
    if outcome.tied:
        others = [cluster.names[slot] for slot in explanation.best.tolist() if slot != explanation.chosen]
        return f"tied at {best} points with {and_more(others, MAX_NAMES)}"
    runner_up = outcome.runner_up
    if runner_up is None:
        return f"with {best} points"
    slot, points = runner_up
    return f"{counted(points, 'point')} ahead of {cluster.names[slot]}"


def _add_invalid(page: TextPage, source: PodSource, errors: Sequence[FieldError]) -> None:
    lines = unique_texts(errors)
    head = f'The {source.kind} "{source.name}" is invalid:'
    if len(lines) == 1:
        page.line(f"{head} {lines[0]}", "bad")
    else:
        page.line(head, "bad")
        for line in lines:
            page.line(f"* {line}")


def _add_gated(page: TextPage, outcome: PodOutcome) -> None:
    gates = ", ".join(outcome.gates)
    page.line(f"{outcome.unplaced.key} is held back: SchedulingGated by {gates}", "bad")
    page.line(messages.GATED, "dim", 2)
    page.line()


def _add_event(page: TextPage, outcome: PodOutcome) -> None:
    explanation = outcome.explanation
    assert explanation is not None
    page.title("Kubernetes would report")
    if explanation.message:
        page.line(f"FailedScheduling: {messages.note(explanation.message)}", indent=2)
    else:
        page.line(f"Scheduled: Successfully assigned {outcome.unplaced.key} to {outcome.node}", indent=2)


def _add_victims(page: TextPage, outcome: PodOutcome) -> None:
    preemption = outcome.explanation.preemption if outcome.explanation else None
    if preemption is None or not preemption.victims:
        return
    page.title(f"Evicted from {outcome.node}")
    rows = [(p.key, f"priority {p.priority}", "leaving already" if p.terminating else "") for p in preemption.victims]
    page.table([TextColumn(), TextColumn(right=True, style="dim"), TextColumn(style="dim")], rows)
    if preemption.violations:
        page.line(f"This breaks the disruption budget of {counted(preemption.violations, 'pod')}.", "bad", 2)


def _add_advice(page: TextPage, cluster: SchedulerCache, outcome: PodOutcome) -> None:
    explanation = outcome.explanation
    assert explanation is not None
    if explanation.chosen >= 0 and not outcome.gates:
        return
    if not outcome.advice:
        rejected = explanation.rejected
        if rejected is not None and rejected.plugin in VOLUME_FILTERS:
            _add_awaited(page, cluster, outcome)
        elif outcome.slot < 0 and outcome.like is None:
            page.title("What would help")
            _add_nearest(page, cluster, outcome)
        return
    page.title("What would help without evictions" if outcome.victims else "What would help")
    width = len(f"{len(outcome.advice)}.")
    for number, advice in enumerate(outcome.advice, 1):
        row = (f"{number}.", advice.title + _where(cluster, advice) + _brings(outcome, advice))
        page.table([TextColumn(right=True, least=width, style="dim"), TextColumn()], [row])
        for line in (advice.command or "").splitlines():
            page.line(line, "command", 4 + width, wrap=False)


def _add_awaited(page: TextPage, cluster: SchedulerCache, outcome: PodOutcome) -> None:
    """The claims that a pod waits for. No change of the pod or of nodes makes them."""
    awaited = [] if outcome.info is None else awaited_claims(cluster, outcome.info)
    if awaited:
        page.title("What it waits for")
    for line in awaited:
        page.line(line, indent=2)


def _brings(outcome: PodOutcome, advice: Advice) -> str:
    """How much of the workload has a place afterwards, in what it counts by: pods, or groups of them."""
    kind = CATALOG.workloads().get(outcome.unplaced.source.kind)
    if advice.brings is None or kind is None or advice.kind is AdviceKind.SCALE:
        return ""
    count, total = kind.whole_units(outcome.replicas, advice.brings)
    plural = "pods" if kind.unit is None else kind.unit.plural
    return f": {share(count, total, plural)} {'lands' if total == 1 else 'land'}"


def _add_nearest(page: TextPage, cluster: SchedulerCache, outcome: PodOutcome) -> None:
    """Where nothing helps: the nodes that come nearest, and what keeps the pod off them."""
    if not outcome.blocked:
        page.line("No single change lets it be scheduled.", indent=2)
        return
    if outcome.is_hopeless:
        page.line("Nothing up to three changes lets it be scheduled.", indent=2)
    else:
        page.line("No single change, and no two or three that were tried together, let it be scheduled.", indent=2)
    nearest = outcome.blocked[0]
    names = and_more([cluster.names[slot] for slot in nearest.slots.tolist()], MAX_NAMES)
    causes = "; ".join(cause.text for cause in nearest.causes)
    page.line(f"Nearest {'is' if nearest.slots.size == 1 else 'are'} {names}: {causes}", indent=2)


def _where(cluster: SchedulerCache, advice: Advice) -> str:
    """The nodes that a change opens, as far as its title does not name them already."""
    if all(name in advice.title or name not in cluster.slots for name in advice.nodes):
        return ""
    if advice.node_count <= MAX_NAMES:
        return f" -> {and_more(advice.nodes, MAX_NAMES)}"
    return f" -> {nodes(advice.node_count)}: {', '.join(advice.nodes[:MAX_NAMES])} ..."


# Several pods


def _add_several(page: TextPage, cluster: SchedulerCache, outcomes: Sequence[PodOutcome], *, all_nodes: bool) -> None:
    _add_tally(page, outcomes)
    if len(outcomes) <= MAX_ROWS or all_nodes:
        _add_rows(page, cluster, outcomes)
    else:
        _add_counts(page, outcomes)
    told: dict[str, PodOutcome] = {}
    for outcome in outcomes:
        if (not outcome.lands or outcome.may_land) and outcome.like is None:
            told.setdefault(str(outcome.unplaced.source), outcome)
    for outcome in list(told.values())[:MAX_STORIES]:
        page.line()
        _add_pod(page, cluster, outcome, all_nodes=all_nodes)
    if len(told) > MAX_STORIES:
        page.title(
            f"{counted(len(told) - MAX_STORIES, 'more workload')} cannot be scheduled; explain them one at a time."
        )


def _add_tally(page: TextPage, outcomes: Sequence[PodOutcome]) -> None:
    """One line per workload: how many of its pods land."""
    total: Counter[str] = Counter()
    landed: Counter[str] = Counter()
    doubtful: dict[str, bool] = defaultdict(bool)
    units: dict[str, tuple[str, dict[str, bool]]] = {}
    for outcome in outcomes:
        owner = str(outcome.unplaced.source)
        total[owner] += 1
        landed[owner] += outcome.lands
        doubtful[owner] |= outcome.may_land
        kind = CATALOG.workloads().get(outcome.unplaced.source.kind)
        if kind is not None and kind.unit is not None:
            _, whole = units.setdefault(owner, (kind.unit.plural, {}))
            unit = kind.unit.of(outcome.unplaced.pod["metadata"].get("labels") or {})
            whole[unit] = whole.get(unit, True) and outcome.lands
    for owner, count in total.items():
        good = landed[owner] == count
        would = "may" if doubtful[owner] else "would"
        if owner in units:
            plural, whole = units[owner]
            what = share(sum(whole.values()), len(whole), plural)
            text = f"{owner}: {what} {would} be scheduled, {landed[owner]:,} of {counted(count, 'pod')}"
        elif count == 1:
            text = f"{owner} {f'{would} be scheduled' if good else 'cannot be scheduled'}"
        else:
            text = f"{owner}: {share(landed[owner], count, 'pods')} {would} be scheduled"
        page.line(text, "bad" if not good else "warn" if doubtful[owner] else "good")
        if owner in units:
            _add_idle(page, [o for o in outcomes if str(o.unplaced.source) == owner], units[owner][1])


def _add_idle(page: TextPage, outcomes: Sequence[PodOutcome], whole: Mapping[str, bool]) -> None:
    """The devices that pods would hold while the rest of their unit finds no place."""
    held: Counter[str] = Counter()
    for outcome in outcomes:
        kind = CATALOG.workloads()[outcome.unplaced.source.kind]
        assert kind.unit is not None
        unit = kind.unit.of(outcome.unplaced.pod["metadata"].get("labels") or {})
        if outcome.lands and not whole[unit] and outcome.info is not None:
            held.update({name: amount for name, amount in outcome.info.requests.scalars if "/" in name})
    for name, amount in held.items():
        page.line(f"{amount} {name} would be held for nothing, by pods whose others find no place", "bad", 2)


def _add_rows(page: TextPage, cluster: SchedulerCache, outcomes: Sequence[PodOutcome]) -> None:
    rows = [(o.unplaced.key, o.node if o.lands else "-", _remark(cluster, o)) for o in outcomes]
    page.line()
    page.table([TextColumn("POD"), TextColumn("NODE"), TextColumn("", style="dim")], rows)


def _remark(cluster: SchedulerCache, outcome: PodOutcome) -> str:
    if outcome.unplaced.errors:
        return "invalid"
    if outcome.gates:
        return "SchedulingGated"
    if outcome.like is not None:
        return f"as {outcome.like.unplaced.key}"
    if not outcome.lands:
        return "cannot be placed" if outcome.explanation is not None else outcome.message
    told = _after_victims(outcome) if outcome.victims else margin(cluster, outcome)
    return f"may land there; {told}" if outcome.may_land else told


def _add_counts(page: TextPage, outcomes: Sequence[PodOutcome]) -> None:
    """How many pods each node gets, for more pods than anyone reads one by one."""
    per_node = Counter(outcome.node for outcome in outcomes if outcome.lands).most_common()
    page.line()
    if per_node:
        page.table(
            [TextColumn("NODE"), TextColumn("PODS", right=True)], [(n, str(count)) for n, count in per_node[:MAX_ROWS]]
        )
        if len(per_node) > MAX_ROWS:
            rest = per_node[MAX_ROWS:]
            left = counted(sum(count for _, count in rest), "pod")
            page.line(f"and {counted(len(rest), 'more node')} with {left} (--all-nodes lists every pod)", "dim", 2)
    failed = [outcome.unplaced.key for outcome in outcomes if not outcome.lands]
    if failed:
        page.line(f"without a node: {and_more(failed, 5)}", indent=2)


# Notes


def _add_notes(page: TextPage, notes: dict[str, None]) -> None:
    if notes:
        page.line()
        for note in notes:
            page.line(f"Note: {note}.", "dim")
