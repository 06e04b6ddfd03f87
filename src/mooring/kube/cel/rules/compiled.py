"""The rules of a schema, compiled: a tree like the schema, with nothing but the nodes that have rules below them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from mooring.kube.cel.environment import CelProgram, Environment
from mooring.kube.cel.errors import CelCompileError
from mooring.kube.cel.estimates.estimate import SizeOf
from mooring.kube.cel.rules.paths import read_path
from mooring.kube.cel.rules.readers import Reader, reader_of
from mooring.kube.cel.rules.types import schema_type
from mooring.kube.cel.types import CelType, optional_of
from mooring.kube.schemas.model import Schema

__all__ = ["CompiledRule", "RuleNode", "compile_rule", "compiled_rules"]

# Schemas of which the compiled rules are kept.
_KEPT_SCHEMAS: Final = 256


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule. `error` and `message_error` say why there is no program."""

    text: str
    program: CelProgram | None = None
    error: str = ""
    message: str = ""
    message_program: CelProgram | None = None
    message_text: str = ""
    message_error: str = ""
    reason: str = ""
    path: str = ""
    optional_old: bool = False

    @property
    def uses_old(self) -> bool:
        return self.program is not None and "oldSelf" in self.program.uses

    @property
    def shown(self) -> str:
        """What errors call the rule."""
        return self.message.strip() or self.text.strip()


@dataclass(frozen=True, slots=True)
class RuleNode:
    """The rules of one node of a schema and of those below it."""

    schema: Schema
    rules: tuple[CompiledRule, ...]
    reader: Reader | None
    items: RuleNode | None
    properties: Mapping[str, RuleNode]
    additional: RuleNode | None


@lru_cache(_KEPT_SCHEMAS)
def compiled_rules(schema: Schema) -> RuleNode:
    """The rules of a kind. What does not compile says so when it is evaluated: definitions are checked when written."""
    node = _node(schema, resource=True)
    assert node is not None, "a schema with rules is an object"
    return node


def _node(schema: Schema, *, resource: bool) -> RuleNode | None:
    if not schema.ruled:
        return None
    kind = schema_type(schema, "selfType", resource=resource)
    if kind is None:
        # What expressions do not see has no rules that run.
        return None
    items, others = schema.items, schema.additional_properties
    properties = {
        name: node
        for name, child in schema.properties.items()
        if (node := _node(child, resource=child.embedded_resource)) is not None
    }
    return RuleNode(
        schema,
        tuple(compile_rule(rule, kind, schema) for rule in schema.validations),
        reader_of(schema) if schema.validations else None,
        None if items is None else _node(items, resource=items.embedded_resource),
        properties,
        None if others is None else _node(others, resource=others.embedded_resource),
    )


def compile_rule(rule: Mapping[str, Any], kind: CelType, schema: Schema, size_of: SizeOf | None = None) -> CompiledRule:
    """One rule of a schema whose values have a type, with an estimate of its cost where sizes are known."""
    text, message_text = str(rule.get("rule") or ""), str(rule.get("messageExpression") or "")
    optional = rule.get("optionalOldSelf") is True
    environment = Environment({"self": kind, "oldSelf": optional_of(kind) if optional else kind})
    program, error = _compiled(environment, text, "bool", "cel expression must evaluate to a bool", size_of)
    message_program, message_error = None, ""
    if message_text and program is not None:
        wrong = "messageExpression must evaluate to a string"
        message_program, message_error = _compiled(environment, message_text, "string", wrong, size_of)
        if message_error.startswith("compilation"):
            message_error = f"messageExpression {message_error}"
    path = rule.get("fieldPath")
    return CompiledRule(
        text=text,
        program=program,
        error=error,
        message=str(rule.get("message") or ""),
        message_program=message_program,
        message_text=message_text,
        message_error=message_error,
        reason=str(rule.get("reason") or ""),
        path=(read_path(path, schema) or "") if path else "",
        optional_old=optional,
    )


def _compiled(
    environment: Environment, text: str, kind: str, wrong: str, size_of: SizeOf | None
) -> tuple[CelProgram | None, str]:
    if not text.strip():
        return None, ""
    try:
        program = environment.compile(text, size_of)
    except CelCompileError as error:
        return None, error.message
    return (program, "") if program.result.kind == kind else (None, wrong)
