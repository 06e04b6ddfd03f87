"""Schemas of objects: what is known of built-in kinds, what a CustomResourceDefinition declares, and what both are for.

A write passes through here in this order: `unknown_fields` (when the client asked for strictness), `prune`,
`apply_defaults`, `validate`. None of them changes what it is given, and each returns the same object if it has
nothing to do.
"""

from mooring.kube.schemas.builtin import builtin_kinds, builtin_schema, builtin_type, empty_object
from mooring.kube.schemas.defaulting import apply_defaults
from mooring.kube.schemas.model import ABSENT, Schema
from mooring.kube.schemas.pruning import prune, unknown_fields
from mooring.kube.schemas.structural import SchemaError, structural_schema
from mooring.kube.schemas.validation import validate

__all__ = [
    "ABSENT",
    "Schema",
    "SchemaError",
    "apply_defaults",
    "builtin_kinds",
    "builtin_schema",
    "builtin_type",
    "empty_object",
    "prune",
    "structural_schema",
    "unknown_fields",
    "validate",
]
