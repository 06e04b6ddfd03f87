"""Identities of objects in files of `mooring snapshot`, which have no uids.

Such a file names owners by kind and name. A plan's controllers ask for uids, so each object and each owner gets one
that follows from its kind, namespace and name.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID, uuid5

from mooring.kube.objects import Object

__all__ = ["identified"]

_SNAPSHOT: Final = UUID("6f3c8f0e-52a5-4b0f-9c62-9d7c6a1f4e21")


def identified(obj: Object) -> Object:
    """The object with its uid and those of its owners. A manifest, which has no creation time, stays as it is."""
    metadata = obj.get("metadata") or {}
    if "uid" in metadata or "creationTimestamp" not in metadata:
        return obj
    namespace = str(metadata.get("namespace", ""))
    made = {**metadata, "uid": _uid(str(obj.get("kind")), namespace, str(metadata.get("name")))}
    if owners := metadata.get("ownerReferences"):
        made["ownerReferences"] = [{**each, "uid": _uid(each["kind"], namespace, each["name"])} for each in owners]
    return {**obj, "metadata": made}


def _uid(kind: str, namespace: str, name: str) -> str:
    return str(uuid5(_SNAPSHOT, f"{kind}/{namespace}/{name}"))
