"""The variables of the container that runs the notebook, merged by name: what a person writes counts most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mooring.features.notebooks.api.checks import ValidationConfig
from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.features.notebooks.api.model_validation import ModelValidation
from mooring.features.notebooks.api.pod_config import PodConfig
from mooring.features.notebooks.plain import plain
from mooring.features.notebooks.validation_pod.names import WORKSPACE_PATH
from mooring.kube.objects import Object

__all__ = ["env_from", "literals", "validator_env"]

# Images run as a user that nobody knows in advance: the workspace is the one place that is surely writable.
_PYTHON: Final = {
    "HOME": WORKSPACE_PATH,
    "PYTHONUSERBASE": f"{WORKSPACE_PATH}/.local",
    "PIP_USER": "1",
    "PIP_NO_CACHE_DIR": "1",
}


def validator_env(spec: ValidationSpec, namespace: str) -> list[Object]:
    own = (
        _validation(spec.validation_config or ValidationConfig()) | _models(spec.model_validation, namespace) | _PYTHON
    )
    merged: dict[str, Object] = {each["name"]: each for each in literals(own)}
    merged |= {each.name: plain(each) for each in spec.pod_config.env}
    return list(merged.values())


def literals(variables: Mapping[str, str]) -> list[Object]:
    """Variables whose values are not ours to write: a node would expand $(NAME) in them, and of $$ leave one."""
    return [{"name": name, "value": value.replace("$", "$$")} for name, value in variables.items()]


def env_from(config: PodConfig) -> list[Object]:
    """Credentials are short for Secrets at the end of the list."""
    given: list[Object] = [plain(each) for each in config.env_from]
    return [*given, *({"secretRef": {"name": name}} for name in config.credentials)]


def _validation(config: ValidationConfig) -> dict[str, str]:
    return {
        "VALIDATION_LEVEL": config.level,
        "VALIDATION_STRICT_MODE": _word(config.strict_mode),
        "VALIDATION_FAIL_ON_STDERR": _word(config.fail_on_stderr),
        "VALIDATION_FAIL_ON_WARNINGS": _word(config.fail_on_warnings),
        "VALIDATION_DETECT_SILENT_FAILURES": _word(config.detect_silent_failures),
    }


def _models(models: ModelValidation | None, namespace: str) -> dict[str, str]:
    if models is None or not models.enabled:
        return {}
    targets = [each if "/" in each else f"{namespace}/{each}" for each in models.target_models]
    made = {
        "ENABLED": "true",
        "PLATFORM": models.platform,
        "NAMESPACE": namespace,
        "PHASE": models.phase,
        "TARGET_MODELS": ",".join(targets),
        "TARGET_MODELS_ORIGINAL": ",".join(models.target_models),
        "TARGET_NAMESPACES": ",".join(_unique(each.partition("/")[0] for each in targets)),
    }
    if (prediction := models.prediction_validation) is not None:
        made["PREDICTION_ENABLED"] = _word(prediction.enabled)
        made["PREDICTION_TEST_DATA"] = prediction.test_data
        made["PREDICTION_EXPECTED_OUTPUT"] = prediction.expected_output
        made["PREDICTION_TOLERANCE"] = prediction.tolerance
    if (custom := models.custom_platform) is not None:
        made["CUSTOM_API_GROUP"] = custom.api_group
        made["CUSTOM_RESOURCE_TYPE"] = custom.resource_type
        made["CUSTOM_HEALTH_ENDPOINT"] = custom.health_check_endpoint
        made["CUSTOM_PREDICTION_ENDPOINT"] = custom.prediction_endpoint
    made["TIMEOUT"] = models.timeout
    return {f"MODEL_VALIDATION_{name}": value for name, value in made.items() if value}


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _word(value: bool) -> str:
    return "true" if value else "false"
