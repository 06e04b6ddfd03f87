"""Says what the API server would say about a pod that is created: nothing, or every error in its order and words.

`validate_pod` expects what `default_pod` gives, but takes any JSON. Rules are checked in the order in which the API
checks them, because users compare texts, and because the first line is the one that people read.

Where a rule depends on a feature gate, the default of Kubernetes 1.35 holds. Privileged containers are allowed: every
installer allows them, although the API server by itself does not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.api.core.decoding.decoder import decode, mismatches
from mooring.api.core.defaults.pods import complete_pod
from mooring.api.core.validation.affinity import check_affinity, check_spread_constraints, check_tolerations
from mooring.api.core.validation.annotations import check_pod_annotations, check_profile_annotations
from mooring.api.core.validation.containers import (
    ContainerSurroundings,
    check_containers,
    check_ephemeral_containers,
    check_image_spaces,
    check_init_containers,
)
from mooring.api.core.validation.meta import check_dns_label, check_label_key, check_labels, check_metadata, check_texts
from mooring.api.core.validation.network import check_dns_config, check_host_aliases, check_host_network
from mooring.api.core.validation.resources import check_overhead, check_pod_claims, check_pod_resources, claim_names
from mooring.api.core.validation.security import check_pod_security
from mooring.api.core.validation.volumes import check_volumes
from mooring.api.core.validation.windows import all_containers, check_host_process, check_os
from mooring.kube.errors import (
    Enum,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
)
from mooring.kube.errors import invalid_message as _invalid_message
from mooring.kube.names import byte_length, is_dns1123_subdomain, is_valid_name

__all__ = [
    "answer_validate",
    "check_pod_spec",
    "invalid_message",
    "validate_decoded_pod",
    "validate_live_pod",
    "validate_pod",
]

Object = Mapping[str, Any]
Errors = list[FieldError]

_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_MAX_DEADLINE_SECONDS: Final = 2**31 - 1


def validate_pod(pod: Any) -> list[FieldError]:
    """Every reason why the API would refuse to create this pod, in its order."""
    decoded = decode("Pod", pod)
    return mismatches("Pod", pod) if decoded is None else validate_decoded_pod(decoded)


def invalid_message(pod: Any, errors: Sequence[FieldError]) -> str:
    """The message of the API's answer: `Pod "p" is invalid: ...`."""
    metadata = pod.get("metadata") if isinstance(pod, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return _invalid_message("Pod", name if isinstance(name, str) else "", errors)


def answer_validate(request: Mapping[str, Any]) -> dict[str, Any]:
    """Default and validate the pod of a request: its id, the object, and, if refused, the lines and the message."""
    answer: dict[str, Any] = {"id": request.get("id")}
    pod = request.get("pod")
    decoded = decode("Pod", pod)
    if decoded is None:
        errors = mismatches("Pod", pod)
    else:
        answer["object"] = complete_pod(decoded)
        errors = validate_decoded_pod(decoded)
    if errors:
        answer["invalid"] = [str(error) for error in errors]
        answer["message"] = invalid_message(pod, errors)
    return answer


def validate_live_pod(pod: Object) -> list[FieldError]:
    """The rules that hold for as long as a pod lives."""
    errors: Errors = []
    metadata, spec = pod["metadata"], pod["spec"]
    annotations: Mapping[str, str] = metadata.get("annotations", {})
    check_metadata(errors, metadata, lambda name, prefix: is_valid_name(name, prefix=prefix), namespaced=True)
    if annotations:
        check_pod_annotations(errors, annotations, spec, "metadata.annotations")
    check_pod_spec(errors, spec, metadata, "spec")
    _check_tokens(errors, spec, "spec")
    return errors


def validate_decoded_pod(pod: Object) -> list[FieldError]:
    """The same as `validate_pod` for a pod that is typed and defaulted already."""
    errors = validate_live_pod(pod)
    metadata, spec = pod["metadata"], pod["spec"]
    annotations: Mapping[str, str] = metadata.get("annotations", {})
    for name in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(name) or ()):
            check_image_spaces(errors, container, f"spec.{name}[{index}]")
    if "ephemeralContainers" in spec:
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        errors.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    if annotations:
        check_profile_annotations(errors, annotations, spec, "spec")
    return errors


def check_pod_spec(errors: Errors, spec: Object, metadata: Object, path: str) -> None:
    """The rules that hold for pods and for templates of pods."""
    if "terminationGracePeriodSeconds" not in spec:
        errors.append(required(f"{path}.terminationGracePeriodSeconds", ""))
    claims = spec.get("resourceClaims", ())
    pod = ContainerSurroundings(
        volumes=check_volumes(errors, spec.get("volumes", ()), metadata.get("name", ""), f"{path}.volumes"),
        claims=claim_names(claims),
        grace_period=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy", ""),
        host_users=spec.get("hostUsers", True),
    )
    check_pod_claims(errors, claims, metadata.get("annotations", {}), f"{path}.resourceClaims")
    containers = spec["containers"] or ()
    check_containers(errors, containers, pod, f"{path}.containers")
    if "initContainers" in spec:
        check_init_containers(errors, spec["initContainers"], containers, pod, f"{path}.initContainers")
    if "ephemeralContainers" in spec:
        check_ephemeral_containers(errors, spec, pod, f"{path}.ephemeralContainers")
    if "resources" in spec:
        check_pod_resources(errors, spec, pod.claims, path)
    check_host_network(errors, spec, path)
    _check_choice(errors, spec.get("restartPolicy", ""), _RESTART_POLICIES, f"{path}.restartPolicy")
    _check_choice(errors, spec.get("dnsPolicy", ""), _DNS_POLICIES, f"{path}.dnsPolicy")
    check_labels(errors, spec.get("nodeSelector"), f"{path}.nodeSelector")
    check_pod_security(errors, spec, f"{path}.securityContext")
    if "affinity" in spec:
        check_affinity(errors, spec["affinity"], f"{path}.affinity")
    check_dns_config(errors, spec, f"{path}.dnsConfig")
    _check_gates(errors, spec, path)
    if "topologySpreadConstraints" in spec:
        check_spread_constraints(errors, spec["topologySpreadConstraints"], f"{path}.topologySpreadConstraints")
    check_host_process(errors, spec, path)
    if not pod.host_users:
        _check_own_users(errors, spec, path)
    if "hostnameOverride" in spec:
        _check_hostname_override(errors, spec, f"{path}.hostnameOverride")
    _check_names(errors, spec, path)
    if "os" in spec:
        check_os(errors, spec, path)
    _check_file_keys(errors, spec, path)


def _check_choice(errors: Errors, value: str, known: Sequence[str], path: str) -> None:
    if value not in known:
        errors.append(not_supported(path, Enum(value), known) if value else required(path, ""))


def _check_gates(errors: Errors, spec: Object, path: str) -> None:
    for index, gate in enumerate(spec.get("readinessGates", ())):
        check_label_key(errors, gate["conditionType"], f"{path}.readinessGates[{index}].conditionType")
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates", ())):
        here = f"{path}.schedulingGates[{index}]"
        check_label_key(errors, gate["name"], here)
        if gate["name"] in seen:
            errors.append(duplicate(here, gate["name"]))
        seen.add(gate["name"])


def _check_names(errors: Errors, spec: Object, path: str) -> None:
    """The scalar fields, in the order of the API."""
    for name in ("serviceAccountName", "nodeName"):
        if value := spec.get(name):
            check_texts(errors, f"{path}.{name}", value, is_dns1123_subdomain(value))
    deadline = spec.get("activeDeadlineSeconds", 1)
    if not 1 <= deadline <= _MAX_DEADLINE_SECONDS:
        detail = f"must be between 1 and {_MAX_DEADLINE_SECONDS}, inclusive"
        errors.append(invalid(f"{path}.activeDeadlineSeconds", deadline, detail))
    for name in ("hostname", "subdomain"):
        if value := spec.get(name):
            check_dns_label(errors, value, f"{path}.{name}")
    if "tolerations" in spec:
        check_tolerations(errors, spec["tolerations"], f"{path}.tolerations")
    if "hostAliases" in spec:
        check_host_aliases(errors, spec["hostAliases"], f"{path}.hostAliases")
    if value := spec.get("priorityClassName"):
        check_texts(errors, f"{path}.priorityClassName", value, is_dns1123_subdomain(value))
    if "runtimeClassName" in spec:
        value = spec["runtimeClassName"]
        check_texts(errors, f"{path}.runtimeClassName", value, is_dns1123_subdomain(value))
    if "preemptionPolicy" in spec:
        _check_choice(errors, spec["preemptionPolicy"], _PREEMPTION_POLICIES, f"{path}.preemptionPolicy")
    if "overhead" in spec:
        check_overhead(errors, spec["overhead"], f"{path}.overhead")


def _check_own_users(errors: Errors, spec: Object, path: str) -> None:
    """A pod with users of its own cannot share these with the host."""
    for name, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(name):
            errors.append(forbidden(f"{path}.{shown}", "when `hostUsers` is false"))
    for container, here in all_containers(spec, path):
        if "volumeDevices" in container:
            errors.append(forbidden(f"{here}.volumeDevices", "when `hostUsers` is false"))


def _check_hostname_override(errors: Errors, spec: Object, path: str) -> None:
    if spec.get("setHostnameAsFQDN"):
        errors.append(forbidden(path, "may not be specified when setHostnameAsFQDN is true"))
    if spec.get("hostNetwork"):
        errors.append(forbidden(path, "may not be specified when hostNetwork is true"))
    name = spec["hostnameOverride"]
    if byte_length(name) > 64:
        errors.append(too_long(path, 64))
    check_texts(errors, path, name, is_dns1123_subdomain(name))


def _check_file_keys(errors: Errors, spec: Object, path: str) -> None:
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    for container, here in all_containers(spec, path):
        for index, variable in enumerate(container.get("env", ())):
            reference = variable.get("valueFrom", {}).get("fileKeyRef")
            if reference is None:
                continue
            name, where = reference["volumeName"], f"{here}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                errors.append(not_found(where, name))
            elif "emptyDir" not in volumes[name]:
                errors.append(invalid(where, name, "referenced volume must be of type emptyDir"))


def _check_tokens(errors: Errors, spec: Object, path: str) -> None:
    if spec.get("serviceAccountName") or spec.get("serviceAccount"):
        return
    for index, volume in enumerate(spec.get("volumes", ())):
        for position, source in enumerate(volume.get("projected", {}).get("sources") or ()):
            if "serviceAccountToken" in source:
                here = f"{path}.volumes[{index}].projected.sources[{position}].serviceAccountToken"
                errors.append(forbidden(here, "must not be specified when serviceAccountName is not set"))
