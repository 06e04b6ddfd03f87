"""OpenAPI v2: the same kinds as in v3 in one document, for clients that read nothing newer.

What v2 has no word for is left out: the server checks it anyway. kubectl cannot cope with some that is allowed, such as
lists without items; that is left untyped, as a real server does.
"""

from collections.abc import Iterator
from typing import Any, Final

from mooring.kube.objects import Object

__all__ = ["swagger_definition", "swagger_kind", "swagger_path"]


_V3_PREFIX: Final = "#/components/schemas/"
_V2_PREFIX: Final = "#/definitions/"
_UNKNOWN_TO_V2: Final = frozenset({"allOf", "anyOf", "nullable", "not", "oneOf"})
_UNKNOWN_FIELDS: Final = "x-kubernetes-preserve-unknown-fields"
_MARK: Final = "x-kubernetes-group-version-kind"
_VERBS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_JSON: Final = "application/json"


def swagger_kind(schema: Object) -> Object:
    """The schema of a whole kind as a definition of v2."""
    if schema.get(_UNKNOWN_FIELDS) and _MARK in schema:
        # Without properties, or kubectl would refuse all others.
        return {"type": "object", _MARK: schema[_MARK]}
    return swagger_definition(schema)


def swagger_definition(schema: Object) -> Object:
    """A schema of v3 as a definition of v2."""
    if (target := _reference(schema)) is not None:
        kept = {"description": schema["description"]} if "description" in schema else {}
        return {**kept, "$ref": target}
    made = {key: value for key, value in schema.items() if key not in _UNKNOWN_TO_V2}
    if "oneOf" in schema and "type" not in schema:
        # An amount, or a number that may be written as text.
        made["type"] = "string"
    unknown, nullable = bool(schema.get(_UNKNOWN_FIELDS)), bool(schema.get("nullable"))
    if unknown or nullable:
        _drop(made, "items", "properties")
    if nullable or (unknown and made.get("type") == "object") or (made.get("type") == "array" and "items" not in made):
        _drop(made, "type")
    if "properties" in made:
        made["properties"] = {name: swagger_definition(child) for name, child in made["properties"].items()}
        _require(made, schema["properties"])
    for field in ("items", "additionalProperties"):
        if isinstance(made.get(field), dict):
            made[field] = swagger_definition(made[field])
    return made


def _reference(schema: Object) -> str | None:
    """What a schema refers to, by itself or with a description around it."""
    found = schema.get("$ref")
    wrapped = schema.get("allOf")
    if found is None and wrapped and len(wrapped) == 1 and "type" not in schema:
        found = wrapped[0].get("$ref")
    return found.replace(_V3_PREFIX, _V2_PREFIX) if found is not None else None


def _drop(made: Object, *fields: str) -> None:
    for field in fields:
        made.pop(field, None)


def _require(made: Object, properties: Object) -> None:
    """What may be null is not required, because v2 has no null."""
    required = [name for name in made.pop("required", ()) if not properties.get(name, {}).get("nullable")]
    if required:
        made["required"] = required


def swagger_path(item: Object) -> Object:
    """A path of v3 as a path of v2."""
    made: Object = {verb: _operation(item[verb]) for verb in _VERBS if verb in item}
    if "parameters" in item:
        made["parameters"] = [_parameter(each) for each in item["parameters"]]
    return made


def _operation(operation: Object) -> Object:
    body = operation.get("requestBody", {})
    content = body.get("content", {})
    parameters = [_parameter(each) for each in operation.get("parameters", ())]
    required = body.get("required", False)
    parameters += [{"name": "body", "in": "body", "required": required, "schema": each} for each in _schemas(content)]
    made: Object = {key: value for key, value in operation.items() if key not in ("requestBody", "responses")}
    return {
        **made,
        "consumes": list(content) or ["*/*"],
        "produces": [_JSON],
        "parameters": parameters,
        "responses": {code: _response(answer) for code, answer in operation["responses"].items()},
    }


def _schemas(content: Object) -> Iterator[Object]:
    """The schema of a body, which is one for all its content types."""
    for each in list(content.values())[:1]:
        yield swagger_definition(each["schema"])


def _parameter(parameter: Object) -> Object:
    made: Object = {key: value for key, value in parameter.items() if key != "schema"}
    shape: dict[str, Any] = parameter["schema"]
    return {**made, **shape}


def _response(answer: Object) -> Object:
    found = list(_schemas(answer.get("content", {})))
    described: Object = {"description": answer["description"]}
    return {**described, "schema": found[0]} if found else described
