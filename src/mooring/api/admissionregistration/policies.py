"""ValidatingAdmissionPolicies and their bindings: what the API server adds to them, and what it says, in its order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mooring.api.admissionregistration.webhooks import check_conditions, check_rule, check_selectors, default_rules
from mooring.api.core.validation.meta import check_label_key, check_label_selector
from mooring.api.core.validation.status import check_conditions as check_status_conditions
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1035_label, is_dns1123_subdomain, path_segment_texts
from mooring.kube.objects import Object

if TYPE_CHECKING:
    from mooring.kube.cel.environment import Environment
    from mooring.kube.cel.types import CelType

__all__ = ["default_binding", "default_policy", "validate_binding", "validate_policy", "validate_policy_status"]

Errors = list[FieldError]

_FAILURE_POLICIES: Final = ("Fail", "Ignore")
_MATCH_POLICIES: Final = ("Equivalent", "Exact")
_ACTIONS: Final = ("Audit", "Deny", "Warn")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS_NOT_FOUND: Final = ("Deny", "Allow")
_IDENTIFIER: Final = re.compile("[_a-zA-Z][_a-zA-Z0-9]*").fullmatch
_RESERVED: Final = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let"),
        *("loop", "namespace", "null", "package", "return", "true", "var", "void", "while"),
    }
)
_MAX_ANNOTATION_BYTES: Final = 5 * 1024
_MAX_ANNOTATIONS: Final = 20
_SAY_SOMETHING: Final = "validations or auditAnnotations must contain at least one item"


def default_policy(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("failurePolicy", "Fail")
    if "matchConstraints" in spec:
        _default_match(spec["matchConstraints"])


def default_binding(obj: Object) -> None:
    spec = obj["spec"]
    if "matchResources" in spec:
        _default_match(spec["matchResources"])


def _default_match(match: Object) -> None:
    match.setdefault("matchPolicy", "Equivalent")
    match.setdefault("namespaceSelector", {})
    match.setdefault("objectSelector", {})
    for name in ("resourceRules", "excludeResourceRules"):
        default_rules(match.get(name, ()))


def validate_policy(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    if spec["failurePolicy"] not in _FAILURE_POLICIES:
        errors.append(not_supported("spec.failurePolicy", Enum(spec["failurePolicy"]), _FAILURE_POLICIES))
    if "paramKind" in spec:
        _check_kind(errors, spec["paramKind"], "spec.paramKind")
    match = spec.get("matchConstraints")
    if match is None:
        errors.append(required("spec.matchConstraints", ""))
    else:
        _check_match(errors, match, "spec.matchConstraints")
        if not match.get("resourceRules"):
            errors.append(required("spec.matchConstraints.resourceRules", ""))
    check_conditions(errors, spec.get("matchConditions", ()), "spec.matchConditions", params=True)
    expressions = _Expressions(params="paramKind" in spec)
    for index, variable in enumerate(spec.get("variables", ())):
        _check_variable(errors, expressions, variable, f"spec.variables[{index}]")
    validations, annotations = spec.get("validations", ()), spec.get("auditAnnotations", ())
    if not validations and not annotations:
        errors += [required(f"spec.{name}", _SAY_SOMETHING) for name in ("validations", "auditAnnotations")]
    for index, validation in enumerate(validations):
        _check_validation(errors, expressions, validation, f"spec.validations[{index}]")
    keys: set[str] = set()
    if len(annotations) > _MAX_ANNOTATIONS:
        detail = f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"
        errors.append(invalid("spec.auditAnnotations", annotations, detail))
    for index, annotation in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{index}]", annotation["key"]
        check_label_key(errors, f"{obj['metadata']['name']}/{key}", f"{path}.key")
        value = annotation["valueExpression"]
        if not value.strip():
            errors.append(required(f"{path}.valueExpression", "valueExpression is not specified"))
        elif len(value.strip().encode()) > _MAX_ANNOTATION_BYTES:
            detail = f"must not exceed {_MAX_ANNOTATION_BYTES} bytes in length"
            errors.append(required(f"{path}.valueExpression", detail))
        else:
            errors += expressions.errors(value, f"{path}.valueExpression", ("string", "null"))
        if key in keys:
            errors.append(duplicate(f"{path}.key", key))
        keys.add(key)
    return errors


def _check_kind(errors: Errors, kind: Object, path: str) -> None:
    version, name = kind.get("apiVersion", ""), kind.get("kind", "")
    group, _, number = version.rpartition("/")
    if not version:
        errors.append(required(f"{path}.apiVersion", ""))
    elif version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    else:
        if group and (texts := is_dns1123_subdomain(group)):
            errors.append(invalid(f"{path}.apiVersion", group, ",".join(texts)))
        if not number:
            errors.append(invalid(f"{path}.apiVersion", version, "version must be specified"))
        elif texts := is_dns1035_label(number):
            errors.append(invalid(f"{path}.apiVersion", number, ",".join(texts)))
    if not name:
        errors.append(required(f"{path}.kind", ""))
    elif texts := is_dns1035_label(name.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(texts)}"
        errors.append(invalid(f"{path}.kind", name, detail))


def _check_match(errors: Errors, match: Object, path: str) -> None:
    if match["matchPolicy"] not in _MATCH_POLICIES:
        errors.append(not_supported(f"{path}.matchPolicy", Enum(match["matchPolicy"]), _MATCH_POLICIES))
    check_selectors(errors, match, path)
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field, ())):
            here = f"{path}.{field}[{index}]"
            names = rule.get("resourceNames", [])
            for position, name in enumerate(names):
                at = f"{here}.resourceNames[{position}]"
                errors += [invalid(at, name, text) for text in path_segment_texts(name)]
                if name in names[:position]:
                    errors.append(duplicate(at, name))
            check_rule(errors, rule, here)


def _check_variable(errors: Errors, expressions: _Expressions, variable: Object, path: str) -> None:
    name = variable["name"]
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not _IDENTIFIER(name) or name in _RESERVED:
        errors.append(invalid(f"{path}.name", name, "must be a valid CEL identifier"))
    if not variable["expression"].strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    else:
        errors += expressions.declare(name, variable["expression"], f"{path}.expression")


def _check_validation(errors: Errors, expressions: _Expressions, validation: Object, path: str) -> None:
    if not validation["expression"].strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    else:
        errors += expressions.errors(validation["expression"], f"{path}.expression", ("bool",))
    for name in ("messageExpression", "message"):
        text = validation.get(name, "")
        if text and not text.strip():
            errors.append(invalid(f"{path}.{name}", text, "must be non-empty if specified"))
        elif text and name == "messageExpression":
            errors += expressions.errors(text, f"{path}.{name}", ("string",), authorizer=False)
        elif name == "message" and "\n" in text.strip():
            errors.append(invalid(f"{path}.message", text, "must not contain line breaks"))
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(not_supported(f"{path}.reason", Enum(reason), _REASONS))


class _Expressions:
    """The expressions of one policy: those of its variables are declared before the others use them."""

    def __init__(self, *, params: bool) -> None:
        self._params = params
        self._fields: dict[str, CelType] = {}

    def declare(self, name: str, expression: str, path: str) -> list[FieldError]:
        """What is wrong with the expression of a variable."""
        from mooring.kube.cel.errors import CelCompileError
        from mooring.kube.cel.types import DYN

        try:
            self._fields[name] = self._environment(authorizer=True).compile(expression).result
        except CelCompileError as error:
            self._fields[name] = DYN
            return [invalid(path, expression, error.message)]
        return []

    def errors(
        self, expression: str, path: str, kinds: tuple[str, ...], *, authorizer: bool = True
    ) -> list[FieldError]:
        """Why an expression does not compile to one of some types."""
        from mooring.kube.cel.admission import compile_to
        from mooring.kube.cel.errors import CelCompileError

        try:
            compile_to(self._environment(authorizer=authorizer), expression, kinds)
        except CelCompileError as error:
            return [invalid(path, expression, error.message)]
        return []

    def _environment(self, *, authorizer: bool) -> Environment:
        from mooring.kube.cel.admission import admission_environment, variables_type

        # A message may use parameters whether there are any or not.
        found = admission_environment(params=self._params or not authorizer, authorizer=authorizer)
        return found.with_variables({"variables": variables_type(dict(self._fields))})


def validate_binding(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    name, actions = spec.get("policyName", ""), spec.get("validationActions", [])
    if not name:
        errors.append(required("spec.policyName", ""))
    else:
        errors += [invalid("spec.policyName", name, text) for text in is_dns1123_subdomain(name)]
    if "paramRef" in spec:
        _check_reference(errors, spec["paramRef"], "spec.paramRef")
    if "matchResources" in spec:
        _check_match(errors, spec["matchResources"], "spec.matchResources")
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(f"spec.validationActions[{index}]", Enum(action), _ACTIONS))
        if action in actions[:index]:
            errors.append(duplicate(f"spec.validationActions[{index}]", Enum(action)))
    if "Deny" in actions and "Warn" in actions:
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API "
            "response and headers serves no purpose)"
        )
        errors.append(invalid("spec.validationActions", actions, detail))
    if not actions:
        errors.append(required("spec.validationActions", "at least one validation action is required"))
    return errors


def _check_reference(errors: Errors, reference: Object, path: str) -> None:
    name, selector = reference.get("name", ""), reference.get("selector")
    if name:
        errors += [invalid(f"{path}.name", name, text) for text in path_segment_texts(name)]
        if selector is not None:
            errors.append(forbidden(f"{path}.name", "name and selector are mutually exclusive"))
    if selector is not None:
        check_label_selector(errors, selector, f"{path}.selector")
        if name:
            errors.append(forbidden(f"{path}.selector", "name and selector are mutually exclusive"))
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction", ""))
    elif action not in _ACTIONS_NOT_FOUND:
        errors.append(not_supported(f"{path}.parameterNotFoundAction", Enum(action), _ACTIONS_NOT_FOUND))


def validate_policy_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    warnings = new["status"].get("typeChecking", {}).get("expressionWarnings", ())
    for index, warning in enumerate(warnings):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        errors += [required(f"{path}.{name}", "") for name in ("fieldRef", "warning") if not warning[name]]
    check_status_conditions(errors, new["status"].get("conditions", ()), "status.conditions")
    return errors
