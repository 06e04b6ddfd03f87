"""Parts of a job that Mooring has nothing for: image builds, and checks of models. It says so, and claims nothing."""

from __future__ import annotations

from typing import Final

from mooring.api.meta import Condition
from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.kube.objects import Object

__all__ = ["MODELS_CHECKED", "build_refusal", "build_status", "model_result", "models_condition"]

MODELS_CHECKED: Final = "ModelsChecked"


def build_refusal(spec: ValidationSpec) -> str:
    """Why the job cannot run, where it wants an image built; empty where it does not."""
    build = spec.pod_config.build_config
    if build is None or not build.enabled:
        return ""
    return (
        f"spec.podConfig.buildConfig asks for an image built with {build.strategy}, and Mooring builds none; build it "
        "elsewhere, name it in spec.podConfig.containerImage and set buildConfig.enabled to false"
    )


def build_status(spec: ValidationSpec, message: str) -> Object:
    build = spec.pod_config.build_config
    return {"phase": "Failed", "message": message, "strategy": "" if build is None else build.strategy}


def models_condition(spec: ValidationSpec) -> tuple[Condition, ...]:
    """That models are not checked; the notebook runs, and finds them in its variables."""
    message = _models_message(spec)
    return (Condition(MODELS_CHECKED, "False", "ModelValidationUnavailable", message),) if message else ()


def model_result(spec: ValidationSpec) -> Object | None:
    message, models = _models_message(spec), spec.model_validation
    if not message or models is None:
        return None
    return {
        "success": False,
        "phase": models.phase,
        "platform": models.platform,
        "platformDetected": False,
        "message": message,
    }


def _models_message(spec: ValidationSpec) -> str:
    models = spec.model_validation
    if models is None or not models.enabled:
        return ""
    return (
        f"spec.modelValidation asks for checks of models on {models.platform}, and Mooring checks none; the notebook "
        "runs with the MODEL_VALIDATION_ variables and may check them itself"
    )
