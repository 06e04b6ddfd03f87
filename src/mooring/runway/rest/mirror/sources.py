"""Everything that a mirror can tell about: its topics, and the kinds that they are made of."""

from __future__ import annotations

from typing import Final

from mooring.client.transport import ListerWatcher
from mooring.runway.fleet.state import FleetState
from mooring.runway.rest.mirror.direct_topic import direct_topic
from mooring.runway.rest.mirror.fleet_topics import NODES, WORKLOADS, fleet_topics
from mooring.runway.rest.mirror.follower import FollowedKind
from mooring.runway.rest.mirror.mirror import Mirror, Told
from mooring.runway.rest.mirror.pools_topic import POOLS, PoolsState, pools_topic
from mooring.runway.workloads.events import EVENT_KIND, cluster_event

__all__ = ["EVENTS", "TOPICS", "CallerMirror"]

EVENTS: Final = "events"
TOPICS: Final = (NODES, WORKLOADS, POOLS, EVENTS)


class CallerMirror(Mirror):
    """A mirror with all topics. `fleet` is what nodes and workloads are made of, `pools` what pools are."""

    def __init__(self, transport: ListerWatcher) -> None:
        self.fleet = FleetState()
        self.pools = PoolsState()
        sources, tellers = fleet_topics(self.fleet)
        for source, told in (pools_topic(self.pools), direct_topic(EVENTS, FollowedKind(*EVENT_KIND, cluster_event))):
            sources.append(source)
            for followed in source.kinds:
                tellers[followed.api_version, followed.kind] = told

        def teller(followed: FollowedKind) -> Told:
            return tellers[followed.api_version, followed.kind]

        super().__init__(transport, sources, teller)
