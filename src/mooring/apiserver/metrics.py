"""The metrics of the server, under the names of kube-apiserver's where it has them."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from mooring.apiserver.group_commit import GroupCommit
from mooring.kube.prometheus import Histogram, Metric, exposition
from mooring.registry import Resource

__all__ = ["Labels", "ServerMetrics"]

# Seconds: most requests take a millisecond.
_BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Labels(NamedTuple):
    """What a request was about; empty where it was about no resource."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str


class ServerMetrics:
    def __init__(self) -> None:
        self._requests = Metric(
            "apiserver_request_total",
            "counter",
            "Requests by verb, resource and code.",
            (*Labels._fields, "code"),
        )
        self._seconds = Histogram(
            "apiserver_request_duration_seconds",
            "How long requests took, watches aside.",
            Labels._fields,
            _BOUNDS,
        )
        self._watchers = Metric(
            "apiserver_longrunning_requests", "gauge", "Open watches.", ("group", "version", "resource", "verb")
        )
        self._objects = Metric("apiserver_resource_objects", "gauge", "Stored objects.", ("group", "resource"))
        self._commits = Metric("mooring_storage_commits_total", "counter", "Commits to the storage.", ())
        self._revision = Metric("mooring_storage_revision", "gauge", "Revision of the last change.", ())

    def request(self, labels: Labels, code: int, seconds: float | None = None) -> None:
        """Count an answer; without a duration where that would be the length of a watch."""
        self._requests.add(*labels, str(code))
        if seconds is not None:
            self._seconds.observe(*labels, value=seconds)

    def text(
        self,
        watchers: Mapping[Resource, int],
        objects: Mapping[Resource, int],
        revision: int,
        group_commit: GroupCommit,
    ) -> str:
        """All of them as a scrape reads them."""
        self._watchers.clear()
        for resource, count in watchers.items():
            self._watchers.set(resource.group, resource.version, resource.plural, "WATCH", value=count)
        self._objects.clear()
        for resource, count in objects.items():
            self._objects.set(resource.group, resource.plural, value=count)
        self._commits.set(value=group_commit.commits)
        self._revision.set(value=revision)
        return exposition((self._requests, self._seconds, self._watchers, self._objects, self._commits, self._revision))
