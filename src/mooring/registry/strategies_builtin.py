"""The rules of every built-in kind, by the name of its store.

A kind that is served in a shape it is not stored in has a second entry, with its apiVersion behind an `@`: the defaults
of that shape, and the rules that hold only for what comes through it.
"""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api import classes
from mooring.api.admissionregistration import policies as admission_policies
from mooring.api.admissionregistration import webhooks
from mooring.api.apiextensions import definitions
from mooring.api.apps import defaults as apps_defaults
from mooring.api.apps import status as apps_status
from mooring.api.apps import validation as apps_validation
from mooring.api.autoscaling import autoscalers as autoscaling
from mooring.api.batch import defaults as batch_defaults
from mooring.api.batch import status as batch_status
from mooring.api.batch import validation as batch_validation
from mooring.api.certificates import requests as certificates
from mooring.api.core import endpoints, events, limits, nodes, services, volumes, warnings
from mooring.api.core.defaults import kinds as kinds_defaults
from mooring.api.core.defaults import pods as pod_defaults
from mooring.api.core.pod_templates import default_template
from mooring.api.core.validation import kinds as kinds_validation
from mooring.api.core.validation import status as validation_status
from mooring.api.core.validation.pods import validate_live_pod
from mooring.api.core.validation.updates import validate_pod_update
from mooring.api.networking import validation as networking
from mooring.api.policy import validation as policy
from mooring.api.rbac import roles as access
from mooring.kube.errors import FieldError
from mooring.kube.names import is_dns1035_label, is_dns1123_label, path_segment_texts
from mooring.kube.objects import Object
from mooring.registry.sharing import validate_pod_once
from mooring.registry.strategies import Strategy, spec_of

__all__ = ["STRATEGIES"]


def _label_name(name: str, prefix: bool) -> list[str]:
    return is_dns1123_label(_masked(name) if prefix else name)


def _service_name(name: str, prefix: bool) -> list[str]:
    return is_dns1035_label(_masked(name) if prefix else name)


def _masked(prefix: str) -> str:
    """A prefix may end in a dash, because more will follow."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _path_segment(name: str, prefix: bool) -> list[str]:
    return path_segment_texts(name)


def _any_text(name: str, prefix: bool) -> list[str]:
    return []


def _prepare_pod(pod: Object, now: str) -> None:
    head = {"apiVersion": pod["apiVersion"], "kind": pod["kind"]}
    rest = pod_defaults.prepare_pod(pod, now).copy()
    pod.clear()
    pod.update(head | rest)


def _prepare_pod_status(new: Object, old: Object, now: str) -> None:
    """What a pod counts as was settled when it was made; who owns it is none of a kubelet's business."""
    if not new["status"].get("qosClass") and old["status"].get("qosClass"):
        new["status"] = {**new["status"], "qosClass": old["status"]["qosClass"]}
    owners, were = new["metadata"].get("ownerReferences"), old["metadata"].get("ownerReferences")
    if owners != were:
        rest = {key: value for key, value in new["metadata"].items() if key != "ownerReferences"}
        new["metadata"] = rest if were is None else {**rest, "ownerReferences": were}


def _validate_changed_pod(new: Object, old: Object) -> list[FieldError]:
    return validate_pod_once(new, validate_live_pod) + validate_pod_update(new, old)


def _validate_debugged_pod(new: Object, old: Object) -> list[FieldError]:
    return validate_pod_once(new, validate_live_pod) + validation_status.validate_ephemeral_update(new, old)


def _validate_resized_pod(new: Object, old: Object) -> list[FieldError]:
    return validate_pod_once(new, validate_live_pod) + validation_status.validate_resize(new, old)


_POD_SECTIONS: Final = {"ephemeralcontainers": _validate_debugged_pod, "resize": _validate_resized_pod}


def _keep_labels(new: Object, old: Object, now: str) -> None:
    """A Deployment's labels do not change along with its status."""
    rest = {key: value for key, value in new["metadata"].items() if key != "labels"}
    labels = old["metadata"].get("labels")
    new["metadata"] = rest if labels is None else {**rest, "labels": labels}


def _deployment_intent(obj: Object) -> Any:
    # Annotations count, because a rollback is asked for in one.
    return obj.get("spec"), obj["metadata"].get("annotations", {})


def _whole(obj: Object) -> Any:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata", "status")}


def _slice_intent(obj: Object) -> Any:
    return _whole(obj), obj["metadata"].get("labels", {})


_BINDING: Final = Strategy(
    default=access.default_role_binding,
    validate=access.validate_role_binding,
    validate_update=access.validate_role_binding_update,
    name_texts=_path_segment,
    create_on_update=True,
)
_WEBHOOKS: Final = Strategy(
    default=webhooks.default_webhooks,
    validate=webhooks.validate_webhooks,
    validate_update=webhooks.validate_webhooks_update,
    update_is_whole=True,
    unconditional=False,
    intent=_whole,
)

STRATEGIES: Final[Mapping[str, Strategy]] = {
    "pods": Strategy(
        default=pod_defaults.fill_pod,
        default_status=pod_defaults.fill_pod_status,
        prepare=_prepare_pod,
        prepare_status=_prepare_pod_status,
        validate=validate_pod_once,
        warn=warnings.pod_warnings,
        validate_update=_validate_changed_pod,
        validate_status=validation_status.validate_pod_status_update,
        validate_sections=_POD_SECTIONS,
        update_is_whole=True,
        intent=spec_of,
        checks_metadata=True,
    ),
    "nodes": Strategy(
        default=nodes.default_node,
        default_status=nodes.default_node_status,
        validate=nodes.validate_whole_node,
        validate_update=nodes.validate_node_update,
        validate_status=nodes.validate_node_status,
        update_is_whole=True,
        keeps_status=True,
        checks_metadata=True,
    ),
    "namespaces": Strategy(
        default=kinds_defaults.default_namespace,
        prepare=kinds_defaults.prepare_namespace,
        prepare_update=kinds_defaults.prepare_namespace_update,
        validate=kinds_validation.validate_namespace,
        validate_sections={"finalize": kinds_validation.validate_namespace_finalizers},
        validate_status=kinds_validation.validate_namespace_status,
        name_texts=_label_name,
    ),
    "configmaps": Strategy(
        default=kinds_defaults.default_config_map,
        validate=kinds_validation.validate_config_map,
        validate_update=kinds_validation.validate_config_map_update,
    ),
    "secrets": Strategy(
        default=kinds_defaults.default_secret,
        validate=kinds_validation.validate_secret,
        validate_update=kinds_validation.validate_secret_update,
    ),
    "services": Strategy(
        default=services.default_service,
        default_status=services.default_service_status,
        validate=services.validate_service,
        warn=warnings.service_warnings,
        validate_update=services.validate_service_update,
        validate_status=services.validate_service_status,
        name_texts=_service_name,
        create_on_update=True,
        update_is_whole=True,
    ),
    "persistentvolumeclaims": Strategy(
        default=volumes.default_claim,
        default_status=volumes.default_storage_status,
        prepare=volumes.prepare_claim,
        prepare_update=volumes.prepare_claim_update,
        validate=volumes.validate_claim,
        warn=warnings.claim_warnings,
        validate_update=volumes.validate_claim_update,
        validate_status=volumes.validate_claim_status,
    ),
    "persistentvolumes": Strategy(
        default=volumes.default_volume,
        default_status=volumes.default_storage_status,
        prepare=volumes.prepare_volume,
        prepare_status=volumes.prepare_volume_status,
        validate=volumes.validate_volume,
        validate_update=volumes.validate_volume_update,
    ),
    "endpoints": Strategy(
        default=endpoints.default_endpoints, validate=endpoints.validate_endpoints, create_on_update=True
    ),
    "limitranges": Strategy(
        default=limits.default_limit_range, validate=limits.validate_limit_range, create_on_update=True
    ),
    "resourcequotas": Strategy(
        default=limits.default_quota,
        validate=limits.validate_quota,
        validate_update=limits.validate_quota_update,
        validate_status=limits.validate_quota_status,
    ),
    "events": Strategy(
        validate=events.validate_event,
        metadata_last=True,
        name_texts=_path_segment,
        create_on_update=True,
        unsupported_gc=True,
    ),
    "events@events.k8s.io/v1": Strategy(
        validate=events.validate_new_event,
        validate_update=events.validate_new_event_update,
        update_is_whole=True,
        create_on_update=True,
        unsupported_gc=True,
    ),
    "podtemplates": Strategy(
        default=default_template,
        validate=kinds_validation.validate_pod_template,
        intent=lambda obj: obj.get("template"),
    ),
    "replicationcontrollers": Strategy(
        default=kinds_defaults.default_replication_controller,
        validate=kinds_validation.validate_replication_controller,
        warn=warnings.template_warnings,
        validate_status=apps_status.validate_replica_set_status,
        intent=spec_of,
    ),
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
        name_texts=_label_name,
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
        name_texts=_path_segment,
        validate_status=policy.validate_disruption_budget_status,
        unconditional=False,
        intent=spec_of,
    ),
    "priorityclasses.scheduling.k8s.io": Strategy(
        default=policy.default_priority_class,
        validate=policy.validate_priority_class,
        validate_update=policy.validate_priority_class_update,
        update_is_whole=True,
        # It has a generation, which never grows.
        intent=lambda obj: None,
    ),
    "leases.coordination.k8s.io": Strategy(
        prepare=policy.prepare_lease,
        prepare_update=policy.prepare_lease_update,
        validate=policy.validate_lease,
        unconditional=False,
        create_on_update=True,
    ),
    "horizontalpodautoscalers.autoscaling": Strategy(
        default=autoscaling.default_autoscaler,
        validate=autoscaling.validate_autoscaler,
        validate_update=autoscaling.validate_autoscaler_update,
        validate_status=autoscaling.validate_autoscaler_status,
        update_is_whole=True,
    ),
    "horizontalpodautoscalers.autoscaling@autoscaling/v1": Strategy(default=autoscaling.default_old_autoscaler),
    "runtimeclasses.node.k8s.io": Strategy(
        default=classes.default_runtime_class,
        validate=classes.validate_runtime_class,
        validate_update=classes.validate_runtime_class_update,
        unconditional=False,
        create_on_update=True,
    ),
    "networkpolicies.networking.k8s.io": Strategy(
        default=networking.default_network_policy,
        validate=networking.validate_network_policy,
        validate_update=networking.validate_network_policy_update,
        update_is_whole=True,
        intent=spec_of,
    ),
    "ingressclasses.networking.k8s.io": Strategy(
        default=networking.default_ingress_class,
        validate=networking.validate_ingress_class,
        validate_update=networking.validate_ingress_class_update,
        update_is_whole=True,
        intent=spec_of,
    ),
    "ingresses.networking.k8s.io": Strategy(
        validate=networking.validate_ingress, validate_status=networking.validate_ingress_status, intent=spec_of
    ),
    "storageclasses.storage.k8s.io": Strategy(
        default=classes.default_storage_class,
        validate=classes.validate_storage_class,
        validate_update=classes.validate_storage_class_update,
    ),
    "endpointslices.discovery.k8s.io": Strategy(
        default=endpoints.default_slice,
        prepare=endpoints.prepare_slice,
        prepare_update=endpoints.prepare_slice_update,
        validate=endpoints.validate_slice,
        validate_update=endpoints.validate_slice_update,
        intent=_slice_intent,
    ),
    "roles.rbac.authorization.k8s.io": Strategy(
        prepare=access.prepare_role,
        prepare_update=access.prepare_role_update,
        validate=access.validate_role,
        name_texts=_path_segment,
        create_on_update=True,
    ),
    "clusterroles.rbac.authorization.k8s.io": Strategy(
        prepare=access.prepare_role,
        prepare_update=access.prepare_role_update,
        validate=access.validate_cluster_role,
        name_texts=_path_segment,
        create_on_update=True,
    ),
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingadmissionpolicies.admissionregistration.k8s.io": Strategy(
        default=admission_policies.default_policy,
        validate=admission_policies.validate_policy,
        unconditional=False,
        intent=spec_of,
    ),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": Strategy(
        default=admission_policies.default_binding,
        validate=admission_policies.validate_binding,
        unconditional=False,
        intent=spec_of,
    ),
    "certificatesigningrequests.certificates.k8s.io": Strategy(
        prepare=certificates.prepare_request,
        prepare_update=certificates.prepare_request_update,
        prepare_status=certificates.prepare_request_status,
        validate=certificates.validate_request,
        validate_status=certificates.validate_request_status,
        validate_sections={"status": certificates.validate_signed_request},
        name_texts=_any_text,
    ),
    "customresourcedefinitions.apiextensions.k8s.io": Strategy(
        default=definitions.default_definition,
        validate=definitions.validate_definition,
        validate_update=definitions.validate_definition_update,
        update_is_whole=True,
        unconditional=False,
        intent=spec_of,
    ),
}
