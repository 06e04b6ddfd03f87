"""Everything that a mirror can tell about: its topics, and the kinds that they are made of."""

from __future__ import annotations

from typing import Final

from mooring.client.transport import ListerWatcher
from mooring.runway.feature_views.hosts import HOST_KIND, host_record
from mooring.runway.feature_views.installations import INSTALLATION_KIND, INSTALLATION_TOPIC, installation_record
from mooring.runway.feature_views.notebooks import NOTEBOOK_KIND, notebook_record
from mooring.runway.fleet.state import FleetState
from mooring.runway.rest.mirror.direct_topic import direct_topic
from mooring.runway.rest.mirror.fleet_topics import NODES, WORKLOADS, fleet_topics
from mooring.runway.rest.mirror.follower import FollowedKind
from mooring.runway.rest.mirror.mirror import Mirror
from mooring.runway.rest.mirror.pools_topic import POOLS, PoolsState, pools_topic
from mooring.runway.workloads.events import EVENT_KIND, cluster_event

__all__ = ["EVENTS", "HOSTS", "NOTEBOOKS", "TOPICS", "CallerMirror"]

EVENTS: Final = "events"
HOSTS: Final = "hosts"
NOTEBOOKS: Final = "notebooks"
TOPICS: Final = (NODES, WORKLOADS, POOLS, HOSTS, NOTEBOOKS, INSTALLATION_TOPIC, EVENTS)
# Topics whose elements are one object each, by the kind of these and what is told of them.
_DIRECT: Final = {
    EVENTS: FollowedKind(*EVENT_KIND, cluster_event),
    HOSTS: FollowedKind(*HOST_KIND, host_record),
    NOTEBOOKS: FollowedKind(*NOTEBOOK_KIND, notebook_record),
    INSTALLATION_TOPIC: FollowedKind(*INSTALLATION_KIND, installation_record),
}


class CallerMirror(Mirror):
    """A mirror with all topics. `fleet` is what nodes and workloads are made of, `pools` what pools are."""

    def __init__(self, transport: ListerWatcher) -> None:
        self.fleet = FleetState()
        self.pools = PoolsState()
        sources, tellers = fleet_topics(self.fleet)
        direct = (direct_topic(name, followed) for name, followed in _DIRECT.items())
        for source, told in (pools_topic(self.pools), *direct):
            sources.append(source)
            for followed in source.kinds:
                tellers[followed] = told
        super().__init__(transport, sources, tellers.__getitem__)
