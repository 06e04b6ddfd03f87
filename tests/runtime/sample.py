"""The controller of the tutorial (docs/writing-a-controller.md), and the kinds it works on."""

from __future__ import annotations

from datetime import datetime

import msgspec

from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind, key_of
from mooring.api.meta import Meta
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.runtime.view import View
from mooring.workloads.children import compare
from mooring.workloads.ownerrefs import controller_reference


class ConfigMap(Typed, frozen=True):
    metadata: Meta = Meta()
    data: dict[str, str] = msgspec.field(default_factory=dict)


CONFIG_MAP = Kind("v1", "ConfigMap", ConfigMap, counters={"labelled": lambda config: "ready" in config.metadata.labels})


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    """Keep as many copies of a ConfigMap as its `copies` entry asks for, and write down how many there are."""
    source = view.get(CONFIG_MAP, *key)
    if source is None or source.metadata.deleting or "copies" not in source.data:
        return Decision()
    copies = {copy.metadata.name: copy for copy in view.owned(CONFIG_MAP, source)}
    owner = controller_reference(CONFIG_MAP, source)
    metadata = {"namespace": key.namespace, "ownerReferences": [owner]}
    wanted = {f"{key.name}-{slot}": metadata for slot in range(int(source.data["copies"]))}
    found = compare(wanted, copies)
    missing = [Create(CONFIG_MAP, {"metadata": {**made, "name": name}}) for name, made in found.missing.items()]
    surplus = [Delete(CONFIG_MAP, key_of(copy)) for copy in found.surplus]
    told = Patch(CONFIG_MAP, key, {"data": {"seen": str(len(copies))}})
    return Decision(
        children=(*missing, *surplus),
        status=(told,) if source.data.get("seen") != str(len(copies)) else (),
    )


COPIER = Controller(
    "copier", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete", "finalizers")}
)
