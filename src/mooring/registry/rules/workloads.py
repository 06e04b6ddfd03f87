"""The rules of the kinds that make pods, scale them and guard them: the groups apps, batch, autoscaling and policy."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api.apps import defaults as apps_defaults
from mooring.api.apps import status as apps_status
from mooring.api.apps import validation as apps_validation
from mooring.api.autoscaling import autoscalers as autoscaling
from mooring.api.batch import defaults as batch_defaults
from mooring.api.batch import status as batch_status
from mooring.api.batch import validation as batch_validation
from mooring.api.core import warnings
from mooring.api.policy import validation as policy
from mooring.kube.objects import Object
from mooring.registry.rules.names import label_name, path_segment
from mooring.registry.strategies import Strategy, spec_of

__all__ = ["WORKLOADS"]


def _keep_labels(new: Object, old: Object, now: str) -> None:
    """A Deployment's labels do not change along with its status."""
    rest = {key: value for key, value in new["metadata"].items() if key != "labels"}
    labels = old["metadata"].get("labels")
    new["metadata"] = rest if labels is None else {**rest, "labels": labels}


def _deployment_intent(obj: Object) -> Any:
    # Annotations count, because a rollback is asked for in one.
    return obj.get("spec"), obj["metadata"].get("annotations", {})


WORKLOADS: Final[Mapping[str, Strategy]] = {
    "deployments.apps": Strategy(
        default=apps_defaults.default_deployment,
        validate=apps_validation.validate_deployment,
        warn=warnings.template_warnings,
        prepare_status=_keep_labels,
        validate_status=apps_status.validate_deployment_status,
        validate_update=apps_validation.validate_selector_update,
        intent=_deployment_intent,
    ),
    "replicasets.apps": Strategy(
        default=apps_defaults.default_replica_set,
        validate=apps_validation.validate_replica_set,
        warn=warnings.template_warnings,
        validate_status=apps_status.validate_replica_set_status,
        validate_update=apps_validation.validate_selector_update,
        intent=spec_of,
    ),
    "statefulsets.apps": Strategy(
        default=apps_defaults.default_stateful_set,
        validate=apps_validation.validate_stateful_set,
        warn=warnings.template_warnings,
        validate_status=apps_status.validate_stateful_set_status,
        validate_update=apps_validation.validate_stateful_set_update,
        update_is_whole=True,
        intent=spec_of,
        name_texts=label_name,
    ),
    "daemonsets.apps": Strategy(
        default=apps_defaults.default_daemon_set,
        prepare=apps_defaults.prepare_daemon_set,
        prepare_update=apps_defaults.prepare_daemon_set_update,
        validate=apps_validation.validate_daemon_set,
        warn=warnings.template_warnings,
        validate_status=apps_status.validate_daemon_set_status,
        validate_update=apps_validation.validate_daemon_set_update,
        intent=spec_of,
    ),
    "controllerrevisions.apps": Strategy(
        validate=apps_validation.validate_controller_revision,
        validate_update=apps_validation.validate_controller_revision_update,
        update_is_whole=True,
    ),
    "jobs.batch": Strategy(
        default=batch_defaults.default_job,
        prepare=batch_defaults.prepare_job,
        validate=batch_validation.validate_job,
        warn=warnings.template_warnings,
        validate_status=batch_status.validate_job_status,
        validate_update=batch_validation.validate_job_update,
        orphans=True,
        intent=spec_of,
    ),
    "cronjobs.batch": Strategy(
        default=batch_defaults.default_cron_job,
        validate=batch_validation.validate_cron_job,
        validate_update=batch_validation.validate_cron_job_update,
        update_is_whole=True,
        intent=spec_of,
    ),
    "poddisruptionbudgets.policy": Strategy(
        validate=policy.validate_disruption_budget,
        metadata_last=True,
        name_texts=path_segment,
        validate_status=policy.validate_disruption_budget_status,
        unconditional=False,
        intent=spec_of,
    ),
    "horizontalpodautoscalers.autoscaling": Strategy(
        default=autoscaling.default_autoscaler,
        validate=autoscaling.validate_autoscaler,
        validate_update=autoscaling.validate_autoscaler_update,
        validate_status=autoscaling.validate_autoscaler_status,
        update_is_whole=True,
    ),
    "horizontalpodautoscalers.autoscaling@autoscaling/v1": Strategy(default=autoscaling.default_old_autoscaler),
}
