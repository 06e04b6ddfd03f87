"""What a job may ask for and Mooring has not: images that are built, and models that are checked.

Nothing counts as built or as healthy that nobody looked at. A job that wants an image built fails at once. Models are
never checked: the job says so, and runs.
"""

from __future__ import annotations

from typing import Final

from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.features.notebooks.api.status import (
    BuildStatus,
    ExistingEnvironmentCheck,
    ModelCheck,
    ModelValidationResult,
)

__all__ = ["BUILD_REASON", "MODELS_REASON", "build_status", "model_validation_result", "unavailable_warnings"]

# Reasons of conditions.
BUILD_REASON: Final = "StrategyNotFound"
MODELS_REASON: Final = "ModelsNotChecked"


def build_status(spec: ValidationSpec) -> BuildStatus | None:
    """Why a job that wants an image built cannot run; None for one that does not."""
    config = spec.pod_config.build_config
    if config is None or not config.enabled:
        return None
    message = (
        f"spec.podConfig.buildConfig asks for an image built with {config.strategy}, and Mooring builds none; build it "
        "elsewhere, name it in spec.podConfig.containerImage and set buildConfig.enabled to false"
    )
    return BuildStatus(phase="Failed", message=message, strategy=config.strategy)


def model_validation_result(spec: ValidationSpec) -> ModelValidationResult | None:
    """That models were not checked; None for a job that names none to be checked."""
    models = spec.model_validation
    if models is None or not models.enabled:
        return None
    message = f"models on {models.platform} are not checked: Mooring asks no endpoints; check them in the notebook"
    checks = tuple(
        ModelCheck(model, available=False, healthy=False, message="not checked") for model in models.target_models
    )
    existing = None
    if models.phase != "clean":
        existing = ExistingEnvironmentCheck(success=False, models_checked=checks, message="not checked")
    return ModelValidationResult(
        success=False,
        phase=models.phase,
        platform=models.platform,
        platform_detected=False,
        existing_environment_check=existing,
        message=message,
    )


def unavailable_warnings(spec: ValidationSpec) -> tuple[str, ...]:
    build, models = build_status(spec), model_validation_result(spec)
    return tuple(each.message for each in (build, models) if each is not None)
