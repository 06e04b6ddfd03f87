"""What a revision holds: the part of a LeaderWorkerSet that groups are made from, in one canonical form.

Upstream's controller writes the same form, to the byte. So of two spellings of one template neither replaces any group,
and neither does changing from one controller to the other.

A scheduling policy is held as what it comes to, annotations on both templates. A set whose policy was written into its
templates by a webhook, for a controller that knows no such policy, and one whose policy was not make the same pods.
"""

from __future__ import annotations

from typing import Final

from mooring.api.core.canonical import canonical_form
from mooring.features.groups.api import LeaderWorkerSet, read_template
from mooring.features.groups.pods.unique_placement import unique_annotations, with_unique_annotations
from mooring.kube.objects import Object

_TYPES: Final = {
    "leaderTemplate": "PodTemplateSpec",
    "workerTemplate": "PodTemplateSpec",
    "volumeClaimTemplates": "[PersistentVolumeClaim]",
    "persistentVolumeClaimRetentionPolicy": "apps.StatefulSetPersistentVolumeClaimRetentionPolicy",
}
# A revision is a patch that puts these parts in the place of whatever a set has.
_REPLACE: Final = {"$patch": "replace"}


def data_of(lws: LeaderWorkerSet) -> Object:
    """What a revision of today's set holds."""
    network = {"subdomainPolicy": lws.spec.network_config.subdomain_policy}
    return canonical_data({"spec": {"leaderWorkerTemplate": lws.spec.leader_worker_template, "networkConfig": network}})


def canonical_data(data: Object) -> Object:
    """What any revision holds, in the same form for those that upstream's controller wrote."""
    spec = data.get("spec") or {}
    template = _template(spec.get("leaderWorkerTemplate") or {})
    subdomain = (spec.get("networkConfig") or {}).get("subdomainPolicy") or "Shared"
    network = {"subdomainPolicy": subdomain}
    return {"spec": {"leaderWorkerTemplate": {**template, **_REPLACE}, "networkConfig": {**network, **_REPLACE}}}


def _template(template: Object) -> Object:
    made = with_unique_annotations(template, unique_annotations(read_template(template)))
    kept = {name: value for name, value in made.items() if name != "schedulingPolicy" and value not in (None, [])}
    return {name: canonical_form(_TYPES[name], value) if name in _TYPES else value for name, value in kept.items()}
