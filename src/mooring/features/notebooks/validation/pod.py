"""The rules of Kubernetes for pods, applied to the pod that a job would make, and told by the fields of the job.

The API server would apply them when the pod is made, long after the job was accepted.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from mooring.api.core.defaults.pods import default_pod
from mooring.api.core.validation.pods import validate_pod
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.pod_config import JobResources, PodConfig
from mooring.features.notebooks.validation_pod.names import CLONE, credentials_volume
from mooring.features.notebooks.validation_pod.pod import spec_of, validation_pod
from mooring.kube.errors import FieldError, InvalidObjectError, QuantityError, invalid
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = ["check_pod", "pod_errors"]

Errors = list[FieldError]

_CONFIG: Final = "spec.podConfig"
_INDEXED: Final = re.compile(r"spec\.(?:containers\[0\]\.)?(volumes|volumeMounts|env|envFrom)\[(\d+)\](.*)", re.DOTALL)
# Fields of the pod that stand in podConfig under these names.
_FIELDS: Final = (
    ("spec.containers[0].image", f"{_CONFIG}.containerImage"),
    ("spec.containers[0].resources", f"{_CONFIG}.resources"),
    # Where the API names no entry.
    ("spec.containers[0].env", f"{_CONFIG}.env"),
    ("spec.containers[0].envFrom", f"{_CONFIG}.envFrom"),
    ("spec.containers[0].volumeMounts", f"{_CONFIG}.volumeMounts"),
    ("spec.volumes", f"{_CONFIG}.volumes"),
    ("spec.serviceAccountName", f"{_CONFIG}.serviceAccountName"),
    ("spec.tolerations", f"{_CONFIG}.tolerations"),
    ("spec.nodeSelector", f"{_CONFIG}.nodeSelector"),
    ("spec.affinity", f"{_CONFIG}.affinity"),
    ("metadata.labels", "metadata.name"),
)


def check_pod(errors: Errors, job: NotebookValidationJob) -> None:
    """What is said already of a field, or of a part of it, is not said again."""
    config = spec_of(job).pod_config
    readable = _check_quantities(errors, config)
    spec = msgspec.structs.replace(spec_of(job), pod_config=readable)
    pod = validation_pod(msgspec.structs.replace(job, spec=spec))
    # Before it is created a job has no uid, which a reference to it needs.
    del pod["metadata"]["ownerReferences"]
    said = (*(error.path for error in errors), *_copied_requests(readable))
    for error in pod_errors(pod):
        path = _path(error.path, pod, config)
        if not any(_overlaps(path, other) for other in said):
            errors.append(error._replace(path=path))


def pod_errors(pod: Object) -> list[FieldError]:
    """Why the API would refuse to create a pod."""
    try:
        return validate_pod(default_pod(pod))
    except InvalidObjectError as error:
        return list(error.errors)


def _copied_requests(config: PodConfig) -> list[str]:
    """Requests that follow from limits: what is wrong with them is said of the limits."""
    if config.resources is None:
        return []
    names = config.resources.limits.keys() - config.resources.requests.keys()
    return [f"{_CONFIG}.resources.requests[{name}]" for name in names]


def _check_quantities(errors: Errors, config: PodConfig) -> PodConfig:
    """The same with only the quantities that can be read: one of the others would hide all else that is wrong."""
    if config.resources is None:
        return config
    readable: dict[str, dict[str, str]] = {}
    for part, amounts in (("requests", config.resources.requests), ("limits", config.resources.limits)):
        readable[part] = {}
        for name, text in amounts.items():
            try:
                parse_quantity(text)
                readable[part][name] = text
            except QuantityError as error:
                errors.append(invalid(f"{_CONFIG}.resources.{part}[{name}]", text, error.message))
    return msgspec.structs.replace(config, resources=JobResources(**readable))


def _overlaps(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))


def _path(path: str, pod: Object, config: PodConfig) -> str:
    """Where a field of the pod stands in the job."""
    if found := _INDEXED.fullmatch(path):
        return _entry(found[1], int(found[2]), found[3], pod, config)
    for field, name in _FIELDS:
        if path == field or path.startswith((f"{field}.", f"{field}[")):
            return name if name == "metadata.name" else f"{name}{path.removeprefix(field)}"
    return path if path.startswith("metadata.") else f"{_CONFIG} ({path} of the pod)"


def _entry(part: str, index: int, rest: str, pod: Object, config: PodConfig) -> str:
    """The pod's own entries come before those of the job, and a variable of one name is one variable."""
    if part == "volumes":
        own = len(pod["spec"]["volumes"]) - len(config.volumes)
        if index < own:
            return _credentials(pod["spec"]["volumes"][index]["name"])
        return f"{_CONFIG}.volumes[{index - own}]{rest}"
    (container,) = pod["spec"]["containers"]
    if part == "env":
        name = container["env"][index]["name"]
        places = [place for place, each in enumerate(config.env) if each.name == name]
        return f"{_CONFIG}.env[{places[-1]}]{rest}" if places else "spec.modelValidation"
    if part == "envFrom":
        given = len(config.env_from)
        return f"{_CONFIG}.credentials[{index - given}]" if index >= given else f"{_CONFIG}.envFrom[{index}]{rest}"
    own = len(container["volumeMounts"]) - len(config.volume_mounts)
    return f"{_CONFIG}.volumeMounts[{index - own}]{rest}"


def _credentials(volume: str) -> str:
    source = "notebook" if volume == credentials_volume(CLONE) else "goldenNotebook"
    return f"spec.{source}.git.credentialsSecret"
