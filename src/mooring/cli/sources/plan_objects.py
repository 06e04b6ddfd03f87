"""What a plan of a live cluster starts from: its nodes, pods, workloads and all that placement depends on.

Objects come whole, because the plan's controllers take over where those of the cluster are: a Deployment knows its
ReplicaSet by the template, a StatefulSet its pods by their revision. Nodes and pods come as views, as they are most of
a cluster. Secrets and ConfigMaps are not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mooring.api.core.views import Node, Pod
from mooring.catalog import CATALOG
from mooring.client.http import HttpTransport
from mooring.kube.objects import Object
from mooring.placement.snapshot import CONTENTS, SOMETIMES_ABSENT, VIEWS
from mooring.plan.snapshot import Restored
from mooring.runway.sources.live_source import DEVICES, Gap, read_kinds

__all__ = ["read_plan_objects"]

_VIEWS: Final[dict[tuple[str, str], Any]] = {("v1", "Node"): Node, ("v1", "Pod"): Pod}
_REVISION: Final = ("apps/v1", "ControllerRevision")


async def read_plan_objects(transport: HttpTransport, take: Callable[[Restored], None]) -> list[Gap]:
    """`take` is called with every object; returns the kinds that could not be read."""
    optional = _custom_kinds()
    workloads = [(each.api_version, each.kind) for each in CATALOG.workloads().values()]
    kinds = dict.fromkeys([*VIEWS, *workloads, _REVISION, *optional])
    api_versions = {kind: api_version for api_version, kind in kinds}

    def taken(kind: str, found: Any) -> None:
        take(found if isinstance(found, Node | Pod) else _whole(api_versions[kind], kind, found))

    views = {kind: _VIEWS.get(kind, dict) for kind in kinds}
    gaps = await read_kinds(transport, views, taken, {*optional, *DEVICES})
    read = sorted(SOMETIMES_ABSENT.difference(gap.kind for gap in gaps))
    take({"apiVersion": CONTENTS[0], "kind": CONTENTS[1], "kinds": read})
    return gaps


def _custom_kinds() -> list[tuple[str, str]]:
    """The kinds of features that have workloads, as they are stored. Pools of hosts take no part."""
    features = [feature for feature in CATALOG.features if feature.workloads.names]
    needed = [each for feature in features for each in (feature, *feature.needs)]
    return [(each.api_version(each.stored), each.kind) for feature in needed for each in feature.resources()]


def _whole(api_version: str, kind: str, found: Object) -> Object:
    """An item of a list, which does not say its kind; who wrote what is of no use."""
    metadata = {key: value for key, value in found["metadata"].items() if key != "managedFields"}
    return {"apiVersion": api_version, "kind": kind, **found, "metadata": metadata}
