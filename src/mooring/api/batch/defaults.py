"""What the API server adds to Jobs and CronJobs, in place."""

from typing import Final

from mooring.api.core.pod_templates import default_template
from mooring.kube.names import is_label_value
from mooring.kube.objects import Object

__all__ = ["default_cron_job", "default_job", "prepare_job"]


_UNLIMITED: Final = 2**31 - 1
_CONTROLLER_UID: Final = "batch.kubernetes.io/controller-uid"


def default_job(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    default_job_spec(spec)
    labels = spec["template"]["metadata"].get("labels")
    if labels and not obj["metadata"].get("labels"):
        # The very same labels: those that creation adds to the template become the Job's too.
        obj["metadata"]["labels"] = labels


def default_job_spec(spec: Object) -> None:
    default_template(spec)
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _UNLIMITED if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)
    for rule in spec.get("podFailurePolicy", {}).get("rules") or ():
        for pattern in rule.get("onPodConditions", ()):
            pattern["status"] = pattern.get("status") or "True"


def default_cron_job(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    # Jobs made from it are defaulted when they are made; the template gets only what its pods need to be checked.
    default_template(template.setdefault("spec", {}))


def prepare_job(obj: Object, now: str) -> None:
    """Give a new Job the labels and the selector that tell its pods from all others."""
    spec, metadata = obj["spec"], obj["metadata"]
    if spec["manualSelector"]:
        return
    template = spec["template"]["metadata"]
    given = template.get("labels", {})
    labels = template["labels"] = dict(given)
    for key, value in (
        ("controller-uid", metadata["uid"]),
        (_CONTROLLER_UID, metadata["uid"]),
        ("job-name", metadata["name"]),
        ("batch.kubernetes.io/job-name", metadata["name"]),
    ):
        labels.setdefault(key, value)
    # Of a name that cannot be a label, the pods' labels say so.
    if metadata.get("labels", given) is given and not is_label_value(metadata["name"]):
        metadata["labels"] = dict(labels)
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {_CONTROLLER_UID: metadata["uid"]} | selector.get("matchLabels", {})
