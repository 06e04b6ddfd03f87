"""The Workspace API as v1alpha1 has it: served for reading old objects and for updates of them.

It has the fields of v1beta1 but a few, and gives every object an instance type. Both versions are stored alike.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from mooring.api.core.types import LabelSelector, View
from mooring.api.crds.markers import Markers
from mooring.api.meta import AnnotatedMeta, Condition
from mooring.features.workspaces.api import Adapter, ConfigMapName, DataDestination, DataSource

__all__ = ["DEFAULT_INSTANCE_TYPE", "OldWorkspace"]

DEFAULT_INSTANCE_TYPE: Final = "Standard_NC24ads_A100_v4"


class OldResource(View, frozen=True):
    """The nodes that a Workspace runs on."""

    label_selector: Annotated[LabelSelector, Markers("The labels of the nodes.", of="meta.v1.LabelSelector")]
    count: Annotated[int, Markers("How many nodes are needed.", defaulted=True)] = 1
    instance_type: Annotated[str, Markers("The type of new nodes.", defaulted=True)] = DEFAULT_INSTANCE_TYPE
    preferred_nodes: Annotated[tuple[str, ...], Markers("Without effect.")] = ()


class OldPresetOptions(View, frozen=True):
    image: Annotated[str, Markers("Without effect.")] = ""
    image_pull_secrets: Annotated[tuple[str, ...], Markers("Without effect.")] = ()


class OldPreset(View, frozen=True):
    name: Annotated[str, Markers("The model.")]
    access_mode: Annotated[str, Markers("Without effect.", enum=("public", "private"), defaulted=True)] = "public"
    preset_options: Annotated[OldPresetOptions, Markers("How to get at the model.")] = OldPresetOptions()


class OldInference(View, frozen=True):
    preset: Annotated[OldPreset | None, Markers("A model that is known, with settings that fit it.")] = None
    template: Annotated[Any, Markers("A pod template of one's own, in place of a preset.")] = None
    config: ConfigMapName = ""
    adapters: Annotated[tuple[Adapter, ...], Markers("Adapters on top of the model.")] = ()


class OldTuning(View, frozen=True):
    input: Annotated[DataSource, Markers("What the model learns from.")]
    output: Annotated[DataDestination, Markers("Where the result goes.")]
    preset: Annotated[OldPreset | None, Markers("The model that is tuned.")] = None
    method: Annotated[str, Markers("lora or qlora.")] = ""
    config: ConfigMapName = ""


class OldStatus(View, frozen=True):
    worker_nodes: Annotated[tuple[str, ...], Markers("The nodes that match the selector, sorted.")] = ()
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...], Markers("What was seen last.")
    ] = ()


class OldWorkspace(View, frozen=True):
    """A model, served or tuned on nodes that are chosen by their labels."""

    resource: Annotated[OldResource, Markers("The nodes that are needed.")] = OldResource(LabelSelector())
    metadata: AnnotatedMeta = AnnotatedMeta()
    inference: Annotated[OldInference | None, Markers("A model that is served.")] = None
    tuning: Annotated[OldTuning | None, Markers("A model that is tuned.")] = None
    status: Annotated[OldStatus, Markers("What was seen last.")] = OldStatus()
