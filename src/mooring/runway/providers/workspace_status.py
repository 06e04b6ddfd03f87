"""The state of a deployment that is a Workspace, by the statuses of KAITO 0.6, 0.8 and 0.10 and of our own controller.

0.6 has a phase, 0.8 conditions alone, 0.10 a state beside them; whichever is there counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from mooring.kube.objects import Object
from mooring.runway.deployments.deployed_model import DeployedModel, Phase, ReplicaCounts, deployed_pods, trouble
from mooring.runway.models.catalogue import find_catalog_model
from mooring.runway.providers import labels
from mooring.runway.providers.pod_templates import BASE_IMAGE, PREMADE_IMAGES, VLLM_PORT

__all__ = ["workspace_deployment"]

_SERVICE_PORT: Final = 80
# Every other one is Pending, unless conditions say more.
_PHASES: Final[dict[str, Phase]] = {
    "running": "Running",
    "ready": "Running",
    "deploying": "Deploying",
    "provisioning": "Deploying",
    "failed": "Failed",
    "error": "Failed",
    "terminating": "Terminating",
    "deleting": "Terminating",
}
_STATES: Final[dict[str, Phase]] = {
    "Running": "Running",
    "Ready": "Running",
    "Succeeded": "Running",
    "Failed": "Failed",
    "NotReady": "Deploying",
}
# The reason of a Workspace that has not succeeded only because it is not done yet.
_NOT_YET: Final = "workspacePending"
_IMAGE: Final = BASE_IMAGE.rpartition(":")[0]


def workspace_deployment(obj: Object, pods: Sequence[Object], provider: str) -> DeployedModel:
    """`provider` is the one of a Workspace that does not name its own."""
    metadata, status = obj["metadata"], obj.get("status") or {}
    own = metadata.get("labels") or {}
    conditions = tuple(status.get("conditions") or ())
    told = {each.get("type"): each for each in conditions}
    phase = _phase(obj, told)
    shown = deployed_pods(pods)
    desired = status.get("targetNodeCount") or (obj.get("resource") or {}).get("count") or 1
    ready = sum(pod.ready for pod in shown) if shown else _ready(status, desired, phase)
    model, engine = _model(obj), _engine(obj, own)
    served = metadata["name"] if not _has_own_service(obj, engine) else f"{metadata['name']}-vllm"
    return DeployedModel(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        provider=own.get(labels.PROVIDER) or provider,
        model_id=model,
        served_model_name=_argument(obj, "--served-model-name") or model,
        engine=engine,
        mode="aggregated",
        phase=phase,
        message=_message(phase, told, trouble(shown)),
        replicas=ReplicaCounts(desired, min(ready, desired), min(ready, desired)),
        conditions=conditions,
        pods=shown,
        created_at=metadata.get("creationTimestamp") or "",
        frontend_service=f"{served}:{VLLM_PORT if served != metadata['name'] else _SERVICE_PORT}",
    )


def _phase(obj: Object, told: Object) -> Phase:
    status = obj.get("status") or {}
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if found := _STATES.get(status.get("state") or ""):
        return found
    phase = _PHASES.get(str(status.get("phase") or "").lower(), "Pending")
    return _by_conditions(told) if phase == "Pending" else phase


def _by_conditions(told: Object) -> Phase:
    succeeded = told.get("WorkspaceSucceeded") or {}
    if succeeded.get("status") == "True":
        return "Running"
    if succeeded.get("status") == "False" and succeeded.get("reason") != _NOT_YET:
        return "Failed"
    if _is_true(told, "ResourceReady") and not _is_true(told, "InferenceReady"):
        return "Deploying"
    return "Pending"


def _is_true(told: Object, kind: str) -> bool:
    return (told.get(kind) or {}).get("status") == "True"


def _ready(status: Object, desired: int, phase: Phase) -> int:
    return min(len(status.get("workerNodes") or ()) or desired, desired) if phase == "Running" else 0


def _message(phase: Phase, told: Object, pod_trouble: str) -> str:
    """The first condition that is False says what is waited for, unless a pod says it better."""
    if phase == "Running":
        return ""
    if pod_trouble:
        return pod_trouble
    if phase == "Failed":
        return str((told.get("WorkspaceSucceeded") or {}).get("message") or "")
    for kind in ("ResourceReady", "InferenceReady", "WorkspaceSucceeded"):
        found = told.get(kind) or {}
        if found.get("status") == "False" and found.get("message"):
            return str(found["message"])
    return ""


def _container(obj: Object) -> Object:
    template = (obj.get("inference") or {}).get("template") or {}
    containers: Sequence[Object] = (template.get("spec") or {}).get("containers") or ({},)
    return containers[0]


def _argument(obj: Object, flag: str) -> str:
    """What follows a flag among the arguments of the container."""
    words = [*(_container(obj).get("command") or ()), *(_container(obj).get("args") or ())]
    for word, after in pairwise([*words, ""]):
        if word == flag:
            return str(after)
        if str(word).startswith(f"{flag}="):
            return str(word).partition("=")[2]
    return ""


def _engine(obj: Object, own: Object) -> str:
    image = str(_container(obj).get("image") or "")
    is_vllm = own.get(labels.MODEL_SOURCE) in ("vllm", "preset") or _preset(obj) or image.startswith(f"{_IMAGE}:")
    return "vllm" if is_vllm else "llamacpp"


def _has_own_service(obj: Object, engine: str) -> bool:
    """A preset listens where the Workspace's Service leads to."""
    return engine == "vllm" and not _preset(obj)


def _preset(obj: Object) -> str:
    return str(((obj.get("inference") or {}).get("preset") or {}).get("name") or "")


def _model(obj: Object) -> str:
    """By what runway wrote, and else by what runs: objects of other clients are deployments too."""
    if told := (obj["metadata"].get("annotations") or {}).get(labels.MODEL):
        return str(told)
    if preset := _preset(obj):
        found = find_catalog_model(preset)
        return found.id if found is not None else preset
    if model := _argument(obj, "--model"):
        return model
    container = _container(obj)
    first = next(iter(container.get("args") or ()), "")
    if str(first).startswith("huggingface://"):
        return "/".join(str(first).removeprefix("huggingface://").split("/")[:2])
    image = str(container.get("image") or "")
    return image.removeprefix(PREMADE_IMAGES) if image.startswith(PREMADE_IMAGES) else image
