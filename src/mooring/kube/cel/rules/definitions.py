"""What is wrong with the rules of a schema in a CustomResourceDefinition.

A rule that does not compile is refused with the definition, so what is stored runs. So is one that would cost too much
on the largest object that the schema lets in: its author gets to know it, not the user whose object is large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from mooring.kube.cel.estimates.ranges import UNLIMITED
from mooring.kube.cel.rules.compiled import CompiledRule, compile_rule
from mooring.kube.cel.rules.costs import RuleCosts
from mooring.kube.cel.rules.extents import children_at_most, extent_of
from mooring.kube.cel.rules.paths import Fields, read_path
from mooring.kube.cel.rules.types import schema_type
from mooring.kube.errors import FieldError, internal, invalid, not_supported, required
from mooring.kube.schemas.model import Schema

__all__ = ["form_errors", "rule_errors"]

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_KEPT_SCHEMAS: Final = 64
_BREAK: Final = re.compile(r"[\n\r]")


@lru_cache(_KEPT_SCHEMAS)
def rule_errors(schema: Schema, path: str, *, kept: bool = False) -> tuple[FieldError, ...]:
    """All errors; expressions are compiled only where everything around them is well formed.

    `kept` is true for a schema that is stored already: what its rules cost, each by itself, is not held against it.
    Definitions are written again and again without a change, and nothing but the schema decides.
    """
    check = _Check(RuleCosts(kept=kept))
    check.node(schema, _Place(path, resource=True, uncorrelated="", occurrences=1))
    return (*check.forms, *check.expressions, *check.costs.total_errors(path))


def form_errors(source: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    """What is wrong with how rules are written in a schema that is refused anyway, so that none is compiled."""
    fields = _Source(source)
    for name, child in (source.get("properties") or {}).items():
        yield from form_errors(child, f"{path}.properties[{name}]")
    for name in ("additionalProperties", "items"):
        if isinstance(source.get(name), Mapping):
            yield from form_errors(source[name], f"{path}.{name}")
    for index, rule in enumerate(source.get("x-kubernetes-validations") or ()):
        yield from _form(rule, fields, f"{path}.x-kubernetes-validations[{index}]")


class _Source:
    """A schema as it was sent, whose fields can be looked up."""

    def __init__(self, source: Mapping[str, Any]) -> None:
        self._source = source

    @property
    def properties(self) -> dict[str, _Source]:
        return {name: _Source(child) for name, child in (self._source.get("properties") or {}).items()}

    @property
    def additional_properties(self) -> _Source | None:
        found = self._source.get("additionalProperties")
        return _Source(found) if isinstance(found, Mapping) else None


class _Place(NamedTuple):
    """Where a schema stands: `uncorrelated` is a list around it without keys, `occurrences` how often an object may
    have such a value, None where nothing bounds that."""

    path: str
    resource: bool
    uncorrelated: str
    occurrences: int | None


class _Check:
    def __init__(self, costs: RuleCosts) -> None:
        self.forms: list[FieldError] = []
        self.expressions: list[FieldError] = []
        self.costs = costs

    def node(self, schema: Schema, place: _Place) -> None:
        if not schema.ruled:
            return
        before, path = len(self.forms), place.path
        each, outside = children_at_most(schema), place.occurrences
        below = place._replace(occurrences=None if each is None or outside is None else min(each * outside, UNLIMITED))
        if schema.additional_properties is not None:
            self._child(schema.additional_properties, below._replace(path=f"{path}.additionalProperties"))
        for name, child in schema.properties.items():
            self._child(child, below._replace(path=f"{path}.properties[{name}]"))
        if schema.items is not None:
            uncorrelated = place.uncorrelated or ("" if schema.list_type == "map" else path)
            self._child(schema.items, below._replace(path=f"{path}.items", uncorrelated=uncorrelated))
        for index, rule in enumerate(schema.validations):
            self.forms += _form(rule, schema, f"{path}.x-kubernetes-validations[{index}]")
        if schema.validations and len(self.forms) == before:
            self._compile(schema, place)

    def _child(self, schema: Schema, place: _Place) -> None:
        self.node(schema, place._replace(resource=schema.embedded_resource))

    def _compile(self, schema: Schema, place: _Place) -> None:
        kind = schema_type(schema, "selfType", resource=place.resource)
        extent = extent_of(schema, resource=place.resource)
        if kind is None or extent is None:
            detail = "failed to convert to declType for CEL validation rules"
            self.expressions.append(internal(f"{place.path}.x-kubernetes-validations", detail))
            return
        occurrences = extent.occurrences if place.occurrences is None else place.occurrences
        for index, rule in enumerate(schema.validations):
            here = f"{place.path}.x-kubernetes-validations[{index}]"
            compiled = compile_rule(rule, kind, schema, extent.size_at)
            self._errors(compiled, rule, here, place.uncorrelated, occurrences)

    def _errors(
        self, compiled: CompiledRule, rule: Mapping[str, Any], path: str, uncorrelated: str, occurrences: int
    ) -> None:
        errors = self.expressions
        if compiled.program is not None:
            cost = min(compiled.program.worst_cost * occurrences, UNLIMITED)
            errors += self.costs.errors(f"{path}.rule", "estimated rule cost", cost)
        if compiled.error:
            errors.append(invalid(f"{path}.rule", _shown(rule), compiled.error))
        if compiled.message_error:
            errors.append(invalid(f"{path}.messageExpression", _shown(rule), compiled.message_error))
        elif compiled.message_program is not None:
            cost = compiled.message_program.worst_cost
            errors += self.costs.errors(f"{path}.messageExpression", "estimated messageExpression cost", cost)
        if compiled.uses_old:
            if uncorrelated:
                detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelated}"
                errors.append(invalid(f"{path}.rule", compiled.text, detail))
        elif rule.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            errors.append(invalid(f"{path}.optionalOldSelf", rule["optionalOldSelf"], detail))


def _form(rule: Mapping[str, Any], schema: Fields, path: str) -> Iterator[FieldError]:
    text, message = rule.get("rule") or "", rule.get("message") or ""
    if not text.strip():
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _BREAK.search(message.strip()):
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    elif _BREAK.search(text.strip()) and not message.strip():
        detail = "message must be specified if rule contains line breaks"
        yield required(f"{path}.message", detail)
    expression, reason, field = rule.get("messageExpression") or "", rule.get("reason"), rule.get("fieldPath") or ""
    if expression and not expression.strip():
        yield required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if reason is not None and reason not in _REASONS:
        yield not_supported(f"{path}.reason", reason, _REASONS)
    if field and not field.strip():
        yield invalid(f"{path}.fieldPath", field, "must be non-empty if specified")
    if _BREAK.search(field):
        yield invalid(f"{path}.fieldPath", field, "must not contain line breaks")
    if field and read_path(field, schema) is None:
        yield invalid(f"{path}.fieldPath", field, "must be a valid path")


def _shown(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as the API shows it: its own struct."""
    return {
        "Rule": rule.get("rule") or "",
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
