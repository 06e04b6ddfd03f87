"""What the API server adds to a pod that is created.

Nothing here decides anything; it makes implicit values explicit, so that everything behind sees one form. The input is
never changed.
"""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api.core.decoding.decoder import decode, mismatches
from mooring.api.core.defaults.spec import CONTAINER_LISTS, default_spec
from mooring.api.core.resources import (
    aggregate_containers,
    is_hugepages,
    is_overcommit_allowed,
    is_pod_level_resource,
    qos_class,
)
from mooring.api.core.validation.security import check_app_armor_profile
from mooring.kube.errors import FieldError, InvalidObjectError
from mooring.kube.objects import Object

__all__ = [
    "complete_pod",
    "default_pod",
    "default_pod_spec",
    "drop_disabled_fields",
    "fill_pod",
    "fill_pod_status",
    "prepare_pod",
]


APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_INIT_CONTAINER_ANNOTATIONS: Final = frozenset(
    f"pod.{version}.kubernetes.io/init-container{kind}" for version in ("beta", "alpha") for kind in ("s", "-statuses")
)


def default_pod(pod: Mapping[str, Any], now: str | None = None) -> Object:
    """The pod as the API server would store it: metadata, spec and a fresh status.

    `now` is the time written into the condition of a gated pod. Raises InvalidObjectError when a value has the wrong
    type.
    """
    decoded = decode("Pod", pod)
    if decoded is None:
        raise InvalidObjectError("Pod", _name(pod), mismatches("Pod", pod))
    return complete_pod(decoded, now)


def default_pod_spec(spec: Mapping[str, Any]) -> Object:
    """The spec of a pod template as the API server would store it in a Deployment, Job and the like.

    Templates get less than pods: requests are not taken from limits before there is a pod.
    """
    decoded = decode("PodSpec", spec)
    if decoded is None:
        raise InvalidObjectError("PodSpec", "", mismatches("PodSpec", spec, "spec"))
    default_spec(decoded)
    _join_service_account(decoded)
    return decoded


def _name(pod: Mapping[str, Any]) -> str:
    metadata = pod.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def complete_pod(pod: Object, now: str | None = None) -> Object:
    """Default a decoded pod that is being created, in place."""
    fill_pod(pod)
    return prepare_pod(pod, now)


def fill_pod(pod: Object) -> Object:
    """Default a decoded pod in place, without what happens only at creation."""
    spec = pod["spec"]
    drop_disabled_fields(spec)
    _default_requests(spec)
    if "resources" in spec:
        _default_pod_level_resources(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        _default_host_ports(spec)
    default_spec(spec)
    _join_service_account(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    _drop_old_annotations(pod["metadata"])
    return pod


def fill_pod_status(pod: Object) -> None:
    """The address of a pod stands in two fields; the older one wins when they differ."""
    status = pod["status"]
    one, many = status.get("podIP"), status.get("podIPs", [])
    if one and (not many or many[0].get("ip") != one):
        status["podIPs"] = [{"ip": one}]
    elif many:
        status["podIP"] = many[0].get("ip", "")


# Only for pods


def _default_requests(spec: Object) -> None:
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            resources = container["resources"]
            if limits := resources.get("limits"):
                resources["requests"] = limits | resources.get("requests", {})


def _default_pod_level_resources(spec: Object) -> None:
    resources = spec["resources"]
    requests: Object = resources.get("requests", {})
    limits: Object = resources.get("limits", {})
    if not requests and not limits:
        return
    for name, quantity in aggregate_containers(spec, "limits").items():
        if is_hugepages(name) and name not in requests:
            limits.setdefault(name, quantity)
    if limits:
        resources["limits"] = limits
        for name, quantity in aggregate_containers(spec, "requests").items():
            if is_pod_level_resource(name) and is_overcommit_allowed(name):
                requests.setdefault(name, quantity)
        for name, quantity in limits.items():
            if is_pod_level_resource(name):
                requests.setdefault(name, quantity)
    if requests:
        resources["requests"] = requests


def _default_host_ports(spec: Object) -> None:
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            for port in container.get("ports", ()):
                if not port.get("hostPort") and port["containerPort"]:
                    port["hostPort"] = port["containerPort"]


def _join_service_account(spec: Object) -> None:
    # The old name of the field is kept as an alias; the new one wins.
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _drop_old_annotations(metadata: Object) -> None:
    annotations = metadata.get("annotations")
    if annotations and not _INIT_CONTAINER_ANNOTATIONS.isdisjoint(annotations):
        kept = {key: value for key, value in annotations.items() if key not in _INIT_CONTAINER_ANNOTATIONS}
        if kept:
            metadata["annotations"] = kept
        else:
            del metadata["annotations"]


def prepare_pod(pod: Object, now: str | None) -> Object:
    """What happens to a filled pod at its creation and never again, in place."""
    metadata, spec = pod["metadata"], pod["spec"]
    pod.pop("apiVersion", None)
    pod.pop("kind", None)
    metadata["generation"] = 1
    given = pod.get("status")
    claimed = given.get("qosClass") if isinstance(given, dict) else None
    status: Object = {
        "phase": "Pending",
        "qosClass": claimed if claimed and isinstance(claimed, str) else qos_class(spec),
    }
    pod["status"] = status
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": now,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    _merge_label_keys(spec, metadata.get("labels", {}))
    _sync_app_armor(pod)
    return pod


def drop_disabled_fields(spec: Object) -> None:
    """Fields of features that are off by default in this version of Kubernetes."""
    spec.pop("workloadRef", None)
    for volume in spec.get("volumes", ()):
        if "projected" in volume:
            for source in volume["projected"]["sources"] or ():
                source.pop("clusterTrustBundle", None)
                source.pop("podCertificate", None)
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            lifecycle = container.get("lifecycle")
            if lifecycle and lifecycle.pop("stopSignal", None) is not None and not lifecycle:
                del container["lifecycle"]


def _merge_label_keys(spec: Object, labels: Mapping[str, str]) -> None:
    """Turn matchLabelKeys into plain conditions on the pod's own label values."""
    affinity = spec.get("affinity", {})
    for name in ("podAffinity", "podAntiAffinity"):
        group = affinity.get(name, {})
        for weighted in group.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_term(weighted["podAffinityTerm"], labels)
        for term in group.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_term(term, labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _merge_term(constraint, labels)


def _merge_term(term: Object, labels: Mapping[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                condition = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(condition)


def _sync_app_armor(pod: Object) -> None:
    """Copy profiles from the deprecated annotations to the fields."""
    annotations, spec = pod["metadata"].get("annotations"), pod["spec"]
    if not annotations or spec.get("os", {}).get("name") == "windows":
        return
    pod_profile = spec["securityContext"].get("appArmorProfile")
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            value = annotations.get(APP_ARMOR + container["name"])
            if value is None or "appArmorProfile" in container.get("securityContext", {}):
                continue
            profile = annotated_profile(value)
            if profile is not None and profile != pod_profile:
                container.setdefault("securityContext", {})["appArmorProfile"] = profile


def annotated_profile(annotation: str) -> Object | None:
    """The profile that an annotation means; None where it is none that a field may have."""
    profile = _app_armor_profile(annotation)
    errors: list[FieldError] = []
    check_app_armor_profile(errors, profile, "")
    return None if errors else profile


def _app_armor_profile(annotation: str) -> Object | None:
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    if annotation.startswith("localhost/"):
        profile = annotation.removeprefix("localhost/")
        return {"type": "Localhost", "localhostProfile": profile} if profile else None
    return None
