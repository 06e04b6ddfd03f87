"""What the API says about Jobs and CronJobs. Expects defaulted objects; rules stand in the API's order."""

from typing import Final

from mooring.api.batch.policies import check_failure_policy, check_success_policy
from mooring.api.batch.schedules import schedule_problem, time_zone_problem
from mooring.api.core.pod_templates import check_immutable, check_template, matches_template
from mooring.api.core.validation.meta import check_label_selector, check_nonnegative
from mooring.kube.domains import check_domain_path
from mooring.kube.errors import Enum, FieldError, invalid, not_supported, required, too_long
from mooring.kube.names import is_dns1123_label
from mooring.kube.objects import Object

__all__ = ["validate_cron_job", "validate_cron_job_update", "validate_job", "validate_job_update"]

Errors = list[FieldError]

_MAX_PARALLEL: Final = 100_000
_MANY_COMPLETIONS: Final = 100_000
_PARALLEL_OF_MANY: Final = 10_000
_FAILED_OF_MANY: Final = 10_000
_MAX_MANAGER_BYTES: Final = 63


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
            errors.append(invalid(path, dict(sorted(labels.items())), f"must be '{value}'"))
    selected = spec["selector"].get("matchLabels") or {}
    if any(expected.get(key) != value for key, value in selected.items()):
        shown = {**spec["selector"], "matchLabels": dict(sorted(selected.items()))} if selected else spec["selector"]
        errors.append(invalid("spec.selector", shown, "`selector` not auto-generated"))


def _check_job_spec(errors: Errors, spec: Object, path: str) -> None:
    for name in (
        *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
        *("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"),
    ):
        if name in spec:
            check_nonnegative(errors, spec[name], f"{path}.{name}")
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        errors.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if "managedBy" in spec:
        check_domain_path(errors, spec["managedBy"], f"{path}.managedBy")
        if len(spec["managedBy"]) > _MAX_MANAGER_BYTES:
            errors.append(too_long(f"{path}.managedBy", _MAX_MANAGER_BYTES))
    _check_mode(errors, spec, path)
    if "podFailurePolicy" in spec:
        check_failure_policy(errors, spec, f"{path}.podFailurePolicy.rules")
    if "successPolicy" in spec:
        check_success_policy(errors, spec, f"{path}.successPolicy")
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
        if spec.get("parallelism", 0) > _MAX_PARALLEL:
            detail = f"must be less than or equal to {_MAX_PARALLEL} when completion mode is Indexed"
            errors.append(invalid(f"{path}.parallelism", spec["parallelism"], detail))
        if completions is not None and failed is not None and failed > completions:
            detail = "must be less than or equal to completions"
            errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))
        if failed is not None and failed > _MAX_PARALLEL:
            detail = f"must be less than or equal to {_MAX_PARALLEL}"
            errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))
        if completions is not None and completions > _MANY_COMPLETIONS and "backoffLimitPerIndex" in spec:
            _check_many(errors, spec, failed, path)
    elif mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                errors.append(invalid(f"{path}.{name}", spec[name], "requires indexed completion mode"))


def _check_many(errors: Errors, spec: Object, failed: int | None, path: str) -> None:
    """Jobs with very many indexes must not have everything at once."""
    reason = f"when completions are above {_MANY_COMPLETIONS} and used with backoff limit per index"
    if failed is None:
        detail = f"must be specified when completions is above {_MANY_COMPLETIONS}"
        errors.append(required(f"{path}.maxFailedIndexes", detail))
    if spec.get("parallelism", 0) > _PARALLEL_OF_MANY:
        detail = f"must be less than or equal to {_PARALLEL_OF_MANY} {reason}"
        errors.append(invalid(f"{path}.parallelism", spec["parallelism"], detail))
    if failed is not None and failed > _FAILED_OF_MANY:
        detail = f"must be less than or equal to {_FAILED_OF_MANY} {reason}"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))


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
    _check_cron_spec(errors, obj["spec"], {})
    name = obj["metadata"]["name"]
    if len(name) > 52:
        errors.append(invalid("metadata.name", name, "must be no more than 52 characters"))
    return errors


def validate_cron_job_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    _check_cron_spec(errors, new["spec"], old["spec"])
    return errors


def _check_cron_spec(errors: Errors, spec: Object, was: Object) -> None:
    schedule, zone = spec["schedule"], spec.get("timeZone")
    if not schedule:
        errors.append(required("spec.schedule", ""))
    else:
        _check_schedule(errors, schedule, zone, "TZ" in was.get("schedule", ""))
    if "startingDeadlineSeconds" in spec:
        check_nonnegative(errors, spec["startingDeadlineSeconds"], "spec.startingDeadlineSeconds")
    if zone is not None and zone != was.get("timeZone") and (problem := time_zone_problem(zone)):
        errors.append(invalid("spec.timeZone", zone, problem))
    policy = spec["concurrencyPolicy"]
    if policy not in ("Allow", "Forbid", "Replace"):
        errors.append(not_supported("spec.concurrencyPolicy", Enum(policy), ("Allow", "Forbid", "Replace")))
    inner, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    _check_job_spec(errors, inner, path)
    if "selector" in inner:
        errors.append(invalid(f"{path}.selector", inner["selector"], "`selector` will be auto-generated"))
    if inner.get("manualSelector"):
        errors.append(not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        check_nonnegative(errors, spec[field], f"spec.{field}")


def _check_schedule(errors: Errors, schedule: str, zone: str | None, tolerated: bool) -> None:
    """`tolerated`: the schedule had its zone in it before that was refused."""
    if problem := schedule_problem(schedule):
        errors.append(invalid("spec.schedule", schedule, problem))
    if "TZ" not in schedule:
        return
    if not tolerated:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid("spec.schedule", schedule, detail))
    elif zone is not None:
        detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(invalid("spec.schedule", schedule, detail))
