"""Verbs that tests speak in: a pod is placed on a node, is pending because of something, is advised something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.advise import Advice, Asked, CommandTarget, advise
from mooring.placement.answers import explain_answer
from mooring.placement.engine import Engine, Explanation
from mooring.placement.node_pools import NodePool
from mooring.placement.requests import add_object
from mooring.placement.scheduler_cache import SchedulerCache


class Scene:
    """A cluster made of objects, with an engine that answers for it."""

    def __init__(self, objects: tuple[Object, ...]) -> None:
        self.cluster = SchedulerCache(sum(o["kind"] == "Node" for o in objects))
        self.engine = Engine(self.cluster)
        for thing in objects:
            if not add_object(self.cluster, thing["kind"], thing):
                raise ValueError(f"A {thing['kind']} says nothing about where pods go.")

    def explain(self, pod: Object) -> Explanation:
        return self.engine.explain(self.cluster.compiler.compile(msgspec.convert(pod, Pod)))

    def answer(self, pod: Object) -> dict[str, Any]:
        """Everything that is known about a pod, as plain values to compare."""
        return explain_answer(self.cluster, self.explain(pod))


def cluster(*objects: Object) -> Scene:
    """A scene of nodes, bound pods and what surrounds them."""
    return Scene(objects)


def placed_on(scene: Scene, pod: Object) -> str | None:
    """The node that a pod goes to; None for one that is pending."""
    chosen = scene.explain(pod).chosen
    return None if chosen < 0 else scene.cluster.names[chosen]


def pending_because(scene: Scene, pod: Object) -> str:
    """The text of the FailedScheduling event; empty for a pod that is placed."""
    return scene.explain(pod).message


def advised(
    scene: Scene,
    pod: Object,
    workload: CommandTarget | None = None,
    limit: int = 100,
    priority_classes: Mapping[str, int] | None = None,
    pools: Sequence[NodePool] = (),
) -> list[Advice]:
    asked = Asked(scene.explain(pod), pod, workload, priority_classes or {}, pools=pools)
    return advise(scene.engine, asked, limit).advice
