"""Objects as tables, which is what `kubectl get` asks for, and as bare metadata, which is what caches ask for."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from mooring.apiserver.tables.custom import custom_printer
from mooring.apiserver.tables.printing import PRINTERS, Cells, Printer, TableColumn, name, part
from mooring.kube.objects import Object
from mooring.registry import Resource

__all__ = ["partial", "partial_list", "table"]

META: Final = "meta.k8s.io/v1"
_ZERO_TIME: Final = "0001-01-01T00:00:00Z"
# Clients look for this mark in the metadata of a bookmark, whatever else they want to see.
_INITIAL_END: Final = "k8s.io/initial-events-end"


def _name_and_creation(obj: Object, now: datetime) -> Cells:
    return [name(obj), part(obj, "metadata").get("creationTimestamp") or _ZERO_TIME]


# Some built-in kinds have no columns of their own.
_PLAIN: Final = Printer((TableColumn("Name", "string", "name"), TableColumn("Created At", "date")), _name_and_creation)


def table(
    resource: Resource,
    items: Sequence[Object],
    *,
    now: datetime,
    columns: Sequence[Mapping[str, Any]] | None = None,
    include: str = "Metadata",
    list_metadata: Mapping[str, Any] | None = None,
    headers: bool = True,
    api_version: str = META,
) -> Object:
    """The table of some objects of a kind.

    `columns` are the additionalPrinterColumns of a custom kind (see `printer_columns`). `list_metadata` is that of the
    list; without it the table is of a single object and carries its resourceVersion. `include` says what stands in a
    row beside the cells: "Metadata", "Object" or "None". In a watch only the first table has `headers`.
    """
    printer = _printer(resource, items, columns)
    if list_metadata is None:
        version = part(items[0], "metadata").get("resourceVersion") if items else None
        list_metadata = {"resourceVersion": version} if version else {}
    return {
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": dict(list_metadata),
        "columnDefinitions": [column.definition() for column in printer.columns] if headers else None,
        "rows": [_row(printer, obj, now, include, api_version) for obj in items],
    }


def _printer(resource: Resource, items: Sequence[Object], columns: Sequence[Mapping[str, Any]] | None) -> Printer:
    if items and items[0].get("kind") == "Scale" and resource.kind != "Scale":
        return PRINTERS["autoscaling/v1", "Scale"]
    if resource.custom:
        return custom_printer(columns or ())
    return PRINTERS.get((resource.api_version, resource.kind), _PLAIN)


def _row(printer: Printer, obj: Object, now: datetime, include: str, api_version: str) -> Object:
    row: Object = {"cells": printer.cells(obj, now)}
    conditions = printer.conditions(obj) if printer.conditions is not None else []
    if conditions:
        row["conditions"] = conditions
    if include == "None" and _INITIAL_END not in part(obj, "metadata", "annotations"):
        row["object"] = None
    else:
        row["object"] = obj if include == "Object" else partial(obj, api_version)
    return row


def partial(obj: Object, api_version: str = META) -> Object:
    """The object's metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": part(obj, "metadata")}


def partial_list(items: Sequence[Object], list_metadata: Mapping[str, Any], api_version: str = META) -> Object:
    """The metadata of every object of a list."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": api_version,
        "metadata": dict(list_metadata),
        "items": [partial(obj, api_version) for obj in items],
    }
