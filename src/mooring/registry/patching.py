"""The patch types that make a new object out of the current one without asking who manages what."""

from collections.abc import Callable
from typing import Any, Literal

from mooring.kube.patches import PatchError, json_patch, merge_patch, strategic_merge_patch
from mooring.kube.schemas import Schema
from mooring.kube.status import RejectedPatchError
from mooring.registry.resources import Resource

__all__ = ["PatchType", "patcher"]

Object = dict[str, Any]
PatchType = Literal["json", "merge", "strategic", "apply"]


def patcher(resource: Resource, schema: Schema, patch_type: PatchType, body: Any) -> Callable[[Object], Any]:
    """The function that applies the patch; it raises an ApiError when that cannot be done."""

    def apply(current: Object) -> Any:
        try:
            if patch_type == "json":
                return json_patch(current, body)
            if not isinstance(body, dict):
                raise RejectedPatchError("error decoding patch: the patch must be a JSON object", 400)
            if patch_type == "merge":
                return merge_patch(current, body)
            return strategic_merge_patch(current, body, schema)
        except PatchError as error:
            raise RejectedPatchError(str(error), error.code) from None

    if patch_type == "strategic" and resource.custom:
        raise RejectedPatchError(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            415,
        )
    return apply
