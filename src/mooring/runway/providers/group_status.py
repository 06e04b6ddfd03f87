"""The state of a deployment that is groups of pods."""

from __future__ import annotations

from collections.abc import Sequence

from mooring.kube.objects import Object
from mooring.runway.deployments.deployed_model import (
    DeployedModel,
    DeployedPod,
    Phase,
    ReplicaCounts,
    deployed_pods,
    trouble,
)
from mooring.runway.providers import labels
from mooring.runway.providers.pod_templates import VLLM_PORT

__all__ = ["group_deployment"]


def group_deployment(obj: Object, pods: Sequence[Object], provider: str) -> DeployedModel:
    metadata, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    conditions = tuple(status.get("conditions") or ())
    desired = 1 if spec.get("replicas") is None else spec["replicas"]
    ready = status.get("readyReplicas") or 0
    shown = deployed_pods(pods)
    phase = _phase(obj, desired, ready, shown)
    model = str((metadata.get("annotations") or {}).get(labels.MODEL) or "")
    return DeployedModel(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        provider=(metadata.get("labels") or {}).get(labels.PROVIDER) or provider,
        model_id=model,
        served_model_name=_served_name(spec) or model,
        engine="vllm",
        mode="aggregated",
        phase=phase,
        message="" if phase == "Running" else trouble(shown),
        replicas=ReplicaCounts(desired, ready, ready),
        conditions=conditions,
        pods=shown,
        created_at=metadata.get("creationTimestamp") or "",
        frontend_service=f"{metadata['name']}-vllm:{VLLM_PORT}",
    )


def _phase(obj: Object, desired: int, ready: int, pods: Sequence[DeployedPod]) -> Phase:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if ready >= desired:
        return "Running"
    if any(pod.phase == "Failed" for pod in pods):
        return "Failed"
    # While a pod has no node, its group waits for it.
    return "Deploying" if pods and all(pod.node for pod in pods) else "Pending"


def _served_name(spec: Object) -> str:
    template = (spec.get("leaderWorkerTemplate") or {}).get("leaderTemplate") or {}
    containers: Sequence[Object] = (template.get("spec") or {}).get("containers") or ({},)
    words = list(containers[0].get("args") or ())
    return str(words[words.index("--served-model-name") + 1]) if "--served-model-name" in words[:-1] else ""
