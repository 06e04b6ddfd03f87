"""What the API says about Jobs and CronJobs. Expects defaulted objects; rules stand in the API's order."""

import re
from typing import Any, Final

from mooring.api.core.validation_meta import check_label_key, check_label_selector, check_nonnegative
from mooring.api.templates import check_immutable, check_template, matches_template
from mooring.kube.errors import Enum, FieldError, duplicate, invalid, not_supported, required, too_many
from mooring.kube.names import is_dns1123_label

__all__ = ["validate_cron_job", "validate_job", "validate_job_update"]

Object = dict[str, Any]
Errors = list[FieldError]

_MOST_PARALLEL: Final = 100_000
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_STATUSES: Final = ("False", "True", "Unknown")
_NAMES: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat"
_FIELD: Final = rf"(\*|\?|[0-9]+|{_NAMES})(-([0-9]+|{_NAMES}))?(/[0-9]+)?"
_SCHEDULE: Final = re.compile(rf"(?i)(({_FIELD})(,({_FIELD}))*\s+){{4}}({_FIELD})(,({_FIELD}))*").fullmatch
_NICKNAME: Final = re.compile("@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)").fullmatch
# Minute, hour, day of month, month, day of week.
_BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def validate_job(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec, metadata = obj["spec"], obj["metadata"]
    if not spec["manualSelector"] and spec.get("selector") is not None:
        _check_generated(errors, spec, metadata)
    _check_job_spec(errors, spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector", ""))
    else:
        check_label_selector(errors, selector, "spec.selector")
        matches_template(errors, selector, spec["template"], "spec.template")
    completions = spec.get("completions", 0)
    if spec["completionMode"] == "Indexed" and completions > 0:
        longest = f"{metadata['name']}-{completions - 1}"
        if is_dns1123_label(longest):
            detail = f"will not able to create pod with invalid DNS label: {longest}"
            errors.append(invalid("metadata.name", metadata["name"], detail))
    return errors


def _check_generated(errors: Errors, spec: Object, metadata: Object) -> None:
    """Labels and selector are the server's to set, unless the client says it knows better."""
    uid, name = metadata["uid"], metadata["name"]
    labels = spec["template"]["metadata"].get("labels", {})
    expected = {
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    }
    for key, value in expected.items():
        path = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            errors.append(required(path, f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(invalid(path, labels[key], f"must be '{value}'"))
    selected = spec["selector"].get("matchLabels") or {}
    if any(expected.get(key) != value for key, value in selected.items()) or spec["selector"].get("matchExpressions"):
        errors.append(invalid("spec.selector", spec["selector"], "`selector` not auto-generated"))


def _check_job_spec(errors: Errors, spec: Object, path: str) -> None:
    for name in (
        *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
        *("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"),
    ):
        if name in spec:
            check_nonnegative(errors, spec[name], f"{path}.{name}")
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        errors.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    _check_mode(errors, spec, path)
    if "podFailurePolicy" in spec:
        _check_failure_policy(errors, spec, f"{path}.podFailurePolicy.rules")
    if "successPolicy" in spec:
        _check_success_policy(errors, spec, f"{path}.successPolicy")
    replacement = spec.get("podReplacementPolicy")
    known = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in known:
        errors.append(not_supported(f"{path}.podReplacementPolicy", Enum(replacement), known))
    check_template(errors, spec["template"], f"{path}.template")
    _check_restart(errors, spec, f"{path}.template.spec.restartPolicy")


def _check_mode(errors: Errors, spec: Object, path: str) -> None:
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in ("NonIndexed", "Indexed"):
        errors.append(not_supported(f"{path}.completionMode", Enum(mode), ("NonIndexed", "Indexed")))
    if mode == "Indexed":
        completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
        if completions is None:
            errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
        if spec.get("parallelism", 0) > _MOST_PARALLEL:
            detail = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is Indexed"
            errors.append(invalid(f"{path}.parallelism", spec["parallelism"], detail))
        if completions is not None and failed is not None and failed > completions:
            detail = "must be less than or equal to completions"
            errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))
    elif mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                errors.append(invalid(f"{path}.{name}", spec[name], "requires indexed completion mode"))


def _check_failure_policy(errors: Errors, spec: Object, path: str) -> None:
    rules = spec["podFailurePolicy"].get("rules", ())
    if len(rules) > 20:
        errors.append(too_many(path, len(rules), 20))
    for index, rule in enumerate(rules):
        here, action = f"{path}[{index}]", rule.get("action", "")
        if not action:
            shown = " ".join(f'"{each}"' for each in _ACTIONS)
            errors.append(required(f"{here}.action", f"valid values: [{shown}]"))
        elif action == "FailIndex" and "backoffLimitPerIndex" not in spec:
            detail = "requires the backoffLimitPerIndex to be set"
            errors.append(invalid(f"{here}.action", Enum(action), detail))
        elif action not in _ACTIONS:
            errors.append(not_supported(f"{here}.action", Enum(action), _ACTIONS))
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            _check_exit_codes(errors, codes, f"{here}.onExitCodes")
        for position, pattern in enumerate(conditions or ()):
            at = f"{here}.onPodConditions[{position}]"
            check_label_key(errors, pattern.get("type", ""), f"{at}.type")
            if pattern["status"] not in _STATUSES:
                errors.append(not_supported(f"{at}.status", Enum(pattern["status"]), _STATUSES))
        if (codes is None) == (not conditions):
            which = "one of" if codes is None else "both"
            link, end = ("and", "required") if codes is None else ("and", "not supported")
            detail = f"specifying {which} OnExitCodes {link} OnPodConditions is {end}"
            errors.append(FieldError("Invalid value", here, Enum(""), detail))


def _check_exit_codes(errors: Errors, codes: Object, path: str) -> None:
    operator, values = codes.get("operator", ""), codes.get("values", [])
    if operator not in ("In", "NotIn"):
        error = not_supported(f"{path}.operator", Enum(operator), ("In", "NotIn"))
        errors.append(error if operator else required(f"{path}.operator", 'valid values: ["In" "NotIn"]'))
    if not values:
        errors.append(invalid(f"{path}.values", values, "at least one value is required"))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator"))
        if value in values[:index]:
            errors.append(duplicate(f"{path}.values[{index}]", value))
    if values != sorted(values):
        errors.append(invalid(f"{path}.values", values, "must be ordered"))


def _check_success_policy(errors: Errors, spec: Object, path: str) -> None:
    policy = spec["successPolicy"]
    if spec["completionMode"] != "Indexed":
        errors.append(invalid(path, policy, "requires indexed completion mode"))
        return
    rules = policy.get("rules", ())
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{path}.rules", detail))
    for index, rule in enumerate(rules):
        here = f"{path}.rules[{index}]"
        count = rule.get("succeededCount")
        if count is None and "succeededIndexes" not in rule:
            detail = "at least one of succeededCount or succeededIndexes must be specified"
            errors.append(required(here, detail))
        completions = spec.get("completions", 0)
        if count is not None:
            check_nonnegative(errors, count, f"{here}.succeededCount")
            if count > completions:
                detail = f"must be less than or equal to {completions} (the number of specified completions)"
                errors.append(invalid(f"{here}.succeededCount", count, detail))


def _check_restart(errors: Errors, spec: Object, path: str) -> None:
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy == "Always":
        errors.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        errors.append(not_supported(path, Enum(policy), ("OnFailure", "Never")))
    elif "podFailurePolicy" in spec and policy != "Never":
        errors.append(invalid(path, Enum(policy), 'only "Never" is supported when podFailurePolicy is specified'))


def validate_job_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = new["spec"], old["spec"]
    completions = spec.get("completions")
    if spec["completionMode"] != "Indexed":
        check_immutable(errors, completions, was.get("completions"), "spec.completions")
    elif completions not in (None, was.get("completions"), spec["parallelism"]):
        detail = "can only be modified in tandem with spec.parallelism"
        errors.append(invalid("spec.completions", completions, detail))
    check_immutable(errors, spec.get("selector"), was.get("selector"), "spec.selector")
    check_immutable(errors, spec["template"], _comparable(spec, old), "spec.template")
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        check_immutable(errors, spec.get(name), was.get(name), f"spec.{name}")
    return errors


def _comparable(spec: Object, old: Object) -> Object:
    """The old template with what may change in a Job that is suspended and has not started."""
    template: Object = old["spec"]["template"]
    if not old["spec"].get("suspend") or "startTime" in old.get("status", {}):
        return template
    wanted = spec["template"]
    inner = dict(template["spec"])
    for name in ("nodeSelector", "tolerations", "schedulingGates"):
        inner.pop(name, None)
        if name in wanted["spec"]:
            inner[name] = wanted["spec"][name]
    affinity = {k: v for k, v in inner.pop("affinity", {}).items() if k != "nodeAffinity"}
    given = wanted["spec"].get("affinity")
    if given and "nodeAffinity" in given:
        affinity["nodeAffinity"] = given["nodeAffinity"]
    if affinity or given is not None:
        inner["affinity"] = affinity
    metadata = {k: v for k, v in template["metadata"].items() if k not in ("labels", "annotations")}
    metadata |= {k: v for k, v in wanted["metadata"].items() if k in ("labels", "annotations")}
    return {**template, "metadata": metadata, "spec": inner}


def validate_cron_job(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec, name = obj["spec"], obj["metadata"]["name"]
    schedule = spec.get("schedule", "")
    if not schedule:
        errors.append(required("spec.schedule", ""))
    elif "TZ" in schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid("spec.schedule", schedule, detail))
    elif problem := _schedule_problem(schedule):
        errors.append(invalid("spec.schedule", schedule, problem))
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        if field in spec:
            check_nonnegative(errors, spec[field], f"spec.{field}")
    policy = spec["concurrencyPolicy"]
    if policy not in ("Allow", "Forbid", "Replace"):
        errors.append(not_supported("spec.concurrencyPolicy", Enum(policy), ("Allow", "Forbid", "Replace")))
    _check_job_spec(errors, spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
    if len(name) > 52:
        errors.append(invalid("metadata.name", name, "must be no more than 52 characters"))
    return errors


def _schedule_problem(schedule: str) -> str:
    if _NICKNAME(schedule):
        return ""
    fields = schedule.split()
    if len(fields) != 5:
        shown = " ".join(fields)
        return f"expected exactly 5 fields, found {len(fields)}: [{shown}]"
    if not _SCHEDULE(" ".join(fields)):
        return f"failed to parse schedule {schedule}: each field is a number, a range, a step or a list of those"
    for text, (low, high) in zip(fields, _BOUNDS, strict=True):
        for number in re.findall(r"(?<![/\d])\d+", text):
            if int(number) < low:
                return f"beginning of range ({number}) below minimum ({low}): {text}"
            if int(number) > high:
                return f"end of range ({number}) above maximum ({high}): {text}"
    return ""
