"""Nodes, pools, what the autoscaler decided, and events."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mooring.kube.status import ForbiddenError
from mooring.runway.fleet.nodes import FleetNode
from mooring.runway.fleet.pools import AutoscalerAnswer, FleetPool, autoscaler_answer
from mooring.runway.fleet.timeline import TimelineAnswer, timeline_answer
from mooring.runway.rest.mirror.fleet_topics import NODES
from mooring.runway.rest.mirror.pools_topic import POOLS
from mooring.runway.rest.mirror.sources import EVENTS
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown
from mooring.runway.workloads.events import EventSummary

__all__ = ["FLEET_ROUTES", "fleet_nodes", "listed"]


class NodesShown(Shown, frozen=True):
    nodes: tuple[FleetNode, ...]


class PoolsShown(Shown, frozen=True):
    pools: tuple[FleetPool, ...]


class EventsShown(Shown, frozen=True):
    events: tuple[EventSummary, ...]


class EventsQuery(msgspec.Struct, frozen=True):
    """Only events about objects of this namespace, kind and name."""

    namespace: str = ""
    kind: str = ""
    name: str = ""


async def listed(call: RestCall, topic: str) -> dict[str, msgspec.Raw]:
    """All elements of a topic, under its name."""
    return {topic: msgspec.Raw((await call.caller.topic(topic)).list())}


async def fleet_nodes(call: RestCall) -> list[FleetNode]:
    return [element.value for element in (await call.caller.topic(NODES)).elements.values()]


async def _nodes(call: RestCall) -> Any:
    return await listed(call, NODES)


async def _pools(call: RestCall) -> Any:
    return await listed(call, POOLS)


async def _autoscaler(call: RestCall) -> AutoscalerAnswer:
    await call.caller.topic(POOLS)
    state = call.caller.mirror.pools
    return autoscaler_answer(state.report, state.decisions)


async def _timeline(call: RestCall) -> TimelineAnswer:
    """Who may not read events is told what conditions and decisions say."""
    await call.caller.topic(POOLS)
    state = call.caller.mirror.pools
    try:
        events = [element.value for element in (await call.caller.topic(EVENTS)).elements.values()]
    except ForbiddenError as error:
        return timeline_answer(state.report, state.world(), state.decisions, (), (str(error),))
    return timeline_answer(state.report, state.world(), state.decisions, events)


async def _events(call: RestCall) -> EventsShown:
    topic, asked = await call.caller.topic(EVENTS), call.query
    found = [element.value for element in topic.elements.values() if _is_about(element.value, asked)]
    return EventsShown(tuple(sorted(found, key=lambda event: (event.last_seen, event.id))))


def _is_about(event: EventSummary, asked: EventsQuery) -> bool:
    about = event.object
    return (
        asked.namespace in ("", about.namespace) and asked.kind in ("", about.kind) and asked.name in ("", about.name)
    )


FLEET_ROUTES: Final = (
    Route("GET", "/api/nodes", "All nodes, what they have free, and who holds their GPUs.", _nodes, NodesShown),
    Route("GET", "/api/pools", "The pools that are scaled, and the story of each.", _pools, PoolsShown),
    Route("GET", "/api/autoscaler", "What the autoscaler decided, newest last.", _autoscaler, AutoscalerAnswer),
    Route("GET", "/api/timeline", "What happened in the pools, oldest first.", _timeline, TimelineAnswer),
    Route("GET", "/api/events", "Events, oldest first.", _events, EventsShown, query=EventsQuery),
)
