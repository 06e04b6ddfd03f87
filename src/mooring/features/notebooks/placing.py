"""Whether a node can take the pod of a job: asked of the placement engine before the pod is made, and while it waits.

A pod that no node can take is made nevertheless. What adds nodes, such as an autoscaler, looks at pods that wait, and a
scheduler places the pod at once when a node changes so that it fits. What the engine found stands in the condition
Placeable from the first moment: the closest nodes, what keeps the pod off them, and the smallest change that helps.

A pod for which there is room once other notebooks are done waits for its turn, and not for a person: Placeable is
Unknown, and no grace period runs. One that only simulated nodes would take is not made: nothing really runs there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from mooring.api.core.defaults.pods import default_pod
from mooring.api.core.types import Pod as PlacedPod
from mooring.api.meta import Condition
from mooring.features.notebooks.api.names import APP, APP_LABEL
from mooring.features.notebooks.editable import EDITABLE
from mooring.kube.objects import Object
from mooring.placement.engine import Engine, Explanation
from mooring.placement.pods import PodInfo
from mooring.runtime.view import View
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.kinds import NODE
from mooring.workloads.placeable import PLACEABLE, smallest_change

__all__ = [
    "MAX_ANSWER_AGE",
    "PlacingAnswer",
    "PodPlacing",
    "ask",
    "is_simulated",
    "placeable_condition",
    "simulated_text",
]

# The engine looks at the whole cluster; a pod that waits is asked about at most this often.
MAX_ANSWER_AGE: Final = timedelta(seconds=30)
HOSTNAME: Final = "kubernetes.io/hostname"
_MOST_NODES: Final = 3

PlacingAnswer = Literal["Fits", "WaitingForRoom", "Unschedulable", "SimulatedNode"]
_STATUS: Final[dict[PlacingAnswer, str]] = {
    "Fits": "True",
    "WaitingForRoom": "Unknown",
    "Unschedulable": "False",
    "SimulatedNode": "False",
}


class PodPlacing(NamedTuple):
    """What the engine found about one pod at one moment."""

    answer: PlacingAnswer
    message: str
    pod: str
    found: datetime


def placeable_condition(placing: PodPlacing) -> Condition:
    return Condition(PLACEABLE, _STATUS[placing.answer], placing.answer, placing.message)


def is_simulated(view: View, node: str) -> bool:
    found = view.get(NODE, "", node)
    return found is not None and found.metadata.annotations.fake == "fake"


def ask(view: View, pod: Object) -> PodPlacing:
    """Whether a node can take the pod, once the API has filled it in: limits, for one, become requests."""
    state, pod = view.peek(CLUSTER), default_pod(pod)
    info = state.cluster.compiler.compile(msgspec.convert(pod, PlacedPod))
    explanation = state.engine.explain(info)
    answer, message = _answer(view, state.engine, info, explanation, pod)
    return PodPlacing(answer, message, info.key, view.now)


def _answer(
    view: View, engine: Engine, info: PodInfo, explanation: Explanation, pod: Object
) -> tuple[PlacingAnswer, str]:
    name = pod["metadata"]["name"]
    if explanation.feasible.size:
        names = [engine.cluster.names[slot] for slot in explanation.feasible.tolist()]
        real = next((each for each in names if not is_simulated(view, each)), None)
        if real is not None:
            return "Fits", f"node {real} can take pod {name}"
        chosen = engine.cluster.names[explanation.chosen] if explanation.chosen >= 0 else names[0]
        return "SimulatedNode", simulated_text(view, name, chosen, _closest(view, explanation, real_only=True))
    if nodes := _nodes_of_notebooks(engine, info):
        return "WaitingForRoom", f"{_listed(nodes)} can take pod {name} once other notebooks there are done"
    return (
        "Unschedulable",
        f"no node can take pod {name}: {_why(view, explanation)}; {_help(view, engine, explanation, pod)}",
    )


def simulated_text(view: View, pod: str, node: str, closest: str = "") -> str:
    text = f"pod {pod} would land on node {node}, which is simulated, so that the notebook would not run"
    cluster = view.peek(CLUSTER).cluster
    names = (cluster.names[slot] for slot in cluster.order.tolist())
    real = next((each for each in names if not is_simulated(view, each)), None)
    if real is None:
        return f"{text}; there is no real node, so run mooring up with its process node, or join one"
    selector = f"spec.podConfig.nodeSelector, such as {HOSTNAME}: {real}"
    return f"{text}; select a real node with {selector}, and tolerate its taints" + (
        f". Closest real: {closest}" if closest else ""
    )


def _nodes_of_notebooks(engine: Engine, info: PodInfo) -> list[str]:
    """The nodes that would take the pod if other notebooks on them were done."""
    cluster = engine.cluster
    held = [
        each.key
        for each in cluster.pods.values()
        if each.node_name and not each.finished and each.labels.get(APP_LABEL) == APP
    ]
    if not held:
        return []
    with cluster.pretending((), held):
        fits = engine.fits(info)
        return [cluster.names[slot] for slot in cluster.order[fits[cluster.order]].tolist()]


def _why(view: View, explanation: Explanation) -> str:
    closest = _closest(view, explanation, real_only=True) or _closest(view, explanation)
    return closest or explanation.message.partition(". ")[0].rstrip(".")


def _closest(view: View, explanation: Explanation, *, real_only: bool = False) -> str:
    """The nodes that come nearest to taking the pod, and what keeps it off them."""
    # Most pods land, and then there is no need to load it.
    from mooring.placement.causes.nodes import blocked_groups

    if explanation.filters is None:
        return ""
    for group in blocked_groups(explanation):
        names = [explanation.filters.cluster.names[slot] for slot in group.slots.tolist()]
        kept = [each for each in names if not is_simulated(view, each)] if real_only else names
        if kept:
            return f"{_listed(kept)} ({'; '.join(cause.text for cause in group.causes)})"
    return ""


def _help(view: View, engine: Engine, explanation: Explanation, pod: Object) -> str:
    """The smallest change that would let it in, on a node where it runs."""
    from mooring.placement.advise import CommandTarget

    target = CommandTarget("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], fields=EDITABLE)
    found = smallest_change(
        engine, explanation, pod, target, lambda advice: any(not is_simulated(view, each) for each in advice.nodes)
    )
    return f"what would help: {found}" if found else "no change that was tried would help"


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    rest = len(found) - _MOST_NODES
    return ", ".join(found[:_MOST_NODES]) + (f" and {rest} more" if rest > 0 else "")
