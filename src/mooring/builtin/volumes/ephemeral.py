"""Claims for the ephemeral volumes of pods: one a volume, which goes with the pod."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from mooring.api.core.views import Pod
from mooring.api.kinds import Indexers, Key
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME_CLAIM, POD
from mooring.workloads.ownerrefs import controller_reference


def _with_ephemeral(pod: Pod) -> Iterable[str]:
    return ("",) if any(volume.ephemeral is not None for volume in pod.spec.volumes or ()) else ()


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    missing: list[Write] = []
    for pod in view.list(POD, "ephemeral", ""):
        if pod.finished or pod.metadata.deleting:
            continue
        meta = pod.metadata
        for volume in pod.spec.volumes or ():
            if volume.ephemeral is None:
                continue
            name = f"{meta.name}-{volume.name}"
            # One that belongs to somebody else is left alone; the scheduler says so.
            if view.get(PERSISTENT_VOLUME_CLAIM, meta.namespace, name) is None:
                missing.append(Create(PERSISTENT_VOLUME_CLAIM, _claim(pod, name, volume.ephemeral)))
    return Decision(children=tuple(missing))


def _claim(pod: Pod, name: str, source: Object) -> Object:
    template = source.get("volumeClaimTemplate") or {}
    noted = template.get("metadata") or {}
    return {
        "metadata": {
            **{field: noted[field] for field in ("annotations", "labels") if noted.get(field)},
            "name": name,
            "namespace": pod.metadata.namespace,
            "ownerReferences": [controller_reference(POD, pod)],
        },
        "spec": template.get("spec") or {},
    }


CONTROLLER: Final = Controller(
    "ephemeral-volumes",
    reconcile,
    reads=(POD, PERSISTENT_VOLUME_CLAIM),
    writes={PERSISTENT_VOLUME_CLAIM: ("create",), POD: ("finalizers",)},
    indexers=(Indexers(POD, indexes={"ephemeral": _with_ephemeral}, placed_by=("spec",)),),
)
