"""The ConfigMap that a validation pod mounts: the runner, the script that clones, and what the job asks for."""

from __future__ import annotations

import base64
import json
import pkgutil
from typing import Final

from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.comparison import comparison_config
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB
from mooring.features.notebooks.plain import plain
from mooring.features.notebooks.run_time import cell_time, run_time
from mooring.features.notebooks.validation_pod.names import (
    GOLDEN_PATH,
    REPOSITORY_PATH,
    WORKSPACE_PATH,
    config_map_name,
)
from mooring.features.notebooks.validation_pod.pod import spec_of
from mooring.kube.objects import Object
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["runner_config_map", "runner_settings"]

_SCRIPTS: Final = ("clone.sh", "askpass.sh")


def runner_config_map(job: NotebookValidationJob, runner: bytes) -> Object:
    """`runner` is the program as a zip that Python runs; raises MooringError for a job without a spec."""
    meta = job.metadata
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": config_map_name(meta.name),
            "namespace": meta.namespace,
            "ownerReferences": [controller_reference(NOTEBOOK_VALIDATION_JOB, job)],
        },
        "data": {
            **{name: _script(name) for name in _SCRIPTS},
            "settings.json": json.dumps(runner_settings(job), ensure_ascii=False, indent=1),
        },
        "binaryData": {"runner.pyz": base64.b64encode(runner).decode()},
    }


def runner_settings(job: NotebookValidationJob) -> Object:
    """What the runner is told. What a job leaves out and has no default is left out here too."""
    spec = spec_of(job)
    settings: Object = {
        "notebook": f"{REPOSITORY_PATH}/{spec.notebook.path}",
        "parameters": spec.parameters,
        "timeoutSeconds": run_time(spec).total_seconds(),
        "comparison": plain(comparison_config(job)),
        "output": WORKSPACE_PATH,
    }
    if spec.golden_notebook is not None:
        settings["golden"] = f"{GOLDEN_PATH}/{spec.golden_notebook.path}"
    if (limit := cell_time(spec)) is not None:
        settings["cellTimeoutSeconds"] = limit.total_seconds()
    if spec.validation_config is not None:
        settings["validation"] = plain(spec.validation_config)
    return settings


def _script(name: str) -> str:
    found = pkgutil.get_data("mooring.features.notebooks", f"data/{name}")
    assert found is not None, name
    return found.decode()
