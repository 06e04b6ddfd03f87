"""What became of a job: its phase and conditions, the result of every cell, and the comparison with the golden one."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers, Time
from mooring.api.meta import Condition
from mooring.features.notebooks.api.model_validation import PHASES
from mooring.runtime.effects import EffectRecord

__all__ = [
    "AvailableImage",
    "BuildStatus",
    "CellDiff",
    "CellResult",
    "CleanEnvironmentCheck",
    "ComparisonResult",
    "ExistingEnvironmentCheck",
    "ModelCheck",
    "ModelUsage",
    "ModelValidationResult",
    "PredictionResult",
    "ValidationStatus",
]

Message = Annotated[str, Markers("The same in a sentence.")]
Count = Annotated[int, Markers(minimum=0)]
_TEXT: Final = {"type": "string"}
_RECORD: Final = {
    "type": "object",
    "properties": {
        "id": {**_TEXT, "description": "Which run it is."},
        "phase": {**_TEXT, "description": "Started, Succeeded, Failed, TimedOut or Cancelled."},
        "startedAt": {**_TEXT, "description": "When it began."},
        "finishedAt": {**_TEXT, "description": "When it ended."},
        "exitCode": {"type": "integer", "description": "With which code it ended."},
        "output": {**_TEXT, "description": "The end of what it printed."},
        "message": {**_TEXT, "description": "What went wrong."},
    },
}


class CellResult(View, frozen=True):
    """What became of one cell."""

    cell_index: Annotated[int, Markers("The cell in the notebook as it was written, counted from 0.", minimum=0)]
    status: Annotated[
        str,
        Markers(
            "Skipped are cells without code, those with a tag that says so, and those that were not reached.",
            enum=("Success", "Failure", "Skipped"),
        ),
    ]
    execution_time: Annotated[str, Markers("How long it took, such as 1.5s.")] = ""
    output: Annotated[str, Markers("What it put out, shortened.")] = ""
    error_message: Annotated[str, Markers("Why it failed.")] = ""


class CellDiff(View, frozen=True):
    """How one cell differs from the golden notebook's."""

    cell_index: Annotated[int, Markers("The cell, counted from 0.", minimum=0)]
    cell_type: Annotated[str, Markers("What kind of cell it is.", enum=("code", "markdown"))]
    diff_type: Annotated[
        str,
        Markers("How it differs.", enum=("output_mismatch", "execution_error", "missing_cell", "extra_cell")),
    ]
    severity: Annotated[str, Markers("How much it matters.", enum=("minor", "major", "critical"))]
    expected: Annotated[str, Markers("What the golden notebook has, shortened.")] = ""
    actual: Annotated[str, Markers("What came out, shortened.")] = ""
    diff: Annotated[str, Markers("The lines that differ, shortened.")] = ""


class ComparisonResult(View, frozen=True):
    """The comparison with the golden notebook."""

    strategy: Annotated[str, Markers("How they were compared.", enum=("exact", "normalized", "fuzzy", "semantic"))]
    result: Annotated[str, Markers("What came of it.", enum=("matched", "failed", "skipped"))]
    total_cells: Annotated[Count, Markers("How many cells were compared.")]
    matched_cells: Annotated[Count, Markers("How many are alike.")]
    mismatched_cells: Annotated[Count, Markers("How many differ.")]
    diffs: Annotated[tuple[CellDiff, ...], Markers("How they differ, cell by cell.")] = ()


class AvailableImage(View, frozen=True):
    """An image that could be used instead of a built one."""

    name: Annotated[str, Markers("Its name.")]
    display_name: Annotated[str, Markers("Its name for people.")]
    description: Annotated[str, Markers("What it holds.")]
    image_ref: Annotated[str, Markers("Where it is.")]
    s2i_enabled: Annotated[bool, Markers("Whether images can be built on it with s2i.")]
    tags: Annotated[tuple[str, ...], Markers("Its tags.")] = ()


class BuildStatus(View, frozen=True):
    """What became of the image that the job wanted built."""

    phase: Annotated[str, Markers("How far it is.", enum=("Pending", "Running", "Complete", "Failed"))] = ""
    message: Message = ""
    image_reference: Annotated[str, Markers("The image that was built.")] = ""
    start_time: Annotated[Time | None, Markers("When it began.")] = None
    completion_time: Annotated[Time | None, Markers("When it ended.")] = None
    duration: Annotated[str, Markers("How long it took.")] = ""
    build_name: Annotated[str, Markers("The object that builds.")] = ""
    strategy: Annotated[str, Markers("What builds.")] = ""
    available_images: Annotated[tuple[AvailableImage, ...], Markers("Images to be used instead.")] = ()
    recommended_image: Annotated[str, Markers("The best of them.")] = ""


class ModelUsage(View, frozen=True):
    """What a model uses."""

    cpu_usage: Annotated[str, Markers("Of processors.")] = ""
    memory_usage: Annotated[str, Markers("Of memory.")] = ""
    gpu_usage: Annotated[str, Markers("Of GPUs.")] = ""


class ModelCheck(View, frozen=True):
    """What was found of one model."""

    model_name: Annotated[str, Markers("The model.")]
    available: Annotated[bool, Markers("Whether it is there.")]
    healthy: Annotated[bool, Markers("Whether it was checked and found well.")]
    message: Message = ""
    version: Annotated[str, Markers("Its version.")] = ""
    resource_status: Annotated[ModelUsage | None, Markers("What it uses.")] = None


class PredictionResult(View, frozen=True):
    """What became of the prediction."""

    success: Annotated[bool, Markers("Whether it was as expected.")]
    message: Message = ""
    expected_output: Annotated[str, Markers("What was expected.")] = ""
    actual_output: Annotated[str, Markers("What came.")] = ""
    difference: Annotated[str, Markers("By how much they differ.")] = ""


class CleanEnvironmentCheck(View, frozen=True):
    """Whether the platform is there."""

    success: Annotated[bool, Markers("Whether all of it is.")]
    platform_available: Annotated[bool, Markers("Whether the platform is installed.")]
    network_connectivity: Annotated[bool, Markers("Whether its endpoints can be reached.")]
    rbac_permissions: Annotated[bool, Markers("Whether it may be used.")]
    crds_installed: Annotated[tuple[str, ...], Markers("The kinds that were found.")] = ()
    required_libraries: Annotated[tuple[str, ...], Markers("The libraries that were found.")] = ()
    message: Message = ""


class ExistingEnvironmentCheck(View, frozen=True):
    """Whether the models are there."""

    success: Annotated[bool, Markers("Whether all of them are.")]
    models_checked: Annotated[tuple[ModelCheck, ...], Markers("Each of them.")] = ()
    prediction_validation: Annotated[PredictionResult | None, Markers("The prediction.")] = None
    message: Message = ""


class ModelValidationResult(View, frozen=True):
    """What was found of the models. Without a check nothing counts as well."""

    success: Annotated[bool, Markers("Whether everything was checked and found well.")]
    phase: Annotated[str, Markers("What was meant.", enum=PHASES)]
    platform: Annotated[str, Markers("What serves the models.")]
    platform_detected: Annotated[bool, Markers("Whether the platform was found.")]
    clean_environment_check: Annotated[CleanEnvironmentCheck | None, Markers("The platform.")] = None
    existing_environment_check: Annotated[ExistingEnvironmentCheck | None, Markers("The models.")] = None
    message: Message = ""


class ValidationStatus(View, frozen=True):
    """What was seen last."""

    phase: Annotated[
        str,
        Markers(
            "How far the job is. Succeeded and Failed are final.",
            enum=(
                "Initializing",
                "Building",
                "BuildComplete",
                "ValidationRunning",
                "Succeeded",
                "Failed",
                "Pending",
                "Running",
            ),
        ),
    ] = ""
    message: Message = ""
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers(
            "Ready: the notebook passed. ValidationComplete: the verdict is there. Progressing: it is not there yet. "
            "Placeable: whether a node can take the pod, and if not, why and what would help."
        ),
    ] = ()
    start_time: Annotated[Time | None, Markers("When the job began; its timeout counts from here.")] = None
    completion_time: Annotated[Time | None, Markers("When it ended.")] = None
    validation_pod_name: Annotated[str, Markers("The pod that the notebook runs in.")] = ""
    retry_count: Annotated[int, Markers("How often another pod was tried.")] = 0
    last_retry_time: Annotated[Time | None, Markers("When the last one was.")] = None
    results: Annotated[tuple[CellResult, ...], Markers("What became of every cell.")] = ()
    comparison_result: Annotated[ComparisonResult | None, Markers("The comparison with the golden notebook.")] = None
    model_validation_result: Annotated[ModelValidationResult | None, Markers("What was found of the models.")] = None
    build_status: Annotated[BuildStatus | None, Markers("What became of the image that was to be built.")] = None
    effects: Annotated[
        dict[str, Annotated[EffectRecord, Markers("One of them.", of=_RECORD)]],
        Markers("The last reading of results from the pod, by name. A field of Mooring's."),
    ] = msgspec.field(default_factory=dict)
