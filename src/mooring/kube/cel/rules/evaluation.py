"""What the rules of a kind say of an object that is about to be stored.

All rules of one object together have a budget, and each evaluation has one. An error on a part that did not change is
only a warning: a rule that comes later than an object must not keep people from changing the rest of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from mooring.kube.cel.errors import CelBudgetError, CelPatienceError, CelRuntimeError
from mooring.kube.cel.functions import NO_SUCH_OVERLOAD
from mooring.kube.cel.rules.compiled import CompiledRule, RuleNode, compiled_rules
from mooring.kube.cel.rules.readers import read_value
from mooring.kube.cel.values import CelOptional
from mooring.kube.errors import OMITTED, FieldError, duplicate, forbidden, invalid, required
from mooring.kube.schemas.model import Schema

__all__ = ["OBJECT_BUDGET", "Findings", "OverPatience", "check_rules"]

# What all rules on one object may cost together.
OBJECT_BUDGET: Final = 10_000_000
_MAX_MESSAGE_BYTES: Final = 5 * 1024
_NO_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


class OverPatience(Exception):
    """The rules of an object cost more than somebody waits for."""


class Findings(NamedTuple):
    """What is wrong with an object, and the warnings about what was wrong with it before."""

    errors: list[FieldError]
    warnings: list[str]


def check_rules(
    schema: Schema, new: Mapping[str, Any], old: Mapping[str, Any] | None, *, patience: int | None = None
) -> Findings:
    """Every broken rule. Raises OverPatience where that costs more than `patience`."""
    run = _Run(patience)
    pair = None if old is None else _Pair(new, old)
    with suppress(_Stopped):
        run.check(compiled_rules(schema), "", new, old, pair, None)
    return Findings(run.errors, run.warnings)


class _Stopped(Exception):
    """No rule is run any more."""


class _Pair(NamedTuple):
    """A value and the one that it takes the place of."""

    new: Any
    old: Any

    def key(self, name: str) -> _Pair | None:
        if isinstance(self.new, dict) and isinstance(self.old, dict) and name in self.new and name in self.old:
            return _Pair(self.new[name], self.old[name])
        return None


class _Run:
    def __init__(self, patience: int | None) -> None:
        self.errors: list[FieldError] = []
        self.warnings: list[str] = []
        self._budget = OBJECT_BUDGET
        self._patience = patience

    def check(self, node: RuleNode, path: str, value: Any, old: Any, pair: _Pair | None, above: _Pair | None) -> None:
        """`pair` is the value with its old one, where they can be told to belong together; `above` the nearest."""
        if value is None:
            return
        if node.rules:
            self._check_rules(node, path, value, old, pair, above)
        if isinstance(value, list):
            self._check_list(node, path, value, old, pair, above)
        elif isinstance(value, dict):
            self._check_object(node, path, value, old, pair, above)

    def _check_object(
        self, node: RuleNode, path: str, value: dict[str, Any], old: Any, pair: _Pair | None, above: _Pair | None
    ) -> None:
        for name, item in value.items():
            child, here = node.properties.get(name), f"{path}.{name}" if path else name
            if child is None:
                if node.additional is None or name in node.schema.properties:
                    continue
                child, here = node.additional, f"{path}[{name}]"
            was = old.get(name) if isinstance(old, dict) else None
            if pair is None:
                inner, parent = None, above
            elif above is None and name in ("apiVersion", "kind"):
                inner = parent = None
            else:
                inner, parent = pair.key(name), pair
            self.check(child, here, item, was, inner, parent)

    def _check_list(
        self, node: RuleNode, path: str, value: list[Any], old: Any, pair: _Pair | None, above: _Pair | None
    ) -> None:
        if node.items is None:
            return
        known = _by_key(node.schema, old)
        for index, item in enumerate(value):
            was = known.get(_key(node.schema, item), None) if known else None
            inner = _Pair(item, was) if pair is not None and was is not None else None
            self.check(node.items, f"{path}[{index}]", item, was, inner, above if pair is None else pair)

    def _check_rules(
        self, node: RuleNode, path: str, value: Any, old: Any, pair: _Pair | None, above: _Pair | None
    ) -> None:
        kind, shown = node.schema.type, value
        if kind in ("object", "array"):
            shown = OMITTED
        reader = node.reader
        variables: dict[str, Any] = {}
        for rule in node.rules:
            if rule.error:
                self.errors.append(invalid(path or "<nil>", kind, f"rule compile error: {rule.error}"))
                continue
            if rule.program is None or (rule.uses_old and old is None and not rule.optional_old):
                continue
            if not variables:
                variables["self"] = value if reader is None else read_value(reader, value)
                if old is not None:
                    variables["oldSelf"] = old if reader is None else read_value(reader, old)
            given = variables
            if rule.optional_old:
                was = CelOptional() if old is None else CelOptional(variables["oldSelf"], present=True)
                given = {**variables, "oldSelf": was}
            if not self._holds(rule, path, kind, given):
                error = self._failure(rule, path, shown, given)
                compared = pair or above
                if compared is not None and not rule.uses_old and compared.new == compared.old:
                    self.warnings.append(str(error))
                else:
                    self.errors.append(error)

    def _holds(self, rule: CompiledRule, path: str, kind: str, variables: Mapping[str, Any]) -> bool:
        """Whether the rule holds; an error counts as told, and is no failure."""
        assert rule.program is not None, "checked"
        path = path or "<nil>"
        try:
            value, cost = rule.program.run(variables, patience=self._patience)
        except CelPatienceError:
            raise OverPatience from None
        except CelBudgetError as error:
            self._pay(error.cost, path, kind)
            text = (
                f"'{error.message}': no further validation rules will be run due to call cost exceeds limit for rule:"
            )
            self.errors.append(invalid(path, kind, f"{text} {rule.shown}"))
            raise _Stopped from None
        except CelRuntimeError as error:
            self._pay(error.cost, path, kind)
            if error.message.startswith(NO_SUCH_OVERLOAD):
                detail = (
                    f"'{error.message}': call arguments did not match a supported operator, function or macro "
                    f"signature for rule: {rule.shown}"
                )
            else:
                detail = f"{error.message} evaluating rule: {rule.shown}"
            self.errors.append(invalid(path, kind, detail))
            return True
        self._pay(cost, path, kind)
        return value is True

    def _pay(self, cost: int, path: str, kind: str) -> None:
        self._spend(cost)
        if self._budget < 0:
            self.errors.append(invalid(path, kind, _NO_BUDGET))
            raise _Stopped

    def _spend(self, cost: int) -> None:
        self._budget -= cost
        if self._patience is not None:
            self._patience -= cost
            if self._patience < 0:
                raise OverPatience

    def _failure(self, rule: CompiledRule, path: str, shown: Any, variables: Mapping[str, Any]) -> FieldError:
        here = f"{path}.{rule.path}" if path and rule.path and not rule.path.startswith("[") else path + rule.path
        here = here or "<nil>"
        detail = self._message(rule, variables) or rule.message.strip() or f"failed rule: {rule.shown}"
        if rule.reason == "FieldValueForbidden":
            return forbidden(here, detail)
        if rule.reason == "FieldValueRequired":
            return required(here, detail)
        if rule.reason == "FieldValueDuplicate":
            return duplicate(here, shown)
        return invalid(here, shown, detail)

    def _message(self, rule: CompiledRule, variables: Mapping[str, Any]) -> str:
        """What the rule's messageExpression says, or nothing where it has no fitting value."""
        if rule.message_program is None:
            return ""
        try:
            value, cost = rule.message_program.run(variables, patience=self._patience)
        except CelPatienceError:
            raise OverPatience from None
        except CelRuntimeError as error:
            value, cost = "", error.cost
        self._spend(cost)
        text = value.strip() if isinstance(value, str) else ""
        return "" if "\n" in text or len(text.encode()) > _MAX_MESSAGE_BYTES else text


def _by_key(schema: Schema, old: Any) -> dict[Any, Any]:
    """The items of an old list by their keys, where the list has keys."""
    if schema.list_type != "map" or not isinstance(old, list):
        return {}
    found: dict[Any, Any] = {}
    for item in old:
        # The API finds the first of several.
        found.setdefault(_key(schema, item), item)
    return found


def _key(schema: Schema, item: Any) -> Any:
    if not isinstance(item, dict):
        return None
    return tuple(item.get(name) for name in schema.list_map_keys)
