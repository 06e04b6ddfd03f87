"""What the API accepts and still warns about, because it is out of date or does not do what it seems to."""

from collections.abc import Iterator
from typing import Final

from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = ["DEPRECATED", "claim_warnings", "pod_warnings", "service_warnings", "template_warnings"]


# Said about every request for such a kind, by the name of its store.
DEPRECATED: Final = {"endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}
_BYTES: Final = ("memory", "ephemeral-storage", "storage")
_OLD_LABELS: Final = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
_SINCE: Final = {"beta.kubernetes.io/arch": "v1.14", "beta.kubernetes.io/os": "v1.14"}


def service_warnings(obj: Object) -> list[str]:
    spec = obj["spec"]
    found = []
    if spec.get("clusterIP") == "None":
        asked = (
            ("loadBalancerIP", spec.get("loadBalancerIP")),
            ("externalIPs", spec.get("externalIPs")),
            ("SessionAffinity", spec.get("sessionAffinity") != "None"),
        )
        found += [f"spec.{name} is ignored for headless services" for name, given in asked if given]
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def claim_warnings(obj: Object) -> list[str]:
    return list(_fractions(obj["spec"]["resources"], "spec.resources"))


def pod_warnings(obj: Object) -> list[str]:
    return list(_of_spec(obj["spec"], "spec"))


def template_warnings(obj: Object) -> list[str]:
    template = obj["spec"].get("template")
    return [] if template is None else list(_of_spec(template["spec"], "spec.template.spec"))


def _of_spec(spec: Object, path: str) -> Iterator[str]:
    for label in spec.get("nodeSelector", {}):
        if label in _OLD_LABELS:
            since = _SINCE.get(label, "v1.17")
            yield f'{path}.nodeSelector[{label}]: deprecated since {since}; use "{_OLD_LABELS[label]}" instead'
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        if "labelSelector" not in constraint:
            here = f"{path}.topologySpreadConstraints[{index}].labelSelector"
            yield f"{here}: a null labelSelector results in matching no pod"
    for name in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(name) or ()):
            yield from _of_container(container, f"{path}.{name}[{index}]")


def _of_container(container: Object, path: str) -> Iterator[str]:
    yield from _fractions(container["resources"], f"{path}.resources")
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env", ())):
        name = variable["name"]
        if name in seen:
            why = f"hides previous definition of {go_quote(name)}, which may be dropped when using apply"
            yield f"{path}.env[{index}]: {why}"
        seen.add(name)


def _fractions(resources: Object, path: str) -> Iterator[str]:
    for kind in ("requests", "limits"):
        for name, text in sorted(resources.get(kind, {}).items()):
            if name in _BYTES and parse_quantity(text).milli_value % 1000:
                why = f"fractional byte value {go_quote(text)} is invalid, must be an integer"
                yield f"{path}.{kind}[{name}]: {why}"
