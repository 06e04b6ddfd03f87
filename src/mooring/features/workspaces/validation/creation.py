"""What is refused in a Workspace beyond its schema, with upstream's field paths.

Paths that name several fields are upstream's: its users search for them. Where it names none, we name one: kubectl
prints it in front of the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from mooring.api.core.decoding.decoder import mismatches, unknown_fields
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Inference, Preset, Workspace
from mooring.features.workspaces.selection import NodeLabelsError, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.models import DEPRECATED_PRESETS, find_model, is_hugging_face_id
from mooring.features.workspaces.validation.facts import ClusterFacts
from mooring.features.workspaces.validation.inference_config import inference_config_errors
from mooring.features.workspaces.validation.nodes import check_nodes, type_warnings
from mooring.features.workspaces.validation.streaming import check_streaming
from mooring.kube.errors import FieldError, invalid, plainly, required
from mooring.kube.names import is_dns1123_label

__all__ = [
    "check_name",
    "check_node_class",
    "check_unsupported",
    "preferred_nodes_warnings",
    "template_errors",
    "validate_workspace",
    "workspace_warnings",
]

_PERFORMANCE_MODES: Final = ("balanced", "interactivity", "throughput")
_IMAGE_FAMILIES: Final = ("azurelinux", "ubuntu")
TEMPLATE_PATH: Final = "inference.template"
_INSTANCE_TYPE: Final = "spec.resource.instanceType"
_MISSING_INSTANCE_TYPE: Final = (
    "spec.instanceType is required when node auto-provisioning is enabled, spec.resource.instanceType"
)


def validate_workspace(workspace: Workspace, settings: Settings, facts: ClusterFacts) -> list[FieldError]:
    """Everything that is wrong with a new Workspace."""
    errors = template_errors(workspace)
    if errors:
        # Nothing else can be said of an object that cannot be read.
        return errors
    check_name(errors, workspace)
    if workspace.inference is None and workspace.tuning is None:
        errors.append(required("spec", "Either Inference or Tuning must be specified, not neither"))
    if workspace.inference is not None and workspace.tuning is not None:
        errors.append(plainly("spec", "Either Inference or Tuning must be specified, but not both"))
    check_unsupported(errors, workspace)
    _check_instance_type(errors, workspace, settings)
    _check_annotations(errors, workspace.metadata.annotations, settings)
    check_streaming(errors, workspace, None, settings, facts)
    if workspace.inference is None:
        return errors
    config_errors = inference_config_errors(workspace, facts)
    # Without a configuration that can be read there is no estimate, and so no number of nodes to ask for.
    if _check_inference(errors, workspace.inference) and not config_errors:
        _check_resource(errors, workspace, settings, facts)
    return errors + config_errors


def template_errors(workspace: Workspace) -> list[FieldError]:
    """What keeps `inference.template` from being a pod template. Fields that no pod has are refused, not dropped."""
    template = None if workspace.inference is None else workspace.inference.template
    if template is None:
        return []
    errors = [plainly(TEMPLATE_PATH, text) for text in unknown_fields("PodTemplateSpec", template)]
    return errors or list(mismatches("PodTemplateSpec", template, TEMPLATE_PATH))


def check_name(errors: list[FieldError], workspace: Workspace) -> None:
    """The name becomes a label of pods and part of a host name."""
    name = workspace.metadata.name
    errors += (invalid("name", name, text) for text in is_dns1123_label(name))


def check_unsupported(errors: list[FieldError], workspace: Workspace) -> None:
    """What upstream has and Mooring has not yet."""
    if workspace.tuning is not None:
        errors.append(plainly("tuning", "tuning is not supported yet; run upstream's operator for this Workspace"))
    if workspace.inference is not None and workspace.inference.adapters:
        errors.append(plainly("inference.adapters", "adapters are not supported yet; leave the field out"))
    if workspace.resource.partition is not None:
        text = "partitions of GPUs are not supported yet; leave the field out, pods get all GPUs of a node"
        errors.append(plainly("resource.partition", text))


def workspace_warnings(workspace: Workspace, settings: Settings, facts: ClusterFacts) -> tuple[str, ...]:
    """What is accepted and will probably not do what its author wants."""
    warnings = preferred_nodes_warnings(workspace)
    if settings.provisions and workspace.resource.instance_type:
        with suppress(NodeLabelsError):
            warnings += type_warnings(workspace, selector_labels(workspace.resource.label_selector), facts)
    return warnings


def preferred_nodes_warnings(workspace: Workspace) -> tuple[str, ...]:
    nodes = workspace.resource.preferred_nodes
    if not nodes:
        return ()
    return (
        "resource.preferredNodes is deprecated and has no effect: nodes are chosen by resource.labelSelector "
        f"alone; give {', '.join(nodes)} its labels instead",
    )


def _check_instance_type(errors: list[FieldError], workspace: Workspace, settings: Settings) -> None:
    given = workspace.resource.instance_type
    if settings.provisions and not given:
        errors.append(required(_MISSING_INSTANCE_TYPE, "new nodes need a type"))
        errors.append(invalid("resource.instanceType", given, "an instance type is expected"))
    if not settings.provisions and given and not workspace.is_old:
        text = "instanceType must be empty when node auto-provisioning is disabled (BYO scenario)"
        errors.append(invalid(_INSTANCE_TYPE, given, text))


def _check_annotations(errors: list[FieldError], annotations: Mapping[str, str], settings: Settings) -> None:
    mode = annotations.get(api.PERFORMANCE_MODE)
    if mode is not None and mode not in _PERFORMANCE_MODES:
        text = f"choose one of: {', '.join(_PERFORMANCE_MODES)}"
        errors.append(invalid(f"metadata.annotations[{api.PERFORMANCE_MODE}]", mode, text))
    local = annotations.get(api.LOCAL_WEIGHTS)
    if local is not None and local not in ("true", "false"):
        errors.append(invalid(f"metadata.annotations[{api.LOCAL_WEIGHTS}]", local, 'must be "true" or "false"'))
    family = annotations.get(api.NODE_IMAGE_FAMILY)
    if family is not None and family.strip().lower() not in _IMAGE_FAMILIES:
        text = f"supported values are {', '.join(_IMAGE_FAMILIES)}"
        errors.append(invalid(f'spec.metadata.annotations["{api.NODE_IMAGE_FAMILY}"]', family, text))
    check_node_class(errors, annotations.get(api.NODE_CLASS, ""), settings)


def check_node_class(errors: list[FieldError], name: str, settings: Settings) -> None:
    if settings.node_provisioner == "karpenter" and name and name not in settings.node_classes:
        text = f"supported values are {', '.join(settings.node_classes)}"
        errors.append(invalid(f'metadata.annotations["{api.NODE_CLASS}"]', name, text))


def _check_inference(errors: list[FieldError], inference: Inference) -> bool:
    """Whether the model is known, so that there is something to check nodes against."""
    if inference.preset is not None and inference.template is not None:
        errors.append(plainly("inference", "Preset and Template cannot be set at the same time"))
        return True
    if inference.preset is None and inference.template is None:
        errors.append(required("inference.Preset or Template must be specified", "choose a model or bring a pod"))
        return True
    return inference.preset is None or _check_preset(errors, inference.preset)


def _check_preset(errors: list[FieldError], preset: Preset) -> bool:
    name = preset.name
    if find_model(name) is not None:
        return True
    if is_hugging_face_id(name):
        text = f"{name} is not in the catalogue, and looking it up on Hugging Face needs a network that is not there"
        errors.append(plainly("inference.preset", text))
        return False
    if name.lower() in DEPRECATED_PRESETS:
        errors.append(plainly("resource.presetName", f"Model {name} is deprecated and no longer supported"))
    errors.append(
        invalid("inference.presetName", name, "there is no such preset, and an id of Hugging Face has a slash")
    )
    return False


def _check_resource(errors: list[FieldError], workspace: Workspace, settings: Settings, facts: ClusterFacts) -> None:
    selector = workspace.resource.label_selector
    try:
        labels = selector_labels(selector)
    except NodeLabelsError as error:
        errors.append(plainly("resource.labelSelector", str(error)))
        return
    if selector.match_labels and not (labels.keys() & selector.match_labels.keys()):
        text = "matchLabels must contain at least one non-reserved label"
        errors.append(plainly("resource.labelSelector.matchLabels", text))
        return
    check_nodes(errors, workspace, labels, settings, facts)
