"""Server-side apply: several writers of one object, each the owner of the fields it set."""

from mooring.kube.apply.errors import ApplyConflict, ApplyError, Conflict
from mooring.kube.apply.fieldsets import FieldSet, decode_fields, encode_fields, path_text, paths
from mooring.kube.apply.ownership import Convert
from mooring.kube.apply.updater import Applied, apply, update

__all__ = [
    "Applied",
    "ApplyConflict",
    "ApplyError",
    "Conflict",
    "Convert",
    "FieldSet",
    "apply",
    "decode_fields",
    "encode_fields",
    "path_text",
    "paths",
    "update",
]
