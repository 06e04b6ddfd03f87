"""References to objects as people write them: by `apiVersion` or `apiGroup`, with or without version and namespace."""

from __future__ import annotations

from typing import Annotated

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers
from mooring.features.hosts.api.names import GROUP
from mooring.kube.objects import Object


class Reference(View, frozen=True):
    """An object, by kind and name."""

    markers = Markers(map_type="atomic")

    api_version: Annotated[str, Markers("The group and version of the object.")] = ""
    api_group: Annotated[str, Markers("The group of the object, in the place of apiVersion; a version may follow.")] = (
        ""
    )
    kind: Annotated[str, Markers("The kind of the object.")] = ""
    name: Annotated[str, Markers("The name of the object.")] = ""
    namespace: Annotated[str, Markers("The namespace of the object; that of the one who refers to it, if empty.")] = ""
    uid: Annotated[str, Markers("The uid of the object.")] = ""
    resource_version: Annotated[str, Markers("The version of the object that is meant, if it is one.")] = ""
    field_path: Annotated[str, Markers("The part of the object that is meant, if it is not the whole.")] = ""

    @property
    def group(self) -> str:
        """The API group, however it was written; that of hosts where nothing was."""
        written = self.api_version or self.api_group
        return written.split("/")[0] or GROUP


def reference_to(api_version: str, kind: str, namespace: str, name: str, uid: str = "") -> Object:
    """A reference, ready to be written."""
    made = {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name, "uid": uid}
    return {field: value for field, value in made.items() if value}
