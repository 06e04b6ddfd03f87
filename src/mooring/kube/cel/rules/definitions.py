"""What is wrong with the rules of a schema in a CustomResourceDefinition.

A rule that does not compile is refused with the definition, so what is stored runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from mooring.kube.cel.rules.compiled import CompiledRule, compile_rule
from mooring.kube.cel.rules.paths import read_path
from mooring.kube.cel.rules.types import schema_type
from mooring.kube.errors import FieldError, internal, invalid, not_supported, required
from mooring.kube.schemas.model import Schema

__all__ = ["rule_errors"]

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_KEPT_SCHEMAS: Final = 64
_BREAK: Final = re.compile(r"[\n\r]")


@lru_cache(_KEPT_SCHEMAS)
def rule_errors(schema: Schema, path: str) -> tuple[FieldError, ...]:
    """All errors; expressions are compiled only where everything around them is well formed.

    Definitions are written again and again without a change, and nothing but the schema decides.
    """
    check = _Check()
    check.node(schema, path, resource=True, uncorrelated="")
    return (*check.forms, *check.expressions)


class _Check:
    def __init__(self) -> None:
        self.forms: list[FieldError] = []
        self.expressions: list[FieldError] = []

    def node(self, schema: Schema, path: str, *, resource: bool, uncorrelated: str) -> bool:
        """Whether the rules here and below are well formed. `uncorrelated` is a list around them without keys."""
        if not schema.ruled:
            return True
        before = len(self.forms)
        if schema.additional_properties is not None:
            self._child(schema.additional_properties, f"{path}.additionalProperties", uncorrelated)
        for name, child in schema.properties.items():
            self._child(child, f"{path}.properties[{name}]", uncorrelated)
        if schema.items is not None:
            self._child(schema.items, f"{path}.items", uncorrelated or ("" if schema.list_type == "map" else path))
        for index, rule in enumerate(schema.validations):
            self._form(rule, schema, f"{path}.x-kubernetes-validations[{index}]")
        if schema.validations and len(self.forms) == before:
            self._compile(schema, path, resource=resource, uncorrelated=uncorrelated)
        return len(self.forms) == before

    def _child(self, schema: Schema, path: str, uncorrelated: str) -> None:
        self.node(schema, path, resource=schema.embedded_resource, uncorrelated=uncorrelated)

    def _form(self, rule: Mapping[str, Any], schema: Schema, path: str) -> None:
        errors = self.forms
        text, message = rule.get("rule") or "", rule.get("message") or ""
        if not text.strip():
            errors.append(required(f"{path}.rule", "rule is not specified"))
        elif message and not message.strip():
            errors.append(invalid(f"{path}.message", message, "must be non-empty if specified"))
        elif _BREAK.search(message.strip()):
            errors.append(invalid(f"{path}.message", message, "must not contain line breaks"))
        elif _BREAK.search(text.strip()) and not message.strip():
            detail = "message must be specified if rule contains line breaks"
            errors.append(required(f"{path}.message", detail))
        expression, reason, field = rule.get("messageExpression") or "", rule.get("reason"), rule.get("fieldPath") or ""
        if expression and not expression.strip():
            errors.append(required(f"{path}.messageExpression", "messageExpression must be non-empty if specified"))
        if reason is not None and reason not in _REASONS:
            errors.append(not_supported(f"{path}.reason", reason, _REASONS))
        if field and not field.strip():
            errors.append(invalid(f"{path}.fieldPath", field, "must be non-empty if specified"))
        if _BREAK.search(field):
            errors.append(invalid(f"{path}.fieldPath", field, "must not contain line breaks"))
        if field and read_path(field, schema) is None:
            errors.append(invalid(f"{path}.fieldPath", field, "must be a valid path"))

    def _compile(self, schema: Schema, path: str, *, resource: bool, uncorrelated: str) -> None:
        kind = schema_type(schema, "selfType", resource=resource)
        if kind is None:
            detail = "failed to convert to declType for CEL validation rules"
            self.expressions.append(internal(f"{path}.x-kubernetes-validations", detail))
            return
        for index, rule in enumerate(schema.validations):
            here = f"{path}.x-kubernetes-validations[{index}]"
            self._errors(compile_rule(rule, kind, schema), rule, here, uncorrelated)

    def _errors(self, compiled: CompiledRule, rule: Mapping[str, Any], path: str, uncorrelated: str) -> None:
        errors = self.expressions
        if compiled.error:
            errors.append(invalid(f"{path}.rule", _shown(rule), compiled.error))
        if compiled.message_error:
            errors.append(invalid(f"{path}.messageExpression", _shown(rule), compiled.message_error))
        if compiled.uses_old:
            if uncorrelated:
                detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelated}"
                errors.append(invalid(f"{path}.rule", compiled.text, detail))
        elif rule.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            errors.append(invalid(f"{path}.optionalOldSelf", rule["optionalOldSelf"], detail))


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
