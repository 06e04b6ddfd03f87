"""The rules of the kinds that set a cluster up: access, networks, classes, leases, admission, definitions."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api.admissionregistration import policies as admission_policies
from mooring.api.admissionregistration import webhooks
from mooring.api.apiextensions import definitions
from mooring.api.apiregistration import api_services
from mooring.api.certificates import requests as certificates
from mooring.api.coordination import leases
from mooring.api.core import endpoints, warnings
from mooring.api.flowcontrol import flow_schemas, priority_levels
from mooring.api.networking import service_addresses
from mooring.api.networking import validation as networking
from mooring.api.node import runtime_classes
from mooring.api.rbac import roles as access
from mooring.api.scheduling import priority_classes
from mooring.api.storage import attachments, csi, storage_classes
from mooring.kube.objects import Object
from mooring.registry.rules.names import any_text, path_segment
from mooring.registry.strategies import Strategy, always, spec_of

__all__ = ["ADMINISTRATION"]


def _whole(obj: Object) -> Any:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata", "status")}


def _slice_intent(obj: Object) -> Any:
    return _whole(obj), obj["metadata"].get("labels", {})


_BINDING: Final = Strategy(
    default=access.default_role_binding,
    validate=access.validate_role_binding,
    validate_update=access.validate_role_binding_update,
    name_texts=path_segment,
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

ADMINISTRATION: Final[Mapping[str, Strategy]] = {
    "priorityclasses.scheduling.k8s.io": Strategy(
        default=priority_classes.default_priority_class,
        validate=priority_classes.validate_priority_class,
        validate_update=priority_classes.validate_priority_class_update,
        update_is_whole=True,
        # It has a generation, which never grows.
        intent=lambda obj: None,
    ),
    "leases.coordination.k8s.io": Strategy(
        prepare=leases.prepare_lease,
        prepare_update=leases.prepare_lease_update,
        validate=leases.validate_lease,
        unconditional=False,
        create_on_update=True,
    ),
    "runtimeclasses.node.k8s.io": Strategy(
        default=runtime_classes.default_runtime_class,
        validate=runtime_classes.validate_runtime_class,
        validate_update=runtime_classes.validate_runtime_class_update,
        unconditional=False,
        create_on_update=True,
    ),
    "networkpolicies.networking.k8s.io": Strategy(
        default=networking.default_network_policy,
        validate=networking.validate_network_policy,
        validate_update=networking.validate_network_policy_update,
        warn=warnings.network_policy_warnings,
        warn_update=always(warnings.network_policy_warnings),
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
        validate=networking.validate_ingress,
        validate_status=networking.validate_ingress_status,
        warn_status=warnings.balancer_warnings,
        intent=spec_of,
    ),
    "servicecidrs.networking.k8s.io": Strategy(
        validate=service_addresses.validate_range,
        validate_update=service_addresses.validate_range_update,
        update_is_whole=True,
    ),
    "ipaddresses.networking.k8s.io": Strategy(
        validate=service_addresses.validate_address,
        validate_update=service_addresses.validate_address_update,
        update_is_whole=True,
        name_texts=service_addresses.address_name,
    ),
    "flowschemas.flowcontrol.apiserver.k8s.io": Strategy(
        default=flow_schemas.default_flow_schema,
        validate=flow_schemas.validate_flow_schema,
        validate_status=flow_schemas.validate_flow_schema_status,
        intent=spec_of,
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": Strategy(
        default=priority_levels.default_priority_level,
        validate=priority_levels.validate_priority_level,
        validate_status=priority_levels.validate_priority_level_status,
        intent=spec_of,
    ),
    "apiservices.apiregistration.k8s.io": Strategy(
        default=api_services.default_api_service,
        prepare=api_services.prepare_api_service,
        validate=api_services.validate_api_service,
        validate_update=api_services.validate_api_service_update,
        validate_status=api_services.validate_api_service_status,
        update_is_whole=True,
        unconditional=False,
        name_texts=any_text,
    ),
    "storageclasses.storage.k8s.io": Strategy(
        default=storage_classes.default_storage_class,
        validate=storage_classes.validate_storage_class,
        validate_update=storage_classes.validate_storage_class_update,
    ),
    "volumeattributesclasses.storage.k8s.io": Strategy(
        validate=storage_classes.validate_attributes_class,
        validate_update=storage_classes.validate_attributes_class_update,
        update_is_whole=True,
    ),
    "csidrivers.storage.k8s.io": Strategy(
        default=csi.default_driver,
        prepare_update=csi.prepare_driver_update,
        validate=csi.validate_driver,
        validate_update=csi.validate_driver_update,
        warn=csi.driver_warnings,
        update_is_whole=True,
        unconditional=False,
    ),
    "csinodes.storage.k8s.io": Strategy(
        validate=csi.validate_csi_node, validate_update=csi.validate_csi_node_update, unconditional=False
    ),
    "csistoragecapacities.storage.k8s.io": Strategy(
        default=csi.default_capacity,
        validate=csi.validate_capacity,
        validate_update=csi.validate_capacity_update,
        unconditional=False,
    ),
    "volumeattachments.storage.k8s.io": Strategy(
        validate=attachments.validate_attachment,
        validate_update=attachments.validate_attachment_update,
        validate_status=attachments.validate_attachment_status,
        update_is_whole=True,
        unconditional=False,
    ),
    "endpointslices.discovery.k8s.io": Strategy(
        default=endpoints.default_slice,
        prepare=endpoints.prepare_slice,
        prepare_update=endpoints.prepare_slice_update,
        validate=endpoints.validate_slice,
        warn=warnings.slice_warnings,
        warn_update=warnings.slice_warnings,
        validate_update=endpoints.validate_slice_update,
        intent=_slice_intent,
    ),
    "roles.rbac.authorization.k8s.io": Strategy(
        prepare=access.prepare_role,
        prepare_update=access.prepare_role_update,
        validate=access.validate_role,
        name_texts=path_segment,
        create_on_update=True,
    ),
    "clusterroles.rbac.authorization.k8s.io": Strategy(
        prepare=access.prepare_role,
        prepare_update=access.prepare_role_update,
        validate=access.validate_cluster_role,
        name_texts=path_segment,
        create_on_update=True,
    ),
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingadmissionpolicies.admissionregistration.k8s.io": Strategy(
        default=admission_policies.default_policy,
        validate=admission_policies.validate_policy,
        validate_status=admission_policies.validate_policy_status,
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
        name_texts=path_segment,
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
