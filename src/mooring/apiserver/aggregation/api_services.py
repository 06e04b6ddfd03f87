"""Which groups and versions other servers answer for, by the APIServices that name a Service."""

import asyncio
from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.registry import Registry

__all__ = ["KIND", "GroupVersion", "RemoteApis"]

KIND: Final = ("apiregistration.k8s.io/v1", "APIService")


class GroupVersion(NamedTuple):
    group: str
    version: str

    @property
    def path(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


class RemoteApis:
    """Looked up at each request, so an APIService counts at once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._found: dict[GroupVersion, Object] | None = None
        self.changed = asyncio.Event()
        # Never polled: only its wake callback is used, which is called on every change.
        self._watch = registry.watch(
            registry.resource(*KIND), resource_version=str(registry.revision), wake=self._forget
        )

    def _forget(self) -> None:
        self._found = None
        self.changed.set()

    def close(self) -> None:
        self._watch.close()

    @property
    def all(self) -> dict[GroupVersion, Object]:
        """The APIServices by what they are for."""
        if self._found is None:
            self._found = {
                GroupVersion(each["spec"].get("group", ""), each["spec"].get("version", "")): each
                for each in self._registry.all(*KIND)
                if "service" in each["spec"]
            }
        return self._found

    def of(self, group: str, version: str) -> Object | None:
        return self.all.get(GroupVersion(group, version))
