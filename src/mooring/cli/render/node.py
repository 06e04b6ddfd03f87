"""The page of a node: what is free, what keeps pods off, who holds its devices, and what becomes of pods that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mooring.cli.render.nodes import add_causes
from mooring.cli.render.page import TextColumn, TextPage
from mooring.kube.words import and_more, counted, share
from mooring.placement.causes.amounts import amount
from mooring.placement.node_report.obstacles import Obstacle, is_ready
from mooring.placement.node_report.room import DeviceHolder
from mooring.placement.node_report.waiting_pods import Fate, WaitingPod
from mooring.runway.explain.node.report import NodeReport

__all__ = ["node_page"]

# How many pods have a row each, and how many are named in a sentence.
_MAX_ROWS: Final = 20
_MAX_NAMES: Final = 5


def node_page(report: NodeReport, *, all_pods: bool) -> TextPage:
    page = TextPage()
    page.line(_headline(report), "good" if report.of(Fate.LANDS) or not report.obstacles else "warn")
    _add_rooms(page, report)
    _add_obstacles(page, report)
    _add_holders(page, report.holders, all_pods=all_pods)
    _add_landing(page, report, all_pods=all_pods)
    _add_others(page, report)
    for note in report.notes:
        page.line()
        page.line(f"Note: {note}.", "dim")
    return page


def _headline(report: NodeReport) -> str:
    name = report.node.metadata.name
    state = "is ready" if is_ready(report.node) else "is not ready"
    if report.node.spec.unschedulable:
        state += " and cordoned"
    count, total = len(report.of(Fate.LANDS)), len(report.waiting)
    if not total:
        return f"{name} {state}; no pod waits for a node"
    return f"{name} {state}; {_of_waiting(count, total)} would be scheduled on it"


def _of_waiting(count: int, total: int) -> str:
    return f"{share(count, total, 'pods')} that {'waits' if total == 1 else 'wait'}"


def _add_rooms(page: TextPage, report: NodeReport) -> None:
    page.title("What is free")
    rows = [(room.name, amount(room.name, room.free), amount(room.name, room.allocatable)) for room in report.rooms]
    page.table([TextColumn("RESOURCE"), TextColumn("FREE", right=True), TextColumn("OF", right=True)], rows)
    largest = [f"{name} {amount(name, left)}" for name, left in report.largest.items()]
    text = f"The largest pod that has room: {', '.join(largest)}." if largest else "There is no room for a pod."
    page.line(text, indent=2)
    if report.nominated:
        page.line(f"Room is held for {and_more(report.nominated, _MAX_NAMES)}, nominated to this node.", indent=2)


def _add_obstacles(page: TextPage, report: NodeReport) -> None:
    if not report.obstacles:
        return
    page.title("What keeps pods off")
    rows = [(obstacle.text, _tolerated(obstacle)) for obstacle in report.obstacles]
    page.table([TextColumn(), TextColumn(style="dim")], rows)


def _tolerated(obstacle: Obstacle) -> str:
    if obstacle.waiting is None or obstacle.running is None:
        return ""
    parts = [(obstacle.waiting, "wait"), (obstacle.running, "run")]
    said = [f"{tolerance.number:,} of {tolerance.total:,} that {verb}" for tolerance, verb in parts if tolerance.total]
    return f"tolerated by {' and '.join(said)}" if said else ""


def _add_holders(page: TextPage, holders: Sequence[DeviceHolder], *, all_pods: bool) -> None:
    if not holders:
        return
    page.title("Who holds its devices")
    shown = holders if all_pods else holders[:_MAX_ROWS]
    rows = [(each.pod.key, str(each.amount), each.resource, _owner(each), str(each.pod.priority)) for each in shown]
    heads = ("POD", "AMOUNT", "RESOURCE", "OWNER", "PRIORITY")
    page.table([TextColumn(head, right=head in ("AMOUNT", "PRIORITY")) for head in heads], rows)
    if len(shown) < len(holders):
        page.line(f"and {counted(len(holders) - len(shown), 'more pod')} (--all-nodes lists them)", "dim", 2)


def _owner(holder: DeviceHolder) -> str:
    owner = holder.pod.owner
    told = "-" if owner is None else f"{owner.kind} {owner.name}"
    return f"{told}, leaving already" if holder.pod.terminating else told


def _add_landing(page: TextPage, report: NodeReport, *, all_pods: bool) -> None:
    landing = report.of(Fate.LANDS)
    if not landing:
        return
    page.title(f"{counted(len(landing), 'pod')} would be scheduled on it")
    shown = landing if all_pods else landing[:_MAX_ROWS]
    page.table([TextColumn(), TextColumn(style="dim")], [(each.pod.key, _how(report, each)) for each in shown])
    if len(shown) < len(landing):
        page.line(f"and {counted(len(landing) - len(shown), 'more pod')} (--all-nodes lists them)", "dim", 2)


def _how(report: NodeReport, waiting: WaitingPod) -> str:
    told = list(report.unknowns.get(waiting.pod.key, ()))
    said = f"as far as is known: {'; '.join(told)}" if told else ""
    if waiting.victims:
        leave = f"after {and_more([pod.key for pod in waiting.victims], _MAX_NAMES)} left, of lower priority"
        return f"{leave}; {said}" if said else leave
    return said


def _add_others(page: TextPage, report: NodeReport) -> None:
    fitting, groups = report.of(Fate.FITS), report.blocked
    count = len(fitting) + sum(map(len, groups.values()))
    if not count:
        return
    page.title(f"{counted(count, 'pod')} would not")
    if fitting:
        places = sorted({each.node for each in fitting})
        page.spans((f"{and_more([each.pod.key for each in fitting], _MAX_NAMES)}", "bold"), indent=2)
        behind = max(each.behind for each in fitting)
        better = f"up to {counted(behind, 'point')} better" if behind else "as good and comes first"
        has = "has" if len(fitting) == 1 else "have"
        page.line(f"{has} room here; {and_more(places, _MAX_NAMES)} is {better}", indent=4)
    for causes, pods in groups.items():
        page.spans((and_more([each.pod.key for each in pods], _MAX_NAMES), "bold"), indent=2)
        add_causes(page, causes, 4)
