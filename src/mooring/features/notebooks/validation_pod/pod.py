"""A validation pod: it clones the notebook, and the golden one, and runs the runner that its ConfigMap holds."""

from __future__ import annotations

from typing import Final

from mooring.features.notebooks.api.jobs import GitSource, NotebookValidationJob, ValidationSpec
from mooring.features.notebooks.api.names import pod_labels
from mooring.features.notebooks.flags import GIT_INIT_IMAGE
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB
from mooring.features.notebooks.plain import plain
from mooring.features.notebooks.validation_pod.containers import clone_container, validator_container
from mooring.features.notebooks.validation_pod.names import (
    CLONE,
    GOLDEN_CLONE,
    GOLDEN_PATH,
    HOME_VOLUME,
    REPOSITORY_PATH,
    RUNNER_VOLUME,
    WORKSPACE_VOLUME,
    config_map_name,
    credentials_volume,
    pod_name,
)
from mooring.features.notebooks.validation_pod.scheduling import scheduling_fields
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["spec_of", "validation_pod"]

# askpass.sh is a program. The credentials are read by a user that nobody knows in advance.
_RUNNER_MODE: Final = 0o555
_CREDENTIALS_MODE: Final = 0o444


def validation_pod(job: NotebookValidationJob, attempt: int = 0, *, git_image: str = GIT_INIT_IMAGE.default) -> Object:
    """The pod of an attempt, counted from 0; raises MooringError for a job without a spec."""
    spec, meta = spec_of(job), job.metadata
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(meta.name, attempt),
            "namespace": meta.namespace,
            "labels": pod_labels(meta.name),
            "ownerReferences": [controller_reference(NOTEBOOK_VALIDATION_JOB, job)],
        },
        "spec": {
            "restartPolicy": "Never",
            "serviceAccountName": spec.pod_config.service_account_name or "default",
            "initContainers": _clones(spec, git_image),
            "containers": [validator_container(spec, meta.namespace)],
            "volumes": _volumes(meta.name, spec),
            **scheduling_fields(spec.pod_config),
        },
    }


def spec_of(job: NotebookValidationJob) -> ValidationSpec:
    if job.spec is None:
        raise MooringError("a job needs a notebook and a podConfig", "spec")
    return job.spec


def _clones(spec: ValidationSpec, image: str) -> list[Object]:
    made = [clone_container(CLONE, spec.notebook, REPOSITORY_PATH, spec, image)]
    if spec.golden_notebook is not None:
        made.append(clone_container(GOLDEN_CLONE, spec.golden_notebook, GOLDEN_PATH, spec, image))
    return made


def _volumes(job: str, spec: ValidationSpec) -> list[Object]:
    return [
        {"name": WORKSPACE_VOLUME, "emptyDir": {}},
        {"name": HOME_VOLUME, "emptyDir": {}},
        {"name": RUNNER_VOLUME, "configMap": {"name": config_map_name(job), "defaultMode": _RUNNER_MODE}},
        *_credentials(CLONE, spec.notebook.git),
        *(_credentials(GOLDEN_CLONE, spec.golden_notebook.git) if spec.golden_notebook is not None else ()),
        *(plain(each) for each in spec.pod_config.volumes),
    ]


def _credentials(container: str, source: GitSource) -> list[Object]:
    """Optional, so that a Secret that is missing is told by the container that clones, and keeps no pod waiting."""
    if not source.credentials_secret:
        return []
    secret = {"secretName": source.credentials_secret, "defaultMode": _CREDENTIALS_MODE, "optional": True}
    return [{"name": credentials_volume(container), "secret": secret}]
