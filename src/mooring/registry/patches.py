"""JSON, merge and strategic merge patches of stored objects. Server-side apply is in `managed_fields`."""

from collections.abc import Callable
from typing import Any, Final, Literal

from mooring.api.core.decoding.errors import restoring_error
from mooring.kube.errors import forbidden, go_json, go_text, invalid
from mooring.kube.json_errors import unmarshal_complaint
from mooring.kube.objects import Object
from mooring.kube.patches import PatchError, json_patch, merge_patch, strategic_merge_patch
from mooring.kube.schemas import Schema
from mooring.kube.status import ApiError, InvalidError, RejectedPatchError, UnknownError
from mooring.registry.request_body import UnknownFieldsError, UnreadableError, WrongTypeError
from mooring.registry.resources import Resource

__all__ = ["PatchType", "as_patch_error", "check_patch_options", "patcher"]

PatchType = Literal["json", "merge", "strategic", "apply"]

# The one mistake in a strategic patch that counts as the client's.
_LISTS: Final = "lists of lists are not supported"
# All that the API says about a JSON patch that cannot be carried out.
_REJECTED: Final = "the server rejected our request due to an error in our request"


def patcher(resource: Resource, schema: Schema, patch_type: PatchType, body: Any) -> Callable[[Object], Any]:
    """The function that applies the patch; it raises an ApiError when that cannot be done."""

    def apply(current: Object) -> Any:
        try:
            if patch_type == "json":
                return json_patch(current, body)
            if patch_type == "merge":
                return merge_patch(current, body)
            made = strategic_merge_patch(current, {} if body is None else body, schema)
            return {**made, "apiVersion": current["apiVersion"], "kind": current["kind"]}
        except PatchError as error:
            if patch_type == "json" and error.code == 422:
                raise RejectedPatchError(_REJECTED, error.code) from None
            if patch_type == "strategic" and error.code == 422 and str(error) != _LISTS:
                raise UnknownError(str(error)) from None
            raise RejectedPatchError(str(error), error.code) from None

    if body is not None and not isinstance(body, dict) and patch_type in ("merge", "strategic"):
        why = unmarshal_complaint(body, "map[string]interface {}")
        raise RejectedPatchError(why if patch_type == "strategic" else f"error decoding patch: {why}", 400)
    if patch_type == "strategic" and resource.custom:
        raise RejectedPatchError(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            415,
        )
    return apply


def check_patch_options(patch_type: PatchType, force: bool) -> None:
    if force and patch_type != "apply":
        error = forbidden("force", "may not be specified for non-apply patch")
        raise InvalidError("PatchOptions", "meta.k8s.io", "", [error])


def as_patch_error(
    resource: Resource, patch_type: PatchType, body: Any, error: UnreadableError | UnknownFieldsError | WrongTypeError
) -> ApiError:
    """A patched object that cannot be decoded, as an error of the patch, which it is to kube-apiserver."""
    if isinstance(error, UnreadableError):
        if patch_type == "apply":
            return _unapplied(resource, body, error)
        if patch_type == "strategic":
            shown, why = go_text(body), restoring_error(error.shape, error.value) or error.why
        else:
            shown, why = go_json(error.whole), error.why
        return InvalidError("", "", "", [invalid("patch", shown, why)])
    if patch_type == "apply":
        return error
    shown = go_text(body) if patch_type == "strategic" else go_json(error.value)
    return InvalidError("", "", "", [invalid("patch", shown, error.why)])


def _unapplied(resource: Resource, body: Any, error: UnreadableError) -> UnknownError:
    metadata = body.get("metadata") or {}
    shown = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    version = f"{resource.group}/{resource.version}"
    kind = f"{version}, Kind={resource.kind}"
    why = restoring_error(error.shape, error.value) or error.why
    return UnknownError(
        f"failed to convert new object ({shown}; {kind}) to proper version: "
        f"unable to convert unstructured object to {kind}: {why}"
    )
