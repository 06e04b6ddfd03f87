"""The condition Placeable: how many units of a workload find nodes; for the first that does not, why and what helps.

A unit is what lands as a whole: a pod of a Deployment, a group of pods that come together. What a scheduler wrote
on a pod's PodScheduled condition is taken as it is, also from another scheduler. The smallest change that would let the
pod in comes from the placement engine. That looks at the whole cluster, so it is asked at most once in
`MAX_ADVICE_AGE`, and the controller passes the last advice back in from its memory. Asking changes nothing in the
engine: deciding again gives the same answer.

The controller declares `folds=(CLUSTER,)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Pod as PlacedPod
from mooring.api.core.views import Pod
from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.runtime.view import Unavailable, View
from mooring.workloads.cluster_state import CLUSTER

if TYPE_CHECKING:
    from mooring.placement.advise import Advice, CommandTarget
    from mooring.placement.engine import Engine, Explanation

__all__ = [
    "MAX_ADVICE_AGE",
    "PLACEABLE",
    "Placing",
    "RememberedAdvice",
    "first_by_name",
    "placeable",
    "pods_placeable",
    "smallest_change",
]

PLACEABLE: Final = "Placeable"
# How old advice may be.
MAX_ADVICE_AGE: Final = timedelta(seconds=30)
# Where there are more nodes, only single changes are looked for: a controller has others to serve.
_SMALL_CLUSTER_NODES: Final = 200


class RememberedAdvice(NamedTuple):
    """What would help one pod, found at one moment."""

    pod: str
    text: str
    found: datetime


class Placing(NamedTuple):
    """The condition, if there is anything to tell, and the advice in it, which the controller remembers."""

    conditions: tuple[Condition, ...] = ()
    advice: RememberedAdvice | None = None


def placeable(
    view: View,
    *,
    total: int,
    blocked: int,
    pod: Pod | None,
    before: RememberedAdvice | None,
    unit: str = "pod",
    otherwise: str = "",
    fixed: tuple[str, ...] = (),
) -> Placing:
    """What a workload of some units says of itself, of which some are blocked.

    `pod` is the first pod that no node takes, and None where all land. `before` is the advice that was given last.
    `otherwise` is what would help where no single change to what exists would, and `fixed` are the parts of the pod, as
    JSON pointers, that its author cannot edit.
    """
    units = f"{total} {unit}{'' if total == 1 else 's'}"
    if pod is None or pod.unschedulable is None:
        return Placing((Condition(PLACEABLE, "True", "Fits", f"{total} of {units} can be scheduled"),))
    advice = _advice(view, pod, before, fixed, singly=bool(otherwise))
    why = pod.unschedulable.message.partition(". ")[0].rstrip(".")
    text = advice.text or otherwise
    helps = f"what would help: {text}" if text else "no change that was tried would help"
    said = f"{total - blocked} of {units} can be scheduled; {pod.metadata.name} cannot: {why}; {helps}"
    return Placing((Condition(PLACEABLE, "False", "Unschedulable", said),), advice)


def pods_placeable(
    view: View, pods: Iterable[Pod], before: RememberedAdvice | None, fixed: tuple[str, ...] = ()
) -> Placing:
    """The same for a workload whose pods land one by one."""
    living = [pod for pod in pods if pod.active]
    waiting = [pod for pod in living if pod.unschedulable is not None]
    first = first_by_name(waiting)
    return placeable(view, total=len(living), blocked=len(waiting), pod=first, before=before, fixed=fixed)


def first_by_name(pods: Iterable[Pod]) -> Pod | None:
    """The pod of the lowest number, where names end in numbers."""
    return min(pods, key=lambda pod: (len(pod.metadata.name), pod.metadata.name), default=None)


def _advice(
    view: View, pod: Pod, before: RememberedAdvice | None, fixed: tuple[str, ...], *, singly: bool
) -> RememberedAdvice:
    if before is not None and before.pod == pod.metadata.uid and view.now < before.found + MAX_ADVICE_AGE:
        found = before
    else:
        found = RememberedAdvice(pod.metadata.uid, _smallest_change(view, pod, fixed, singly=singly), view.now)
    view.poll_again(found.found + MAX_ADVICE_AGE)
    return found


def _smallest_change(view: View, pod: Pod, fixed: tuple[str, ...], *, singly: bool) -> str:
    try:
        state = view.peek(CLUSTER)
    except Unavailable:
        return ""
    plain = _plain(pod)
    info = state.cluster.compiler.compile(msgspec.convert(plain, PlacedPod))
    target = None
    if fixed:
        from mooring.placement.advise import CommandTarget

        target = CommandTarget("Pod", pod.metadata.name, pod.metadata.namespace, fixed=fixed)
    # What would help otherwise says which nodes are to be added, and how many are not known here.
    suits = _is_of_what_exists if singly else _is_of_use
    return smallest_change(state.engine, state.engine.explain(info), plain, target, suits, singly=singly)


def _is_of_use(advice: Advice) -> bool:
    return True


def _is_of_what_exists(advice: Advice) -> bool:
    return all(edit.op != "addNode" for edit in advice.edits)


def smallest_change(
    engine: Engine,
    explanation: Explanation,
    pod: Object,
    target: CommandTarget | None = None,
    suits: Callable[[Advice], bool] = _is_of_use,
    *,
    singly: bool = False,
) -> str:
    """The best advice for a rejected pod as a sentence, of that which suits; empty where nothing was found.

    `singly` leaves out changes that help only together.
    """
    # Most workloads land, and then there is no need to load it.
    from mooring.placement.advise import MOST_CHANGES, Asked, advise

    most_changes = 1 if singly or engine.cluster.node_count > _SMALL_CLUSTER_NODES else MOST_CHANGES
    found = advise(engine, Asked(explanation, pod, target), most_changes=most_changes).advice
    return next((each.title for each in found if suits(each)), "")


def _plain(pod: Pod) -> Object:
    plain: Object = _without_nothing(msgspec.to_builtins(pod))
    return plain


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_nothing(item) for name, item in value.items() if item is not None and item != ""}
        return {name: item for name, item in kept.items() if item != [] or value[name]}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value
