"""v1beta1 of every kind as a spoke of v1beta2: which field is where, and in which form."""

from __future__ import annotations

from functools import partial
from typing import Final

from mooring.api.crds.conversion import Spoke
from mooring.features.machines.api.v1beta1 import forms
from mooring.features.machines.api.v1beta1.moves import Move, from_hub, prefixed, to_hub
from mooring.kube.objects import Object

__all__ = ["CLUSTERS", "MACHINES", "MACHINE_DEPLOYMENTS", "MACHINE_SETS"]

_INT32_MAX: Final = 2**31 - 1
_INT64_MAX: Final = 2**63 - 1
_AT_LEAST_0: Final = forms.between(0, _INT32_MAX)
_PORT: Final = forms.between(1, 65535)


def _reference(path: str) -> Move:
    return Move(path, path, forms.reference_to_group, forms.reference_to_version)


def _seconds(old: str, new: str) -> Move:
    return Move(old, new, forms.text_to_seconds, forms.seconds_to_text)


_MACHINE_SPEC: Final = (
    Move("clusterName"),
    Move("bootstrap", "bootstrap", forms.container, forms.container),
    _reference("bootstrap.configRef"),
    Move("bootstrap.dataSecretName"),
    _reference("infrastructureRef"),
    Move("version"),
    Move("providerID"),
    Move("failureDomain"),
    Move("readinessGates", "readinessGates", forms.filled),
    Move("taints"),
    _seconds("nodeDrainTimeout", "deletion.nodeDrainTimeoutSeconds"),
    _seconds("nodeVolumeDetachTimeout", "deletion.nodeVolumeDetachTimeoutSeconds"),
    _seconds("nodeDeletionTimeout", "deletion.nodeDeletionTimeoutSeconds"),
)
_POOL_SPEC: Final = (
    Move("clusterName"),
    Move("replicas"),
    Move("selector"),
    Move("template.metadata.labels"),
    Move("template.metadata.annotations"),
    *prefixed("template.spec", _MACHINE_SPEC),
    Move("minReadySeconds", "template.spec.minReadySeconds", _AT_LEAST_0),
    Move("machineNamingStrategy.template", "machineNaming.template"),
)
_STATUS: Final = (
    Move("observedGeneration", "observedGeneration", forms.between(1, _INT64_MAX)),
    Move("conditions", "deprecated.v1beta1.conditions"),
    Move("v1beta2.conditions", "conditions"),
)
_FAILURE: Final = (
    Move("failureReason", "deprecated.v1beta1.failureReason"),
    Move("failureMessage", "deprecated.v1beta1.failureMessage"),
)
_POOL_STATUS: Final = (
    *_STATUS,
    Move("selector"),
    Move("replicas"),
    Move("readyReplicas"),
    Move("availableReplicas"),
    Move("versions"),
)
_MACHINE: Final = (
    *prefixed("spec", _MACHINE_SPEC),
    *prefixed(
        "status",
        (
            *_STATUS,
            *_FAILURE,
            Move("nodeRef", "nodeRef", forms.node_to_name, forms.node_to_reference),
            Move("nodeInfo"),
            Move("lastUpdated"),
            Move("addresses"),
            Move("phase", "phase", to_old=forms.other_than("Updating")),
            Move("certificatesExpiryDate"),
            Move("bootstrapReady", "initialization.bootstrapDataSecretCreated"),
            Move("infrastructureReady", "initialization.infrastructureProvisioned"),
            Move("deletion"),
        ),
    ),
)
_MACHINE_SET: Final = (
    *prefixed("spec", (*_POOL_SPEC, Move("deletePolicy", "deletion.order"))),
    *prefixed(
        "status",
        (
            *_POOL_STATUS,
            *_FAILURE,
            Move("fullyLabeledReplicas", "deprecated.v1beta1.fullyLabeledReplicas"),
            Move("v1beta2.upToDateReplicas", "upToDateReplicas"),
        ),
    ),
)
_MACHINE_DEPLOYMENT: Final = (
    *prefixed(
        "spec",
        (
            *_POOL_SPEC,
            Move("paused"),
            Move("rolloutAfter", "rollout.after"),
            Move("strategy.type", "rollout.strategy.type"),
            Move("strategy.rollingUpdate.maxSurge", "rollout.strategy.rollingUpdate.maxSurge"),
            Move("strategy.rollingUpdate.maxUnavailable", "rollout.strategy.rollingUpdate.maxUnavailable"),
            Move("strategy.rollingUpdate.deletePolicy", "deletion.order"),
            Move("strategy.remediation.maxInFlight", "remediation.maxInFlight"),
        ),
    ),
    *prefixed(
        "status",
        (
            *_POOL_STATUS,
            Move("updatedReplicas", "upToDateReplicas"),
            Move("unavailableReplicas", "deprecated.v1beta1.unavailableReplicas"),
            Move("phase"),
        ),
    ),
)
_CLUSTER: Final = (
    Move("spec", "spec", forms.container, forms.container),
    *prefixed(
        "spec",
        (
            Move("paused"),
            Move("clusterNetwork.apiServerPort", "clusterNetwork.apiServerPort", _PORT),
            Move("clusterNetwork.serviceDomain"),
            Move("clusterNetwork.services.cidrBlocks", "clusterNetwork.services.cidrBlocks", forms.filled),
            Move("clusterNetwork.pods.cidrBlocks", "clusterNetwork.pods.cidrBlocks", forms.filled),
            Move("controlPlaneEndpoint.host", "controlPlaneEndpoint.host", forms.filled),
            Move("controlPlaneEndpoint.port", "controlPlaneEndpoint.port", _PORT),
            _reference("controlPlaneRef"),
            _reference("infrastructureRef"),
            Move("availabilityGates", "availabilityGates", forms.filled),
        ),
    ),
    *prefixed(
        "status",
        (
            *_STATUS,
            *_FAILURE,
            Move("failureDomains", "failureDomains", forms.domains_to_list, forms.domains_to_map),
            Move("phase"),
            Move("infrastructureReady", "initialization.infrastructureProvisioned"),
            Move("controlPlaneReady", "initialization.controlPlaneInitialized"),
            Move("v1beta2.controlPlane", "controlPlane"),
            Move("v1beta2.workers", "workers"),
        ),
    ),
)


def _spoke(moves: tuple[Move, ...]) -> Spoke:
    return Spoke(partial(to_hub, moves), partial(from_hub, moves))


def _deployment_to_hub(obj: Object) -> Object:
    made = to_hub(_MACHINE_DEPLOYMENT, obj)
    strategy = made.get("spec", {}).get("rollout", {}).get("strategy")
    if strategy is not None:
        # v1beta2 demands what v1beta1 takes for granted.
        strategy.setdefault("type", "RollingUpdate")
    return made


CLUSTERS: Final = _spoke(_CLUSTER)
MACHINES: Final = _spoke(_MACHINE)
MACHINE_SETS: Final = _spoke(_MACHINE_SET)
MACHINE_DEPLOYMENTS: Final = Spoke(_deployment_to_hub, partial(from_hub, _MACHINE_DEPLOYMENT))
