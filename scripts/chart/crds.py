"""The definitions of our kinds as templates: upgraded with the release, kept when it goes."""

from __future__ import annotations

from typing import Any, Final

from mooring.api.crds.resource import CustomResource, definition
from mooring.catalog import CATALOG
from scripts.chart.text import LABELS, dumped, header

_CLIENT: Final = "CLIENT-OF-CONVERSIONS"


def definition_texts(command: str) -> dict[str, str]:
    """A file for each definition, which is there while a part of its feature is chosen."""
    chosen = frozenset(CATALOG.external)
    found = {}
    for feature in CATALOG.features:
        if not feature.serves_kinds(chosen):
            continue
        names = ",".join(name for name in feature.names if name not in feature.add_ons)
        for resource in feature.resources():
            found[f"{resource.group}_{resource.plural}.yaml"] = header(command) + _template(resource, names)
    return found


def _template(resource: CustomResource, names: str) -> str:
    made: dict[str, Any] = definition(resource)
    metadata = made["metadata"]
    annotations = {**metadata.get("annotations", {}), "helm.sh/resource-policy": "keep"}
    spec = dict(made["spec"])
    if "conversion" in spec:
        webhook = {**spec["conversion"]["webhook"], "clientConfig": _CLIENT}
        spec["conversion"] = {**spec["conversion"], "webhook": webhook}
    client = '\n        {{- include "mooring.conversionClient" . | nindent 8 }}'
    return (
        f'{{{{- if and .Values.crds.enabled (include "mooring.serves" (list . "{names}")) }}}}\n'
        + dumped({"apiVersion": made["apiVersion"], "kind": made["kind"]})
        + f"metadata:\n  name: {metadata['name']}\n  annotations:\n"
        + "".join(f"    {line}\n" for line in dumped(annotations).splitlines())
        + f"  labels:\n{LABELS}"
        + "".join(f"    {line}\n" for line in dumped(metadata.get("labels", {})).splitlines() if line != "{}")
        + dumped({"spec": spec}).replace(f" {_CLIENT}", client)
        + "{{- end }}\n"
    )
