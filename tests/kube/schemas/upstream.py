"""Turns the OpenAPI document of a Kubernetes release into the packaged table of built-in types.

`python -m tests.kube.schemas.upstream builtin-schemas.json.gz > src/mooring/kube/schemas/data/builtin.txt` renews the
table for another release; the tests compare it with the document wherever that is at hand.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PREFIXES = (
    ("io.k8s.apimachinery.pkg.apis.", ""),
    ("io.k8s.apiextensions-apiserver.pkg.apis.", ""),
    ("io.k8s.api.", ""),
    ("io.k8s.apimachinery.pkg.", ""),
)
_SPECIAL = {
    "api.resource.Quantity": "quantity",
    "apiextensions.v1.JSON": "any",
    "apiextensions.v1.JSONSchemaPropsOrArray": "any",
    "apiextensions.v1.JSONSchemaPropsOrBool": "any",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": "any",
    "meta.v1.FieldsV1": "fields",
    "meta.v1.MicroTime": "time",
    "meta.v1.Patch": "fields",
    "meta.v1.Time": "time",
    "runtime.RawExtension": "raw",
    "util.intstr.IntOrString": "int-or-string",
}


def read(path: Path) -> dict[str, Any]:
    with gzip.open(path) as file:
        document: dict[str, Any] = json.load(file)
    return document


def type_name(reference: str) -> str:
    name = reference.rpartition("/")[2]
    for prefix, shorter in _PREFIXES:
        if name.startswith(prefix):
            name = shorter + name.removeprefix(prefix)
            break
    return _SPECIAL.get(name, name)


def encode(document: dict[str, Any]) -> str:
    """The table: a line per type, its fields with types and marks."""
    lines = [f"# Types of the built-in API groups of Kubernetes {document['kubernetes']}."]
    for reference, schema in sorted(document["schemas"].items()):
        name = type_name(reference)
        if name not in _SPECIAL.values():
            lines.append(f"{' '.join([name, *_marks_of_type(schema)])}: {'; '.join(_fields(schema))}".rstrip())
    return "\n".join(lines) + "\n"


def _marks_of_type(schema: dict[str, Any]) -> Iterator[str]:
    kinds = schema.get("x-kubernetes-group-version-kind", [])
    # Types that every group repeats (DeleteOptions, WatchEvent) are listed under the one that owns them.
    for kind in kinds[:1]:
        yield f"@{kind['group']}/{kind['version']}".replace("@/", "@")
    if schema.get("x-kubernetes-map-type") == "atomic":
        yield "atomic"


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        mark = "!" if name in required else ""
        yield " ".join([f"{name}{mark}", _type(field), *_marks(field)])


def _type(schema: dict[str, Any]) -> str:
    reference = schema.get("$ref") or schema.get("allOf", [{}])[0].get("$ref")
    if reference:
        return type_name(reference)
    match schema["type"]:
        case "array":
            return f"[{_type(schema['items'])}]"
        case "object":
            return f"{{{_type(schema['additionalProperties'])}}}"
        case "string" | "integer" | "number":
            return str(schema.get("format", schema["type"]))
    return str(schema["type"])


def _marks(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("default", {}) != {}:
        yield f"={json.dumps(schema['default'])}"
    if schema.get("x-kubernetes-list-type") == "set":
        yield "set"
    if keys := schema.get("x-kubernetes-list-map-keys"):
        yield f"map({','.join(keys)})"
    if relation := schema.get("x-kubernetes-map-type"):
        yield str(relation)
    if strategy := schema.get("x-kubernetes-patch-strategy"):
        yield f"patch({strategy})"
    if key := schema.get("x-kubernetes-patch-merge-key"):
        yield f"by({key})"


if __name__ == "__main__":
    sys.stdout.write(encode(read(Path(sys.argv[1]))))
