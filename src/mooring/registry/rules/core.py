"""The rules of the kinds of the core group."""

from collections.abc import Mapping
from typing import Final

from mooring.api.apps import status as apps_status
from mooring.api.core import endpoints, events, limits, nodes, services, volumes, warnings
from mooring.api.core.defaults import kinds as kinds_defaults
from mooring.api.core.defaults import pods as pod_defaults
from mooring.api.core.pod_templates import default_template
from mooring.api.core.validation import kinds as kinds_validation
from mooring.api.core.validation import status as validation_status
from mooring.api.core.validation.pods import validate_live_pod
from mooring.api.core.validation.resize import validate_resize
from mooring.api.core.validation.updates import validate_pod_update
from mooring.kube.errors import FieldError
from mooring.kube.objects import Object
from mooring.registry.kinds.pod_validation import validate_pod_once
from mooring.registry.rules.names import label_name, long_name, path_segment, service_name
from mooring.registry.strategies import Strategy, always, spec_of

__all__ = ["CORE"]


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
    return validate_resize(new, old, validate_pod_once(new, validate_live_pod))


_POD_SECTIONS: Final = {"ephemeralcontainers": _validate_debugged_pod, "resize": _validate_resized_pod}

CORE: Final[Mapping[str, Strategy]] = {
    "pods": Strategy(
        default=pod_defaults.fill_pod,
        default_status=pod_defaults.fill_pod_status,
        prepare=_prepare_pod,
        prepare_status=_prepare_pod_status,
        validate=validate_pod_once,
        warn=warnings.pod_warnings,
        warn_first=warnings.profile_warnings,
        warn_status=warnings.pod_status_warnings,
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
        prepare=nodes.prepare_node,
        prepare_update=nodes.prepare_node_update,
        warn=warnings.node_warnings,
        warn_update=always(warnings.node_warnings),
        validate=nodes.validate_whole_node,
        validate_update=nodes.validate_node_update,
        validate_status=nodes.validate_node_status,
        update_is_whole=True,
        keeps_status=True,
        checks_metadata=True,
    ),
    "namespaces": Strategy(
        default=kinds_defaults.default_namespace,
        default_status=kinds_defaults.default_namespace_status,
        prepare=kinds_defaults.prepare_namespace,
        prepare_update=kinds_defaults.prepare_namespace_update,
        validate=kinds_validation.validate_namespace,
        validate_sections={"finalize": kinds_validation.validate_namespace_finalizers},
        validate_status=kinds_validation.validate_namespace_status,
        name_texts=label_name,
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
    "serviceaccounts": Strategy(
        default=kinds_defaults.default_service_account,
        warn=warnings.account_warnings,
        warn_update=warnings.account_warnings,
    ),
    "services": Strategy(
        default=services.default_service,
        default_status=services.default_service_status,
        validate=services.validate_service,
        warn=warnings.service_warnings,
        warn_status=warnings.balancer_warnings,
        warn_update=always(warnings.service_warnings),
        validate_update=services.validate_service_update,
        validate_status=services.validate_service_status,
        name_texts=service_name,
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
        default=endpoints.default_endpoints,
        validate=endpoints.validate_endpoints,
        warn=warnings.endpoints_warnings,
        warn_update=always(warnings.endpoints_warnings),
        create_on_update=True,
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
        name_texts=path_segment,
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
        orphans=True,
        name_texts=long_name,
        warn=warnings.template_warnings,
        validate_status=apps_status.validate_replica_set_status,
        intent=spec_of,
    ),
}
