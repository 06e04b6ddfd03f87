"""The objects of one Machine: itself, its provider's object and its bootstrap object, all three of one name.

The Machine comes first and names the other two; they are made when it is there and belong to it. So nothing is left
over after a crash, and what is missing can be told from the Machine alone.
"""

from __future__ import annotations

from typing import Any

from mooring.api.kinds import Kind
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_MACHINE
from mooring.features.hosts.api.names import GROUP as HOSTS_GROUP
from mooring.features.machines.api.kinds import MACHINE, MACHINE_SET
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import (
    CLONED_FROM_GROUP_KIND,
    CLONED_FROM_NAME,
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    MACHINE_FINALIZER,
    SET_NAME,
    TEMPLATE_HASH,
)
from mooring.features.machines.blueprints import BOOTSTRAP_KIND, INFRASTRUCTURE_KIND, MachineBlueprint, Source, written
from mooring.features.machines.pools.naming import base_name
from mooring.kube.objects import Object
from mooring.runtime.decision import Apply, Create
from mooring.runtime.view import View
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["machine_of", "missing_clones"]


def machine_of(machine_set: MachineSet, name: str, existing: Machine | None = None) -> Apply:
    """A Machine of a set, whole: what its template says, and of one that exists what cannot change."""
    meta, template = machine_set.metadata, machine_set.spec.template
    own = {SET_NAME: meta.name, CLUSTER_NAME: machine_set.spec.cluster_name}
    inherited = {name: meta.labels[name] for name in (DEPLOYMENT_NAME, TEMPLATE_HASH) if name in meta.labels}
    metadata: Object = {
        "name": name,
        "generateName": f"{base_name(machine_set)}-",
        "namespace": meta.namespace,
        "labels": {**template.metadata.labels, **inherited, **own},
        # From its first moment: one that was deleted before its controller came by would leave its clones behind.
        "finalizers": [MACHINE_FINALIZER],
        "ownerReferences": [controller_reference(MACHINE_SET, machine_set)],
    }
    if template.metadata.annotations:
        metadata["annotations"] = dict(template.metadata.annotations)
    spec: Object = written(template.spec)
    if existing is None:
        spec["infrastructureRef"] = {"apiGroup": HOSTS_GROUP, "kind": INFRASTRUCTURE_KIND, "name": name}
        if template.spec.bootstrap.data_secret_name is None:
            spec["bootstrap"] = {"configRef": {"apiGroup": HOSTS_GROUP, "kind": BOOTSTRAP_KIND, "name": name}}
    else:
        spec["infrastructureRef"] = written(existing.spec.infrastructure_ref)
        if existing.spec.bootstrap.config_ref:
            spec["bootstrap"] = {"configRef": written(existing.spec.bootstrap.config_ref)}
        for field, value in (("version", existing.spec.version), ("failureDomain", existing.spec.failure_domain)):
            spec.pop(field, None)
            if value:
                spec[field] = value
    return Apply(MACHINE, {"metadata": metadata, "spec": spec})


def missing_clones(view: View, machine: Machine, blueprint: MachineBlueprint) -> tuple[Create, ...]:
    """The objects of a Machine that are not there yet. What a provider has delivered once is not made again."""
    namespace, made = machine.metadata.namespace, []
    infrastructure, bootstrap = machine.spec.infrastructure_ref, machine.spec.bootstrap.config_ref
    if (
        bootstrap
        and blueprint.bootstrap is not None
        and machine.spec.bootstrap.data_secret_name is None
        and view.get(BOOTSTRAP_KUBECONFIG, namespace, bootstrap.name) is None
    ):
        made.append(_clone(BOOTSTRAP_KUBECONFIG, machine, blueprint.bootstrap))
    if (
        not machine.status.initialization.infrastructure_provisioned
        and view.get(BYO_MACHINE, namespace, infrastructure.name) is None
    ):
        made.append(_clone(BYO_MACHINE, machine, blueprint.infrastructure))
    return tuple(made)


def _clone(kind: Kind[Any], machine: Machine, source: Source) -> Create:
    meta = machine.metadata
    metadata = {
        "name": meta.name,
        "namespace": meta.namespace,
        "labels": {**source.labels, **meta.labels},
        "annotations": {
            **source.annotations,
            CLONED_FROM_NAME: source.name,
            CLONED_FROM_GROUP_KIND: f"{source.kind}.{HOSTS_GROUP}",
        },
        "ownerReferences": [controller_reference(MACHINE, machine)],
    }
    return Create(kind, {"metadata": metadata, "spec": source.spec})
