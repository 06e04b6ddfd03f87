"""The MachineSets of a MachineDeployment as they are written: size, template, and who made them."""

from __future__ import annotations

from typing import Final

from mooring.features.machines.api.kinds import MACHINE_DEPLOYMENT, MACHINE_SET
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.names import (
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    DISABLE_MACHINE_CREATE,
    GROUP,
    PAUSED,
    REVISION,
    TEMPLATE_HASH,
)
from mooring.features.machines.blueprints import written
from mooring.features.machines.pools.templates import set_name
from mooring.kube.objects import Object
from mooring.runtime.decision import Apply
from mooring.workloads.incarnations import RECORD
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["machine_set_of", "new_machine_set"]

# These belong to the object they are on.
_NOT_COPIED: Final = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", f"{GROUP}/conversion-data", REVISION, RECORD, PAUSED}
)
# What of a template a set was made with, and keeps.
_KEPT: Final = ("version", "failureDomain", "bootstrap", "infrastructureRef")


def new_machine_set(deployment: MachineDeployment, word: str, revision: int) -> Apply:
    """The set of today's template, without Machines yet."""
    name = set_name(deployment, word)
    return _applied(deployment, name, word, 0, revision, written(deployment.spec.template.spec), closed=False)


def machine_set_of(
    deployment: MachineDeployment, machine_set: MachineSet, replicas: int, revision: int, *, closed: bool
) -> Apply:
    """A set that exists, with what reaches Machines without a rollout. A closed one makes no more Machines."""
    own, spec = written(machine_set.spec.template.spec), written(deployment.spec.template.spec)
    spec = {name: value for name, value in spec.items() if name not in _KEPT}
    spec |= {name: own[name] for name in _KEPT if name in own}
    meta = machine_set.metadata
    return _applied(deployment, meta.name, meta.labels.get(TEMPLATE_HASH, ""), replicas, revision, spec, closed=closed)


def _applied(
    deployment: MachineDeployment, name: str, word: str, replicas: int, revision: int, machine: Object, *, closed: bool
) -> Apply:
    meta, spec = deployment.metadata, deployment.spec
    own = {DEPLOYMENT_NAME: meta.name, CLUSTER_NAME: spec.cluster_name}
    if word:
        own[TEMPLATE_HASH] = word
    labels = {**spec.template.metadata.labels, **own}
    annotations = {key: value for key, value in meta.annotations.items() if key not in _NOT_COPIED}
    annotations[REVISION] = str(revision)
    if closed:
        annotations[DISABLE_MACHINE_CREATE] = "true"
    selector = written(spec.selector)
    selector["matchLabels"] = {**selector.get("matchLabels", {}), **({TEMPLATE_HASH: word} if word else {})}
    template: Object = {"metadata": {"labels": labels}, "spec": machine}
    if spec.template.metadata.annotations:
        template["metadata"]["annotations"] = dict(spec.template.metadata.annotations)
    body: Object = {
        "clusterName": spec.cluster_name,
        "replicas": replicas,
        "selector": selector,
        "template": template,
    }
    for field, part in (("deletion", written(spec.deletion)), ("machineNaming", written(spec.machine_naming))):
        if part:
            body[field] = part
    metadata = {
        "name": name,
        "namespace": meta.namespace,
        "labels": labels,
        "annotations": annotations,
        "ownerReferences": [controller_reference(MACHINE_DEPLOYMENT, deployment)],
    }
    return Apply(MACHINE_SET, {"metadata": metadata, "spec": body})
