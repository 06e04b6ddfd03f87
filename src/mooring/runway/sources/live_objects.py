"""All objects of a cluster that a plan starts from, as far as the caller may read them: what a snapshot would hold."""

from __future__ import annotations

from typing import Any

from mooring.api.core.types import ObjectMeta
from mooring.catalog import CATALOG
from mooring.client.http import HttpTransport
from mooring.kube.objects import Object
from mooring.placement.snapshot import CONTENTS, SOMETIMES_ABSENT, SnapshotContents, to_object
from mooring.runway.sources.live_source import DEVICES, read_kinds
from mooring.runway.sources.snapshot_kinds import saved_kinds
from mooring.runway.sources.trimmed_views import trimmed

__all__ = ["live_objects"]


async def live_objects(transport: HttpTransport) -> list[Object]:
    kinds = saved_kinds()
    api_versions = {kind: api_version for api_version, kind in kinds}
    found: list[Object] = []

    def take(kind: str, view: Any) -> None:
        found.append({"apiVersion": api_versions[kind], "kind": kind, **to_object(trimmed(view))})

    gaps = await read_kinds(transport, kinds, take, may_be_missing={*CATALOG.custom_kinds(), *DEVICES})
    read = sorted(SOMETIMES_ABSENT.difference(gap.kind for gap in gaps))
    contents = SnapshotContents(ObjectMeta(name="contents"), tuple(read))
    found.append({"apiVersion": CONTENTS[0], "kind": CONTENTS[1], **to_object(contents)})
    return found
