"""The condition Placeable: how many groups find nodes, and for the first that does not, why and what would help.

What a scheduler said about a pod is the truth about it, whoever the scheduler is. The smallest change that would let
the pod in comes from the placement engine. It looks at the whole cluster, so it is asked at most once in a while.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.apps.views import StatefulSet
from mooring.api.core.types import Pod as PlacedPod
from mooring.api.core.views import Pod
from mooring.api.meta import Condition
from mooring.features.groups.api import LeaderWorkerSet
from mooring.features.groups.state import Group, Picture, is_of
from mooring.kube.objects import Object
from mooring.runtime.view import Unavailable, View
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.kinds import POD, STATEFUL_SET

PLACEABLE: Final = "Placeable"
# How old advice may be.
AGE: Final = timedelta(seconds=30)


class Advice(NamedTuple):
    """What would help one pod, found at one moment."""

    pod: str
    text: str
    found: datetime


class Placing(NamedTuple):
    conditions: tuple[Condition, ...] = ()
    advice: Advice | None = None


def tell_placing(
    view: View, lws: LeaderWorkerSet, leaders: StatefulSet | None, picture: Picture, before: Advice | None
) -> Placing:
    """`before` is the advice that was given last."""
    if leaders is None:
        return Placing()
    total = max(leaders.spec.replicas, len(picture.groups))
    blocked = sorted(group for group in picture.groups.values() if group.homeless)
    for group in blocked:
        pod = _homeless(view, leaders, group)
        if pod is not None and pod.unschedulable is not None:
            advice = _advice(view, pod, before)
            why = pod.unschedulable.message.partition(". ")[0].rstrip(".")
            text = advice.text or _own_nodes(lws, f"{leaders.metadata.name}-{group.number}")
            helps = f"what would help: {text}" if text else "no single change would help"
            text = f"{total - len(blocked)} of {_groups(total)} can land; {pod.metadata.name} cannot: {why}; {helps}"
            return Placing((Condition(PLACEABLE, "False", "Unschedulable", text),), advice)
    return Placing((Condition(PLACEABLE, "True", "Fits", f"{total} of {_groups(total)} can land"),))


def _own_nodes(lws: LeaderWorkerSet, leader: str) -> str:
    """A replica with nodes of its own waits for those, where nothing about those that are there would help."""
    policy = lws.spec.template.scheduling_policy
    key = "" if policy is None else policy.replica_unique_node_selector
    return f"Add nodes with label {key}={leader}" if key else ""


def _groups(count: int) -> str:
    return "1 group" if count == 1 else f"{count} groups"


def _homeless(view: View, leaders: StatefulSet, group: Group) -> Pod | None:
    """The first pod of a group that no node takes."""
    namespace, name = leaders.metadata.namespace, f"{leaders.metadata.name}-{group.number}"
    leader = view.get(POD, namespace, name)
    if leader is None or leader.unschedulable is not None:
        return leader
    workers = view.get(STATEFUL_SET, namespace, name)
    if workers is None or not is_of(workers, leader):
        return None
    waiting = [pod for pod in view.owned(POD, workers) if pod.unschedulable is not None]
    return min(waiting, key=lambda pod: (len(pod.metadata.name), pod.metadata.name), default=None)


def _advice(view: View, pod: Pod, before: Advice | None) -> Advice:
    if before is not None and before.pod == pod.metadata.uid and view.now < before.found + AGE:
        found = before
    else:
        found = Advice(pod.metadata.uid, _smallest_change(view, pod), view.now)
    view.poll_again(found.found + AGE)
    return found


def _smallest_change(view: View, pod: Pod) -> str:
    """In words; empty where no single change would do, or nothing can be said."""
    # Most sets land, and then there is no need to load it.
    from mooring.placement.advise import advise

    try:
        state = view.glance(CLUSTER)
    except Unavailable:
        return ""
    plain = _plain(pod)
    info = state.cluster.compiler.compile(msgspec.convert(plain, PlacedPod))
    found = advise(state.engine, state.engine.explain(info), plain, limit=1)
    return found[0].title if found else ""


def _plain(pod: Pod) -> Object:
    plain: Object = _without_nothing(msgspec.to_builtins(pod))
    return plain


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_nothing(item) for name, item in value.items() if item is not None and item != ""}
        return {name: item for name, item in kept.items() if item != [] or value[name]}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value
