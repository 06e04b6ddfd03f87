"""The cluster as a plan leaves it, for the placement engine, and what of the plan cannot be known."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mooring.api.core.types import Pod
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.resource.views import ResourceClaim, ResourceClaimStatus
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.snapshot import VIEWS, Snapshot
from mooring.plan.planner import Plan


def final_snapshot(plan: Plan) -> Snapshot:
    """The world as it ended, as the placement engine sees it."""
    snapshot = Snapshot(len(plan.cluster.objects("v1", "Node")))
    for kind, obj in _objects(plan):
        snapshot.add(convert(obj, VIEWS[kind]))
    snapshot.unread_kinds = set(plan.cluster.unread_kinds)
    return snapshot


def unknowns_of(plan: Plan) -> list[str]:
    """What the plan could not know and went on without: workloads that nothing acts on, then by pod."""
    snapshot = Snapshot(len(plan.cluster.objects("v1", "Node")))
    for kind, obj in _objects(plan):
        view = convert(obj, VIEWS[kind])
        key = f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"
        if (kind[1], key) in plan.cluster.stand_ins:
            continue
        if isinstance(view, PersistentVolumeClaim) and key not in plan.cluster.claims_before:
            # What it was given in the plan was made up.
            snapshot.add_new_claim(_unbound(view))
        elif isinstance(view, ResourceClaim) and key not in plan.cluster.allocated_before:
            # So were its devices, where classes or slices were not read.
            snapshot.add(msgspec.structs.replace(view, status=ResourceClaimStatus()))
        else:
            snapshot.add(view)
    snapshot.unread_kinds = set(plan.cluster.unread_kinds)
    found = dict.fromkeys(text for obj in plan.objects if (text := _not_waited_for(obj)))
    for pod in plan.pods:
        name = pod.object["spec"].get("runtimeClassName")
        if ("RuntimeClass", f"/{name}") in plan.cluster.stand_ins:
            found[f"what RuntimeClass {name} adds to pods is not known, as no RuntimeClass was read"] = None
        info = snapshot.cluster.compiler.compile(convert(pod.object, Pod))
        found |= dict.fromkeys(unknown.text for unknown in snapshot.unknowns(info))
    return list(found)


def _not_waited_for(obj: Object) -> str:
    kind = CATALOG.workloads().get(obj["kind"])
    if kind is None or not kind.runs_later:
        return ""
    metadata = obj["metadata"]
    return (
        f"no run of {obj['kind']} {metadata['namespace']}/{metadata['name']} is waited for, so it makes no pods; "
        "mooring explain -f says where they would land"
    )


def _objects(plan: Plan) -> Iterator[tuple[tuple[str, str], Object]]:
    for kind in VIEWS:
        for obj in plan.cluster.objects(*kind):
            yield kind, obj


def _unbound(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    replace = msgspec.structs.replace
    notes = replace(claim.metadata.annotations, bind_completed=None, selected_node=None)
    return replace(claim, metadata=replace(claim.metadata, annotations=notes), spec=replace(claim.spec, volume_name=""))
