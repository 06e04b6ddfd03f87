"""ControllerRevisions that a snapshot lacks, made from StatefulSets, DaemonSets and their pods.

People save nodes, pods and workloads, and rarely the ControllerRevisions behind them. Without these every pod of a set
would look outdated, and a plan would begin by replacing all of them. A StatefulSet names its revision in its status;
the pods of both carry its name or its hash. That is enough to make the revision again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from mooring.kube.objects import Object
from mooring.workloads.kinds import REVISION_LABEL


def missing_revisions(sets: Iterable[Object], revisions: Iterable[Object], pods: Iterable[Object]) -> Iterator[Object]:
    """A revision of today's template for every set that has none."""
    kept = {owner["uid"] for revision in revisions for owner in _owners(revision)}
    lacking = {each["metadata"]["uid"]: each for each in sets if each["metadata"]["uid"] not in kept}
    if not lacking:
        return
    carried: dict[str, Counter[str]] = {}
    for pod in pods:
        for reference in _owners(pod):
            if reference["uid"] in lacking:
                label = pod["metadata"].get("labels", {}).get(REVISION_LABEL, "")
                carried.setdefault(reference["uid"], Counter())[label] += 1
    for uid, owner in lacking.items():
        common = carried[uid].most_common(1)[0][0] if uid in carried else ""
        if owner["kind"] == "DaemonSet":
            if common:
                yield _revision(owner, f"{owner['metadata']['name']}-{common}", {REVISION_LABEL: common})
        elif name := owner.get("status", {}).get("updateRevision") or common:
            yield _revision(owner, name, {})


def _owners(obj: Object) -> Iterator[Object]:
    return (owner for owner in obj["metadata"].get("ownerReferences", ()) if owner.get("controller"))


def _revision(controller: Object, name: str, added: Object) -> Object:
    meta, template = controller["metadata"], controller["spec"]["template"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": controller["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    labels = {**template.get("metadata", {}).get("labels", {}), **added}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": meta["namespace"], "labels": labels, "ownerReferences": [owner]},
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": 1,
    }
