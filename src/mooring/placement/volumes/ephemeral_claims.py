"""The claims that a controller makes for the ephemeral volumes of a pod."""

from __future__ import annotations

from mooring.kube.objects import Object


def ephemeral_claims(pod: Object) -> list[Object]:
    """One claim a volume, owned by the pod."""
    metadata = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata.get("uid") or ""}
    return [
        {
            "metadata": {
                "name": f"{metadata['name']}-{volume['name']}",
                "namespace": metadata.get("namespace") or "default",
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": (volume["ephemeral"].get("volumeClaimTemplate") or {}).get("spec") or {},
        }
        for volume in (pod.get("spec") or {}).get("volumes") or []
        if volume.get("ephemeral") is not None
    ]
