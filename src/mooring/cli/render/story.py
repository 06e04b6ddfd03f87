"""What is told about pods: a headline first, then why, then what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mooring.catalog import CATALOG
from mooring.cli.outcomes import Outcome
from mooring.cli.render.nodes import add_blocked, add_each_node, add_feasible
from mooring.cli.render.page import Column, Page
from mooring.cli.render.words import and_more, counted, nodes
from mooring.kube.errors import unique_texts
from mooring.placement import messages
from mooring.placement.scheduler_cache import SchedulerCache

if TYPE_CHECKING:
    from mooring.placement.advise import Advice

# How many pods have a row each, and how many failures are told in full.
MAX_ROWS = 20
MAX_STORIES = 3
# How many nodes are named in a sentence.
MAX_NAMES = 3


def tell(cluster: SchedulerCache, outcomes: Sequence[Outcome], notes: Sequence[str], *, all_nodes: bool) -> Page:
    """The page for all pods of one run."""
    page = Page()
    if len(outcomes) == 1:
        _tell_one(page, cluster, outcomes[0], all_nodes=all_nodes)
    elif outcomes:
        _tell_several(page, cluster, outcomes, all_nodes=all_nodes)
    else:
        page.line("There are no pods to place.", "bold")
    remarks = [*notes, *(note for outcome in outcomes for note in outcome.subject.notes)]
    _add_notes(page, dict.fromkeys([*remarks, *_unevaluated(outcomes)]))
    return page


# One pod


def _tell_one(page: Page, cluster: SchedulerCache, outcome: Outcome, *, all_nodes: bool) -> None:
    if outcome.subject.errors:
        _add_invalid(page, outcome)
    if outcome.gates:
        _add_gated(page, outcome)
    explanation = outcome.explanation
    if explanation is None:
        page.line(f"{outcome.subject.key}: {outcome.message}", "bad")
        return
    headline = headline_of(cluster, outcome)
    if outcome.gates:
        headline = f"Without its gates: {headline}"
    elif outcome.subject.errors:
        headline = f"If it were accepted: {headline}"
    page.line(headline, "good" if outcome.lands else "bad")
    _add_event(page, outcome)
    _add_victims(page, outcome)
    if all_nodes:
        add_each_node(page, cluster, outcome)
    else:
        add_feasible(page, cluster, explanation)
        add_blocked(page, cluster, outcome.blocked)
    _add_advice(page, cluster, outcome)


def headline_of(cluster: SchedulerCache, outcome: Outcome) -> str:
    key, explanation = outcome.subject.key, outcome.explanation
    assert explanation is not None
    count = cluster.node_count
    if explanation.rejected is not None:
        return f"{key} cannot be placed on any node: {explanation.rejected.text}"
    if explanation.error:
        return f"{key} cannot be placed: the scheduler fails on it, {explanation.error}"
    if outcome.victims:
        return f"{key} lands on {outcome.node} {_after_victims(outcome)}"
    if outcome.slot < 0:
        return f"{key} cannot be placed: 0 of {nodes(count)} fit"
    return f"{key} lands on {outcome.node}, {margin(cluster, outcome)}"


def _after_victims(outcome: Outcome) -> str:
    count = len(outcome.victims)
    return f"after {counted(count, 'pod')} of lower priority {'leaves' if count == 1 else 'leave'}"


def margin(cluster: SchedulerCache, outcome: Outcome) -> str:
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


def _add_invalid(page: Page, outcome: Outcome) -> None:
    subject = outcome.subject
    lines = unique_texts(subject.errors)
    head = f'The {subject.source.kind} "{subject.source.name}" is invalid:'
    if len(lines) == 1:
        page.line(f"{head} {lines[0]}", "bad")
    else:
        page.line(head, "bad")
        for line in lines:
            page.line(f"* {line}")
    page.line()


def _add_gated(page: Page, outcome: Outcome) -> None:
    gates = ", ".join(outcome.gates)
    page.line(f"{outcome.subject.key} is held back: SchedulingGated by {gates}", "bad")
    page.line(messages.GATED, "dim", 2)
    page.line()


def _add_event(page: Page, outcome: Outcome) -> None:
    explanation = outcome.explanation
    assert explanation is not None
    page.title("Kubernetes would report")
    if explanation.message:
        page.line(f"FailedScheduling: {messages.note(explanation.message)}", indent=2)
    else:
        page.line(f"Scheduled: Successfully assigned {outcome.subject.key} to {outcome.node}", indent=2)


def _add_victims(page: Page, outcome: Outcome) -> None:
    preemption = outcome.explanation.preemption if outcome.explanation else None
    if preemption is None or not preemption.victims:
        return
    page.title(f"Evicted from {outcome.node}")
    rows = [(p.key, f"priority {p.priority}", "leaving already" if p.terminating else "") for p in preemption.victims]
    page.table([Column(), Column(right=True, style="dim"), Column(style="dim")], rows)
    if preemption.violations:
        page.line(f"This breaks the disruption budget of {counted(preemption.violations, 'pod')}.", "bad", 2)


def _add_advice(page: Page, cluster: SchedulerCache, outcome: Outcome) -> None:
    explanation = outcome.explanation
    assert explanation is not None
    if explanation.chosen >= 0 and not outcome.gates:
        return
    if not outcome.advice:
        if outcome.slot < 0 and outcome.like is None:
            page.title("What would help")
            page.line("No single change lets it land.", indent=2)
        return
    page.title("What would help without evictions" if outcome.victims else "What would help")
    width = len(f"{len(outcome.advice)}.")
    for number, advice in enumerate(outcome.advice, 1):
        row = (f"{number}.", advice.title + _where(cluster, advice))
        page.table([Column(right=True, least=width, style="dim"), Column()], [row])
        for line in (advice.command or "").splitlines():
            page.line(line, "command", 4 + width, wrap=False)


def _where(cluster: SchedulerCache, advice: Advice) -> str:
    """The nodes that a change opens, as far as its title does not name them already."""
    if all(name in advice.title or name not in cluster.slots for name in advice.nodes):
        return ""
    if advice.node_count <= MAX_NAMES:
        return f" -> {and_more(advice.nodes, MAX_NAMES)}"
    return f" -> {nodes(advice.node_count)}: {', '.join(advice.nodes[:MAX_NAMES])} ..."


# Several pods


def _tell_several(page: Page, cluster: SchedulerCache, outcomes: Sequence[Outcome], *, all_nodes: bool) -> None:
    _add_tally(page, outcomes)
    if len(outcomes) <= MAX_ROWS or all_nodes:
        _add_rows(page, cluster, outcomes)
    else:
        _add_counts(page, outcomes)
    told: dict[str, Outcome] = {}
    for outcome in outcomes:
        if not outcome.lands and outcome.like is None:
            told.setdefault(str(outcome.subject.source), outcome)
    for outcome in list(told.values())[:MAX_STORIES]:
        page.line()
        _tell_one(page, cluster, outcome, all_nodes=all_nodes)
    if len(told) > MAX_STORIES:
        page.title(f"{counted(len(told) - MAX_STORIES, 'more workload')} cannot land; explain them one at a time.")


def _add_tally(page: Page, outcomes: Sequence[Outcome]) -> None:
    """One line per workload: how many of its pods land."""
    total: Counter[str] = Counter()
    landed: Counter[str] = Counter()
    units: dict[str, tuple[str, dict[str, bool]]] = {}
    for outcome in outcomes:
        owner = str(outcome.subject.source)
        total[owner] += 1
        landed[owner] += outcome.lands
        kind = CATALOG.workloads().get(outcome.subject.source.kind)
        if kind is not None and kind.unit is not None:
            _, whole = units.setdefault(owner, (kind.unit.plural, {}))
            unit = kind.unit.of(outcome.subject.pod["metadata"].get("labels") or {})
            whole[unit] = whole.get(unit, True) and outcome.lands
    for owner, count in total.items():
        good = landed[owner] == count
        if owner in units:
            plural, whole = units[owner]
            what = f"all {len(whole):,}" if good else f"{sum(whole.values()):,} of {len(whole):,}"
            text = f"{owner}: {what} {plural} land, {landed[owner]:,} of {counted(count, 'pod')}"
        elif count == 1:
            text = f"{owner} {'lands' if good else 'cannot land'}"
        else:
            text = f"{owner}: {f'all {count:,} pods land' if good else f'{landed[owner]:,} of {count:,} pods land'}"
        page.line(text, "good" if good else "bad")


def _add_rows(page: Page, cluster: SchedulerCache, outcomes: Sequence[Outcome]) -> None:
    rows = [(o.subject.key, o.node if o.lands else "-", _remark(cluster, o)) for o in outcomes]
    page.line()
    page.table([Column("POD"), Column("NODE"), Column("", style="dim")], rows)


def _remark(cluster: SchedulerCache, outcome: Outcome) -> str:
    if outcome.subject.errors:
        return "invalid"
    if outcome.gates:
        return "SchedulingGated"
    if outcome.like is not None:
        return f"as {outcome.like.subject.key}"
    if not outcome.lands:
        return "cannot be placed" if outcome.explanation is not None else outcome.message
    if outcome.victims:
        return _after_victims(outcome)
    return margin(cluster, outcome)


def _add_counts(page: Page, outcomes: Sequence[Outcome]) -> None:
    """How many pods each node gets, for more pods than anyone reads one by one."""
    per_node = Counter(outcome.node for outcome in outcomes if outcome.lands).most_common()
    page.line()
    if per_node:
        page.table([Column("NODE"), Column("PODS", right=True)], [(n, str(count)) for n, count in per_node[:MAX_ROWS]])
        if len(per_node) > MAX_ROWS:
            rest = per_node[MAX_ROWS:]
            left = counted(sum(count for _, count in rest), "pod")
            page.line(f"and {counted(len(rest), 'more node')} with {left} (--all-nodes lists every pod)", "dim", 2)
    failed = [outcome.subject.key for outcome in outcomes if not outcome.lands]
    if failed:
        page.line(f"without a node: {and_more(failed, 5)}", indent=2)


# Notes


def _unevaluated(outcomes: Sequence[Outcome]) -> list[str]:
    """What can tie a pod to nodes and was not looked at. Nobody must take the answer for more than it is."""
    found = dict.fromkeys(what for o in outcomes if o.info is not None for what in o.info.template.unevaluated)
    if not found:
        return []
    return [f"not evaluated: {', '.join(found)}; a node that fits here may still be refused for it"]


def _add_notes(page: Page, notes: dict[str, None]) -> None:
    if notes:
        page.line()
        for note in notes:
            page.line(f"Note: {note}.", "dim")
