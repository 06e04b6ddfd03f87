"""What differs from kind to kind: defaults, validation, generation, names.

A `Strategy` is the registry's table entry for that; the rules themselves live with the API groups. Everything has a
working default, so that a kind about which nothing is said behaves like a plain object with spec and status.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mooring.api import (
    apps_defaults,
    apps_validation,
    batch_defaults,
    batch_validation,
    definitions,
    other_defaults,
    other_validation,
)
from mooring.api import policy_validation as policy
from mooring.api.core import defaults as pod_defaults
from mooring.api.core import kinds_defaults, kinds_validation
from mooring.api.core.validation_nodes import validate_node
from mooring.api.core.validation_updates import validate_pod_status_update, validate_pod_update
from mooring.kube.errors import FieldError
from mooring.kube.names import is_dns1035_label, is_dns1123_label, is_valid_name
from mooring.registry.sharing import validate_pod_once

__all__ = ["STRATEGIES", "Strategy", "spec_of"]

Object = dict[str, Any]


def _nothing(obj: Object) -> None:
    return None


def _nothing_at(obj: Object, now: str) -> None:
    return None


def _no_errors(obj: Object) -> list[FieldError]:
    return []


def _no_update_errors(new: Object, old: Object) -> list[FieldError]:
    return []


def spec_of(obj: Object) -> Any:
    """The intent of most kinds."""
    return obj.get("spec")


def _name_texts(name: str, prefix: bool) -> list[str]:
    return is_valid_name(name, prefix=prefix)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The rules of one kind.

    default         fill in an object of the registry's own, in place; on every write that changes its body
    prepare         what happens at creation only, in place; the time is given as text
    validate        of the object as it would be stored
    validate_update of a new body against the old one
    validate_status of a new status against the old one, the objects given whole
    intent          what of an object its generation counts changes of; None where the kind has no generation
    name_texts      what is wrong with a name, or with a prefix of one
    unconditional   whether an update may leave resourceVersion out
    create_on_update whether PUT on a missing object creates it
    shape           the name of the typed shape an object is decoded by; by its schema where there is none
    keeps_status    whether a status given at creation is kept although there is a sub-resource for it
    checks_metadata whether `validate` looks at metadata too
    unsupported_gc  whether dependents never matter when an object of the kind is deleted
    """

    default: Callable[[Object], Any] = _nothing
    prepare: Callable[[Object, str], Any] = _nothing_at
    validate: Callable[[Object], list[FieldError]] = _no_errors
    validate_update: Callable[[Object, Object], list[FieldError]] = _no_update_errors
    validate_status: Callable[[Object, Object], list[FieldError]] = _no_update_errors
    intent: Callable[[Object], Any] | None = None
    name_texts: Callable[[str, bool], list[str]] = _name_texts
    unconditional: bool = True
    create_on_update: bool = False
    shape: str = ""
    keeps_status: bool = False
    checks_metadata: bool = False
    unsupported_gc: bool = False


def _label_name(name: str, prefix: bool) -> list[str]:
    return is_dns1123_label(_masked(name) if prefix else name)


def _service_name(name: str, prefix: bool) -> list[str]:
    return is_dns1035_label(_masked(name) if prefix else name)


def _masked(prefix: str) -> str:
    """A prefix may end in a dash, because more will follow."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _path_segment(name: str, prefix: bool) -> list[str]:
    """Access rules have names that only must not break a URL."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


def _prepare_pod(pod: Object, now: str) -> None:
    head = {"apiVersion": pod["apiVersion"], "kind": pod["kind"]}
    rest = pod_defaults.prepare_pod(pod, now).copy()
    pod.clear()
    pod.update(head | rest)


def _deployment_intent(obj: Object) -> Any:
    # Annotations count, because a rollback is asked for in one.
    return obj.get("spec"), obj["metadata"].get("annotations", {})


def _whole(obj: Object) -> Any:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata", "status")}


def _slice_intent(obj: Object) -> Any:
    return _whole(obj), obj["metadata"].get("labels", {})


_ACCESS: Final = Strategy(name_texts=_path_segment)
_BINDING: Final = Strategy(
    default=other_defaults.default_role_binding,
    validate=other_validation.validate_role_binding,
    validate_update=other_validation.validate_role_binding_update,
    name_texts=_path_segment,
)
_WEBHOOKS: Final = Strategy(default=other_defaults.default_webhooks, intent=_whole)
_SPEC: Final = Strategy(intent=spec_of)

STRATEGIES: Final[Mapping[str, Strategy]] = {
    "pods": Strategy(
        default=pod_defaults.fill_pod,
        prepare=_prepare_pod,
        validate=validate_pod_once,
        validate_update=validate_pod_update,
        validate_status=validate_pod_status_update,
        intent=spec_of,
        shape="Pod",
        checks_metadata=True,
    ),
    "nodes": Strategy(
        default=kinds_defaults.default_node, validate=validate_node, keeps_status=True, checks_metadata=True
    ),
    "namespaces": Strategy(
        default=kinds_defaults.default_namespace,
        prepare=kinds_defaults.prepare_namespace,
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
        default=kinds_defaults.default_service,
        validate=kinds_validation.validate_service,
        validate_update=kinds_validation.validate_service_update,
        name_texts=_service_name,
    ),
    "persistentvolumeclaims": Strategy(
        default=kinds_defaults.default_volume_claim,
        validate=kinds_validation.validate_volume_claim,
        validate_update=kinds_validation.validate_volume_claim_update,
    ),
    "persistentvolumes": Strategy(default=kinds_defaults.default_volume),
    "endpoints": Strategy(default=kinds_defaults.default_endpoints, create_on_update=True),
    "limitranges": Strategy(default=kinds_defaults.default_limit_range),
    "events": Strategy(validate=kinds_validation.validate_event, create_on_update=True, unsupported_gc=True),
    "podtemplates": Strategy(intent=lambda obj: obj.get("template")),
    "replicationcontrollers": Strategy(
        default=kinds_defaults.default_replication_controller,
        validate=kinds_validation.validate_replication_controller,
        intent=spec_of,
    ),
    "deployments.apps": Strategy(
        default=apps_defaults.default_deployment,
        validate=apps_validation.validate_deployment,
        validate_update=apps_validation.validate_selector_update,
        intent=_deployment_intent,
    ),
    "replicasets.apps": Strategy(
        default=apps_defaults.default_replica_set,
        validate=apps_validation.validate_replica_set,
        validate_update=apps_validation.validate_selector_update,
        intent=spec_of,
    ),
    "statefulsets.apps": Strategy(
        default=apps_defaults.default_stateful_set,
        validate=apps_validation.validate_stateful_set,
        validate_update=apps_validation.validate_stateful_set_update,
        intent=spec_of,
        name_texts=_label_name,
    ),
    "daemonsets.apps": Strategy(
        default=apps_defaults.default_daemon_set,
        validate=apps_validation.validate_daemon_set,
        validate_update=apps_validation.validate_daemon_set_update,
        intent=spec_of,
    ),
    "controllerrevisions.apps": Strategy(
        validate=apps_validation.validate_controller_revision,
        validate_update=apps_validation.validate_controller_revision_update,
    ),
    "jobs.batch": Strategy(
        default=batch_defaults.default_job,
        prepare=batch_defaults.prepare_job,
        validate=batch_validation.validate_job,
        validate_update=batch_validation.validate_job_update,
        intent=spec_of,
    ),
    "cronjobs.batch": Strategy(
        default=batch_defaults.default_cron_job, validate=batch_validation.validate_cron_job, intent=spec_of
    ),
    "poddisruptionbudgets.policy": Strategy(validate=policy.validate_disruption_budget, intent=spec_of),
    "priorityclasses.scheduling.k8s.io": Strategy(
        default=policy.default_priority_class,
        validate=policy.validate_priority_class,
        validate_update=policy.validate_priority_class_update,
        # It has a generation, which never grows.
        intent=lambda obj: None,
    ),
    "leases.coordination.k8s.io": Strategy(validate=policy.validate_lease, create_on_update=True),
    "horizontalpodautoscalers.autoscaling": Strategy(
        default=other_defaults.default_autoscaler, validate=other_validation.validate_autoscaler
    ),
    "runtimeclasses.node.k8s.io": Strategy(
        validate=other_validation.validate_runtime_class,
        validate_update=other_validation.validate_runtime_class_update,
    ),
    "networkpolicies.networking.k8s.io": Strategy(default=other_defaults.default_network_policy, intent=spec_of),
    "ingressclasses.networking.k8s.io": Strategy(default=other_defaults.default_ingress_class, intent=spec_of),
    "ingresses.networking.k8s.io": _SPEC,
    "storageclasses.storage.k8s.io": Strategy(
        default=other_defaults.default_storage_class,
        validate=other_validation.validate_storage_class,
        validate_update=other_validation.validate_storage_class_update,
    ),
    "endpointslices.discovery.k8s.io": Strategy(
        default=other_defaults.default_endpoint_slice,
        validate=other_validation.validate_endpoint_slice,
        intent=_slice_intent,
    ),
    "roles.rbac.authorization.k8s.io": _ACCESS,
    "clusterroles.rbac.authorization.k8s.io": _ACCESS,
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingadmissionpolicies.admissionregistration.k8s.io": _SPEC,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": _SPEC,
    "certificatesigningrequests.certificates.k8s.io": Strategy(),
    "customresourcedefinitions.apiextensions.k8s.io": Strategy(
        default=definitions.default_definition,
        validate=definitions.validate_definition,
        validate_update=definitions.validate_definition_update,
        intent=spec_of,
    ),
}
