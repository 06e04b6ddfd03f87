"""A custom resource as declared, and the CustomResourceDefinition that is made from the declaration.

GADGETS = CustomResource(
    "example.com", "Gadget", "gadgets", versions=(Version("v1", Gadget, columns=(AGE,)),), short_names=("gd",)
)
definition(GADGETS)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

import msgspec

from mooring.api.crds.conversion import Spoke, from_hub, to_hub
from mooring.api.crds.schemas import resource_schema
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["AGE", "CustomResource", "PrinterColumn", "ScaleSubresource", "Version", "definition"]


@dataclass(frozen=True)
class PrinterColumn:
    """A column of `kubectl get`. Those of a priority above 0 are shown with -o wide."""

    name: str
    type: Literal["boolean", "date", "integer", "number", "string"]
    json_path: str
    description: str = ""
    format: str = ""
    priority: int = 0


AGE: Final = PrinterColumn("Age", "date", ".metadata.creationTimestamp")


@dataclass(frozen=True)
class ScaleSubresource:
    """Where the numbers of `kubectl scale` and of autoscalers stand."""

    spec_replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    label_selector: str = ""


@dataclass(frozen=True, eq=False)
class Version:
    """One version and its type. It has a status of its own if the type has a field of that name.

    Of several versions one has no `conversion`: that is the hub. It is the one that is stored, unless another one says
    `storage`, as in the middle of a migration.
    """

    name: str
    view: type[msgspec.Struct]
    columns: tuple[PrinterColumn, ...] = ()
    scale: ScaleSubresource | None = None
    conversion: Spoke | None = None
    served: bool = True
    storage: bool = False
    deprecated: bool = False
    deprecation_warning: str = ""
    selectable_fields: tuple[str, ...] = ()

    @property
    def has_status(self) -> bool:
        return any(each.encode_name == "status" for each in msgspec.structs.fields(self.view))


@dataclass(frozen=True, eq=False)
class CustomResource:
    """One custom resource in all its versions. Compared by identity: declare it once."""

    group: str
    kind: str
    plural: str
    versions: tuple[Version, ...]
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [version.name for version in self.versions]
        if not names or len(set(names)) < len(names):
            raise MooringError(f"{self.name} has the versions {names}; it must have one or more, each once")
        if self.is_converted and sum(version.conversion is None for version in self.versions) != 1:
            hubs = [version.name for version in self.versions if version.conversion is None]
            raise MooringError(
                f"{self.name} has the hubs {hubs}; exactly one version is the hub, "
                "all others need conversion=Spoke(...)"
            )
        if sum(version.storage for version in self.versions) > 1:
            raise MooringError(f"{self.name} stores several versions; say storage=True of one")

    @property
    def name(self) -> str:
        """The name of the definition."""
        return f"{self.plural}.{self.group}"

    @property
    def is_converted(self) -> bool:
        """Whether versions differ in more than their name."""
        return any(version.conversion is not None for version in self.versions)

    @property
    def hub(self) -> Version:
        """The version through which all conversions go."""
        return next(version for version in self.versions if version.conversion is None)

    @property
    def stored(self) -> Version:
        return next((version for version in self.versions if version.storage), self.hub)

    def api_version(self, version: Version) -> str:
        return f"{self.group}/{version.name}"

    def convert(self, obj: Object, wanted: str) -> Object:
        """The object in the form of another apiVersion. What is given stays as it is."""
        source, target = self._version(str(obj.get("apiVersion"))), self._version(wanted)
        if source is target:
            return obj
        made = obj
        if source.conversion is not None:
            made = self._named(to_hub(source.conversion, made, self.group, source.name), self.hub)
        if target.conversion is not None:
            made = self._named(from_hub(target.conversion, made, self.group, target.name), target)
        return self._named(made, target)

    def _named(self, obj: Object, version: Version) -> Object:
        return {**obj, "apiVersion": self.api_version(version), "kind": self.kind}

    def _version(self, api_version: str) -> Version:
        for version in self.versions:
            if self.api_version(version) == api_version:
                return version
        known = ", ".join(map(self.api_version, self.versions))
        raise MooringError(f"{self.kind} has no version {api_version}; it has {known}")


@cache
def definition(resource: CustomResource) -> Object:
    """The CustomResourceDefinition, ready to be applied. It is shared and must not be changed."""
    metadata: Object = {"name": resource.name}
    for name, given in (("labels", resource.labels), ("annotations", resource.annotations)):
        if given:
            metadata[name] = dict(given)
    names: Object = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": resource.singular or resource.kind.lower(),
    }
    for name, words in (("shortNames", resource.short_names), ("categories", resource.categories)):
        if words:
            names[name] = list(words)
    spec: Object = {
        "group": resource.group,
        "names": names,
        "scope": resource.scope,
        "versions": [_version(version, resource.stored) for version in resource.versions],
    }
    if resource.is_converted:
        spec["conversion"] = _UNSERVED
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
    }


# Until the webhook is registered there is no conversion. Without a webhook the API server would take objects of one
# version for objects of another, and drop every field that is not known there.
_UNSERVED: Final[Object] = {
    "strategy": "Webhook",
    "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:9/convert"}},
}


def _version(version: Version, stored: Version) -> Object:
    made: Object = {"name": version.name, "served": version.served, "storage": version is stored}
    if version.deprecated:
        made["deprecated"] = True
    if version.deprecation_warning:
        made["deprecationWarning"] = version.deprecation_warning
    if version.columns:
        made["additionalPrinterColumns"] = [_column(column) for column in version.columns]
    if version.selectable_fields:
        made["selectableFields"] = [{"jsonPath": path} for path in version.selectable_fields]
    subresources: Object = {"status": {}} if version.has_status else {}
    if version.scale is not None:
        subresources["scale"] = _scale(version.scale)
    if subresources:
        made["subresources"] = subresources
    made["schema"] = {"openAPIV3Schema": resource_schema(version.view)}
    return made


def _column(column: PrinterColumn) -> Object:
    made: Object = {"name": column.name, "type": column.type, "jsonPath": column.json_path}
    optional = {"description": column.description, "format": column.format, "priority": column.priority}
    return made | {name: value for name, value in optional.items() if value}


def _scale(scale: ScaleSubresource) -> Object:
    made = {"specReplicasPath": scale.spec_replicas, "statusReplicasPath": scale.status_replicas}
    return made | ({"labelSelectorPath": scale.label_selector} if scale.label_selector else {})
