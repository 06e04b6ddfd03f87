"""metadata.managedFields: the bridge between writes and server-side apply.

Every write adds its entry to metadata.managedFields. Ten thousand pods of one template have ten thousand equal entries,
so equal ones are shared: they are the larger half of what a pod weighs.
"""

from collections.abc import Sequence
from typing import Any, Final

from mooring.kube.apply import ApplyConflict, ApplyError, Convert, apply, update
from mooring.kube.errors import required
from mooring.kube.interning import intern
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema
from mooring.kube.status import ApiError, BadRequestError, ConflictError, InvalidError, RejectedPatchError, UnknownError
from mooring.registry.objects import body
from mooring.registry.part_store import PartStore, fingerprint
from mooring.registry.resources import Resource
from mooring.registry.write_options import Options

__all__ = ["FieldTracker"]


_MAX_CACHED_CREATIONS: Final = 1024
# A certificate request is immutable, so its fields have no manager.
_REQUESTS: Final[dict[str, Any]] = {
    "": {"f:spec": {}, "f:status": {}},
    "status": {"f:spec": {}},
    "approval": {"f:spec": {}},
}


class FieldTracker:
    """Keeps managedFields; one per registry. Without `managed_fields` only applies write entries."""

    def __init__(self, parts: PartStore, *, managed_fields: bool = True) -> None:
        self._parts = parts
        self._managed_fields = managed_fields
        self._creations: dict[bytes, Any] = {}

    def track(
        self,
        resource: Resource,
        schema: Schema,
        old: Object | None,
        new: Object,
        options: Options,
        subresource: str,
        convert: Convert | None,
    ) -> Object:
        """The new object with the entries of a write that was not an apply. Its metadata dict is written to."""
        if not self._managed_fields:
            return new
        if old is None and "managedFields" not in new["metadata"]:
            return self._track_creation(resource, schema, new, options)
        if old is not None and new["metadata"].get("managedFields") == []:
            del new["metadata"]["managedFields"]
            return new
        stored = None if old is None else old["metadata"].get("managedFields")
        entries = update(
            old,
            new,
            options.manager or "unknown",
            schema,
            stored,
            resource.api_version,
            options.stamp,
            subresource,
            ignored=_unreached(resource, subresource),
            convert=convert,
        )
        self._set(new["metadata"], entries, stored or ())
        return new

    def _track_creation(self, resource: Resource, schema: Schema, new: Object, options: Options) -> Object:
        """Record the creator of an object as the manager of all of its fields, found by its shape."""
        metadata = new["metadata"]
        looks = (
            resource.api_version,
            resource.kind,
            {name: _texts_alike(section) for name, section in body(new).items()},
            None if resource.has_status else new.get("status"),
            list(metadata.get("labels", ())),
            list(metadata.get("annotations", ())),
            metadata.get("ownerReferences"),
            metadata.get("finalizers"),
            "generateName" in metadata,
        )
        key = fingerprint(looks)
        fields = self._creations.get(key)
        manager = options.manager or "unknown"
        if fields is None:
            ignored = _unreached(resource, "")
            version = resource.api_version
            entries = update(None, new, manager, schema, None, version, options.stamp, ignored=ignored)
            self._set(metadata, entries)
            if len(entries) == 1:
                intern(self._creations, key, metadata["managedFields"][0]["fieldsV1"], _MAX_CACHED_CREATIONS)
            return new
        metadata["managedFields"] = [
            {
                "manager": manager,
                "operation": "Update",
                "apiVersion": resource.api_version,
                "time": options.stamp,
                "fieldsType": "FieldsV1",
                "fieldsV1": fields,
            }
        ]
        return new

    def _set(self, metadata: Object, entries: list[Object], stored: Sequence[Object] = ()) -> None:
        """Put the entries in, their fields shared; those of stored entries are."""
        if entries:
            shared = {id(entry.get("fieldsV1")) for entry in stored}
            metadata["managedFields"] = [
                entry if id(entry.get("fieldsV1")) in shared else self._share(entry) for entry in entries
            ]
        else:
            metadata.pop("managedFields", None)

    def _share(self, entry: Object) -> Object:
        """The entry with the fields of the first entry that had equal ones."""
        fields = entry.get("fieldsV1")
        found = self._parts.one(fields)
        return entry if found is fields else {**entry, "fieldsV1": found}

    def apply(
        self,
        resource: Resource,
        schema: Schema,
        live: Object | None,
        body: Any,
        options: Options,
        subresource: str,
        convert: Convert | None,
    ) -> Object:
        """The object that an apply makes, with its managedFields; the live one if that changes nothing."""
        if not options.manager:
            error = required("fieldManager", "is required for apply patch")
            raise InvalidError("PatchOptions", "meta.k8s.io", "", [error])
        if not isinstance(body, dict):
            found = {list: "array", str: "string", bool: "bool"}.get(body.__class__, "number")
            why = f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            raise BadRequestError(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}")
        stored = None if live is None else live["metadata"].get("managedFields")
        try:
            made = apply(
                live,
                body,
                options.manager,
                schema,
                stored,
                resource.api_version,
                options.stamp,
                options.force,
                subresource,
                ignored=_unreached(resource, subresource),
                convert=convert,
            )
        except ApplyConflict as error:
            raise _conflict(error) from None
        except ApplyError as error:
            raise _refusal(error) from None
        metadata = dict(made.object.get("metadata") or {})
        self._set(metadata, made.managed)
        return {**made.object, "metadata": metadata}


def _texts_alike(section: Any) -> Any:
    """A section with one word for every text in it: a text is a field whatever it says, unless it says nothing."""
    if section.__class__ is dict:
        return {name: "x" if value and value.__class__ is str else value for name, value in section.items()}
    return "x" if section and section.__class__ is str else section


def _unreached(resource: Resource, subresource: str) -> Any:
    """What a write cannot change; None leaves it to the rule for objects with a status sub-resource."""
    if resource.store == "certificatesigningrequests.certificates.k8s.io":
        return _REQUESTS.get(subresource, {})
    if subresource not in ("", "status"):
        return {}
    if subresource == "status" and not resource.custom:
        return {"f:spec": {}}
    return None if subresource or resource.has_status else {}


def _conflict(error: ApplyConflict) -> ApiError:
    causes = [
        {"reason": "FieldManagerConflict", "message": each.message, "field": each.field} for each in error.conflicts
    ]
    return ConflictError(str(error), {"causes": causes})


def _refusal(error: ApplyError) -> ApiError:
    if error.code == 500:
        return UnknownError(str(error))
    return BadRequestError(str(error)) if error.code == 400 else RejectedPatchError(str(error), error.code)
