"""The models that a notebook is about. Mooring checks none of them, and says so in the job's status."""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers

__all__ = ["PHASES", "CustomPlatform", "ModelValidation", "PredictionCheck"]

PHASES: Final = ("clean", "existing", "both")
_PLATFORMS: Final = (
    "kserve",
    "openshift-ai",
    "vllm",
    "torchserve",
    "tensorflow-serving",
    "triton",
    "ray-serve",
    "seldon",
    "bentoml",
    "custom",
)


class PredictionCheck(View, frozen=True):
    """A prediction that is asked for, and its answer."""

    enabled: Annotated[bool, Markers("Whether it is asked for.", defaulted=True)] = True
    test_data: Annotated[str, Markers("What is sent, as JSON.")] = ""
    expected_output: Annotated[str, Markers("What is expected, as JSON.")] = ""
    tolerance: Annotated[
        str,
        Markers("By how much numbers may differ.", pattern=r"^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$", defaulted=True),
    ] = "0.01"


class CustomPlatform(View, frozen=True):
    """A platform that is none of the known ones."""

    api_group: Annotated[str, Markers("The group of its kinds.")] = ""
    resource_type: Annotated[str, Markers("The kind of its models.")] = ""
    health_check_endpoint: Annotated[str, Markers("The path that says whether a model is healthy.")] = ""
    prediction_endpoint: Annotated[str, Markers("The path that answers predictions.")] = ""


class ModelValidation(View, frozen=True):
    """The models that the notebook uses. They are told to the notebook as variables, and are not checked."""

    enabled: Annotated[bool, Markers("Whether they matter.", defaulted=True)] = True
    platform: Annotated[str, Markers("What serves them.", enum=_PLATFORMS, defaulted=True)] = "kserve"
    phase: Annotated[
        str, Markers("Whether the environment, the models or both are meant.", enum=PHASES, defaulted=True)
    ] = "both"
    target_models: Annotated[tuple[str, ...], Markers("The models, as MODEL or NAMESPACE/MODEL.")] = ()
    prediction_validation: Annotated[PredictionCheck | None, Markers("A prediction to be checked.")] = None
    custom_platform: Annotated[CustomPlatform | None, Markers("The platform, if it is custom.")] = None
    timeout: Annotated[
        str,
        Markers("How long a check may take.", pattern=r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", defaulted=True),
    ] = "5m"
