"""When a Job gives up and when it is done: the rules for its failure and success policies, in the API's order."""

from typing import Final

from mooring.api.core.validation.meta import check_label_key, check_nonnegative
from mooring.kube.errors import (
    Enum,
    FieldError,
    duplicate,
    go_quote,
    invalid,
    not_supported,
    plainly,
    required,
    too_many,
)
from mooring.kube.objects import Object

__all__ = ["check_failure_policy", "check_success_policy", "count_indexes"]

Errors = list[FieldError]

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_STATUSES: Final = ("False", "True", "Unknown")
_MAX_RULES: Final = 20
_MAX_PATTERNS: Final = 20
_MAX_CODES: Final = 255


def _valid(values: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(map(go_quote, values))}]"


def check_failure_policy(errors: Errors, spec: Object, path: str) -> None:
    """`path` is that of the rules."""
    rules = spec["podFailurePolicy"]["rules"] or ()
    if len(rules) > _MAX_RULES:
        errors.append(too_many(path, len(rules), _MAX_RULES))
    template = spec["template"]["spec"]
    names = {each["name"] for kind in ("containers", "initContainers") for each in template.get(kind) or ()}
    for index, rule in enumerate(rules):
        _check_rule(errors, spec, rule, names, f"{path}[{index}]")


def _check_rule(errors: Errors, spec: Object, rule: Object, names: set[str], path: str) -> None:
    action, codes, conditions = rule["action"], rule.get("onExitCodes"), rule.get("onPodConditions", ())
    if not action:
        errors.append(required(f"{path}.action", _valid(_ACTIONS)))
    elif action == "FailIndex":
        if "backoffLimitPerIndex" not in spec:
            detail = "requires the backoffLimitPerIndex to be set"
            errors.append(invalid(f"{path}.action", Enum(action), detail))
    elif action not in _ACTIONS:
        errors.append(not_supported(f"{path}.action", Enum(action), _ACTIONS))
    if codes is not None:
        _check_exit_codes(errors, codes, names, f"{path}.onExitCodes")
    if len(conditions) > _MAX_PATTERNS:
        errors.append(too_many(f"{path}.onPodConditions", len(conditions), _MAX_PATTERNS))
    for index, pattern in enumerate(conditions):
        at = f"{path}.onPodConditions[{index}]"
        check_label_key(errors, pattern["type"], f"{at}.type")
        if not pattern.get("status"):
            errors.append(required(f"{at}.status", _valid(_STATUSES)))
        elif pattern["status"] not in _STATUSES:
            errors.append(not_supported(f"{at}.status", Enum(pattern["status"]), _STATUSES))
    if codes is not None and conditions:
        errors.append(plainly(path, "specifying both OnExitCodes and OnPodConditions is not supported"))
    if codes is None and not conditions:
        errors.append(plainly(path, "specifying one of OnExitCodes and OnPodConditions is required"))


def _check_exit_codes(errors: Errors, codes: Object, names: set[str], path: str) -> None:
    operator, values, name = codes["operator"], codes["values"] or [], codes.get("containerName")
    if not operator:
        errors.append(required(f"{path}.operator", _valid(_OPERATORS)))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", Enum(operator), _OPERATORS))
    if name is not None and name not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", name, detail))
    if not values:
        errors.append(invalid(f"{path}.values", codes["values"], "at least one value is required"))
    elif len(values) > _MAX_CODES:
        errors.append(too_many(f"{path}.values", len(values), _MAX_CODES))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator"))
        if value in values[:index]:
            errors.append(duplicate(f"{path}.values[{index}]", value))
    if values != sorted(values):
        errors.append(invalid(f"{path}.values", values, "must be ordered"))


def check_success_policy(errors: Errors, spec: Object, path: str) -> None:
    policy = spec["successPolicy"]
    if spec.get("completionMode") != "Indexed":
        errors.append(invalid(path, policy, "requires indexed completion mode"))
        return
    rules = policy["rules"] or ()
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{path}.rules", detail))
    if len(rules) > _MAX_RULES:
        errors.append(too_many(f"{path}.rules", len(rules), _MAX_RULES))
    for index, rule in enumerate(rules):
        _check_success_rule(errors, rule, spec.get("completions", 0), f"{path}.rules[{index}]")


def _check_success_rule(errors: Errors, rule: Object, completions: int, path: str) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        errors.append(required(path, "at least one of succeededCount or succeededIndexes must be specified"))
    total = 0
    if indexes is not None:
        total, problem = count_indexes(indexes, completions)
        if problem:
            detail = f"error parsing succeededIndexes: {problem}"
            errors.append(invalid(f"{path}.succeededIndexes", indexes, detail))
    if count is None:
        return
    check_nonnegative(errors, count, f"{path}.succeededCount")
    if count > completions:
        detail = f"must be less than or equal to {completions} (the number of specified completions)"
        errors.append(invalid(f"{path}.succeededCount", count, detail))
    if indexes is not None and count > total:
        detail = (
            f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        )
        errors.append(invalid(f"{path}.succeededCount", count, detail))


def count_indexes(text: str, completions: int) -> tuple[int, str]:
    """How many indexes a list like `0-2,5` names, and what is wrong with it."""
    total, last = 0, -1
    for fragment in text.split(",") if text else ():
        ends = fragment.split("-")
        if len(ends) > 2:
            why = "violates the requirement that an index interval can have at most two parts separated by '-'"
            return 0, f"the fragment {go_quote(fragment)} {why}"
        numbers = []
        for end in ends:
            if not end.lstrip("+").isdecimal():
                return 0, f"cannot convert string to integer for index: {go_quote(end)}"
            if int(end) >= completions:
                return 0, f"too large index: {go_quote(end)}"
            numbers.append(int(end))
        if len(numbers) > 1 and numbers[0] >= numbers[1]:
            return 0, f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}"
        if last >= numbers[0]:
            return 0, f"non-increasing order, previous: {last}, current: {numbers[0]}"
        total += numbers[-1] - numbers[0] + 1
        last = numbers[-1]
    return total, ""
