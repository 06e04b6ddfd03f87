"""Plays Stages on a simulated node and its pods: which one applies, when it is due, and what it writes.

The delay of a Stage counts from when the object came to be as it is: from the latest moment that it tells of, or, if it
was seen before and this Stage did not match then, from now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from mooring import __version__
from mooring.api.core.views import Node, Pod
from mooring.api.kinds import HasMeta, Key, Kind, key_of
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.addresses import host_address, pod_address
from mooring.nodes.stages.kinds import WHOLE_NODE, WHOLE_POD, Whole
from mooring.nodes.stages.lifecycle import STAGES, CompiledStage, Lifecycle, choose
from mooring.nodes.stages.next_write import Environment, NextWrite, StageFailure, is_heartbeat, last_moment, next_write
from mooring.runtime.decision import Event, Write
from mooring.runtime.view import Unavailable, View


class PendingStage(NamedTuple):
    """The Stage that an object waits for, since when, and what went wrong with it."""

    stage: str
    since: datetime
    failure: str = ""


class StagePlayer:
    """All Stages on one node. `pending` has the Stage that each object waits for, by uid, and is kept in the memory."""

    def __init__(self, view: View, node: Node, lifecycle: Lifecycle) -> None:
        self._view, self._node = view, node
        self._pods, self._nodes = lifecycle.of("Pod"), lifecycle.of("Node")
        known = view.memory(MappingProxyType)
        self._known: Mapping[str, PendingStage] = known or {}
        self.pending: dict[str, PendingStage] = {}
        self.events: list[Event] = []

    @property
    def drives_pods(self) -> bool:
        return bool(self._pods)

    def node(self) -> tuple[bool, list[Write]]:
        """Whether a Stage applies to the node, and what it writes now."""
        return (
            self._play(self._nodes, WHOLE_NODE, self._node, self._environment(lambda: ""))
            if self._nodes
            else (False, [])
        )

    def pod(self, pod: Pod, taken: Callable[[], set[str]]) -> tuple[bool, list[Write]]:
        """The same for a pod; `taken` returns the addresses that other pods of the node have."""
        if not self._pods:
            return False, []

        def address() -> str:
            if not pod.status.pod_ip:
                addresses.append(pod_address(self._node, pod, taken()))
                if not pod.spec.host_network:
                    taken().add(addresses[0])
            return addresses[0]

        addresses = [pod.status.pod_ip] if pod.status.pod_ip else []
        return self._play(
            self._pods, WHOLE_POD, pod, self._environment(lambda: addresses[0] if addresses else address())
        )

    def _play(
        self, stages: Sequence[CompiledStage], kind: Kind[Whole], seen: HasMeta, environment: Environment
    ) -> tuple[bool, list[Write]]:
        view, uid = self._view, seen.metadata.uid
        whole = view.get(kind, *key_of(seen))
        if whole is None or whole.metadata.uid != uid:
            # One of the two caches is behind: nothing is written until both have the same object.
            return True, []
        obj = whole.as_object(kind)
        stage = choose(stages, obj)
        if stage is None:
            self.pending[uid] = PendingStage("", view.now)
            return False, []
        pending_stage = self._pending_stage(uid, stage, obj)
        self.pending[uid] = pending_stage
        due = stage.due(obj, pending_stage.since)
        try:
            if due > view.now:
                self._wait(stage, obj, due, environment, kind)
                return True, []
            following = next_write(stage, obj, kind, environment)
        except StageFailure as error:
            self._tell(uid, pending_stage, str(error), kind, key_of(seen))
            return True, []
        return True, self._written(following)

    def _pending_stage(self, uid: str, stage: CompiledStage, obj: Object) -> PendingStage:
        known = self._known.get(uid)
        told = last_moment(obj) or self._view.now
        if known is not None and known.stage == stage.name:
            return known if told <= known.since else PendingStage(stage.name, told)
        return PendingStage(stage.name, self._view.now if known is not None else min(told, self._view.now))

    def _wait(
        self, stage: CompiledStage, obj: Object, due: datetime, environment: Environment, kind: Kind[Whole]
    ) -> None:
        if kind is WHOLE_NODE and is_heartbeat(stage, obj, environment):
            self._view.poll_again(due)
        else:
            self._view.reached(due)

    def _written(self, following: NextWrite | None) -> list[Write]:
        if following is None:
            return []
        self.events += following.events
        return [following.write]

    def _tell(self, uid: str, pending_stage: PendingStage, failure: str, kind: Kind[Whole], key: Key) -> None:
        known = self._known.get(uid)
        if known is None or known.failure != failure:
            self.events.append(Event(kind, key, "Warning", "StageFailed", failure))
        self.pending[uid] = pending_stage._replace(failure=failure)

    def _environment(self, address: Callable[[], str]) -> Environment:
        now, node = timestamp(self._view.now), self._node
        host = host_address(node)
        functions: dict[str, Callable[..., Any]] = {
            "Now": lambda: now,
            "StartTime": lambda: now,
            "Version": lambda: __version__,
            "NodeName": lambda: node.metadata.name,
            "NodePort": lambda: 0,
            "NodeIP": lambda: host,
            "NodeIPs": lambda: [host],
            "NodeIPWith": lambda *which: host,
            "NodeIPsWith": lambda *which: [host],
            "PodIPWith": lambda *which: address(),
            "PodIPsWith": lambda *which: [address()],
        }
        return functions


def stage_player(view: View, node: Node) -> StagePlayer | None:
    """The player of the cluster's Stages; None without Stages, or without their definition."""
    try:
        lifecycle = view.fold(STAGES)
    except Unavailable:
        return None
    found = StagePlayer(view, node, lifecycle)
    return found if found.drives_pods or lifecycle.of("Node") else None
