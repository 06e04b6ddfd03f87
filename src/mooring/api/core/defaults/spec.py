"""The defaults that the spec of a pod has wherever it stands: in a pod, or in the template of a workload."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.kube.images import image_tag
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = ["CONTAINER_LISTS", "default_spec", "default_volume_source", "rounded"]


CONTAINER_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")


def default_spec(spec: Object) -> None:
    """Default the spec of a pod or of a template, in place."""
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    for volume in spec.get("volumes", ()):
        _default_volume(volume)
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            _default_container(container)
    _round(spec, "overhead")
    if "resources" in spec:
        _round_resources(spec["resources"])


def _default_container(container: Object) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = _pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports", ()):
        port.setdefault("protocol", "TCP")
    for variable in container.get("env", ()):
        if source := variable.get("valueFrom"):
            if "fieldRef" in source:
                source["fieldRef"].setdefault("apiVersion", "v1")
            if "fileKeyRef" in source:
                source["fileKeyRef"].setdefault("optional", False)
    _round_resources(container["resources"])
    for name in _PROBES:
        if name in container:
            _default_probe(container[name])
    for handler in container.get("lifecycle", {}).values():
        if isinstance(handler, dict) and "httpGet" in handler:
            _default_http_get(handler["httpGet"])


def _pull_policy(image: str) -> str:
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"


def _round_resources(resources: Object) -> None:
    if resources:
        _round(resources, "limits")
        _round(resources, "requests")


def _round(owner: Object, name: str) -> None:
    resources = owner.get(name)
    if resources:
        owner[name] = rounded(resources)


def rounded(resources: Mapping[str, Any]) -> Object:
    """Resources are kept in thousandths at the finest, and in the API's own spelling."""
    return {key: _rounded(quantity) for key, quantity in resources.items()}


def _rounded(quantity: str | Quantity) -> str:
    parsed = quantity if isinstance(quantity, Quantity) else parse_quantity(quantity)
    return str(parsed.round_up(-3))


def _default_probe(probe: Object) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if "httpGet" in probe:
        _default_http_get(probe["httpGet"])
    if "grpc" in probe and probe["grpc"]["service"] is None:
        probe["grpc"]["service"] = ""


def _default_http_get(action: Object) -> None:
    action.setdefault("path", "/")
    action.setdefault("scheme", "HTTP")


def _default_volume(volume: Object) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}
        return
    for name, source in volume.items():
        default_volume_source(name, source)


def default_volume_source(name: str, source: Object) -> None:
    """Default one source of a volume, under the name it has in the volume, in place."""
    default = _VOLUME_DEFAULTS.get(name)
    if default is not None:
        default(source)


def _default_projected(source: Object) -> None:
    source.setdefault("defaultMode", 0o644)
    for projection in source["sources"] or ():
        if "downwardAPI" in projection:
            _default_downward_items(projection["downwardAPI"])
        if "serviceAccountToken" in projection:
            projection["serviceAccountToken"].setdefault("expirationSeconds", 3600)


def _default_downward(source: Object) -> None:
    source.setdefault("defaultMode", 0o644)
    _default_downward_items(source)


def _default_downward_items(source: Object) -> None:
    for item in source.get("items", ()):
        if "fieldRef" in item:
            item["fieldRef"].setdefault("apiVersion", "v1")


def _default_claim_template(source: Object) -> None:
    template = source.get("volumeClaimTemplate")
    if template is not None:
        template["spec"].setdefault("volumeMode", "Filesystem")
        _round_resources(template["spec"]["resources"])


def _default_image(source: Object) -> None:
    if "pullPolicy" not in source:
        source["pullPolicy"] = _pull_policy(source.get("reference", ""))


def _setting(**values: Any) -> Callable[[Object], None]:
    def default(source: Object) -> None:
        for name, value in values.items():
            source.setdefault(name, value)

    return default


_VOLUME_DEFAULTS: Final[dict[str, Callable[[Object], None]]] = {
    "hostPath": _setting(type=""),
    "secret": _setting(defaultMode=0o644),
    "configMap": _setting(defaultMode=0o644),
    "iscsi": _setting(iscsiInterface="default"),
    "rbd": _setting(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "azureDisk": _setting(cachingMode="ReadWrite", fsType="ext4", readOnly=False, kind="Shared"),
    "scaleIO": _setting(storageMode="ThinProvisioned", fsType="xfs"),
    "downwardAPI": _default_downward,
    "projected": _default_projected,
    "ephemeral": _default_claim_template,
    "image": _default_image,
}
