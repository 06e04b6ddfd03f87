"""ControllerRevisions that a snapshot lacks, made from StatefulSets and their pods.

People save nodes, pods and workloads, and rarely the ControllerRevisions behind a StatefulSet. Without them every pod
of the set would look outdated, and a plan would begin by replacing all of them. A set names its revision in its status,
and its pods carry that name; that is enough to make the revision again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from mooring.kube.objects import Object
from mooring.workloads.kinds import REVISION_LABEL


def missing_revisions(
    stateful_sets: Iterable[Object], revisions: Iterable[Object], pods: Iterable[Object]
) -> Iterator[Object]:
    """A revision of today's template for every set that has none."""
    kept = {owner["uid"] for revision in revisions for owner in _owners(revision)}
    lacking = {each["metadata"]["uid"]: each for each in stateful_sets if each["metadata"]["uid"] not in kept}
    if not lacking:
        return
    carried: dict[str, Counter[str]] = {}
    for pod in pods:
        for owner in _owners(pod):
            if owner["uid"] in lacking:
                label = pod["metadata"].get("labels", {}).get(REVISION_LABEL, "")
                carried.setdefault(owner["uid"], Counter())[label] += 1
    for uid, stateful_set in lacking.items():
        common = carried[uid].most_common(1)[0][0] if uid in carried else ""
        name = stateful_set.get("status", {}).get("updateRevision") or common
        if name:
            yield _revision(stateful_set, name)


def _owners(obj: Object) -> Iterator[Object]:
    return (owner for owner in obj["metadata"].get("ownerReferences", ()) if owner.get("controller"))


def _revision(stateful_set: Object, name: str) -> Object:
    meta, template = stateful_set["metadata"], stateful_set["spec"]["template"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    labels = template.get("metadata", {}).get("labels", {})
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": meta["namespace"], "labels": labels, "ownerReferences": [owner]},
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": 1,
    }
