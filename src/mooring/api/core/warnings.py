"""What the API accepts and still warns about, because it is out of date or does not do what it seems to."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from mooring.api.core.addresses import cidr_warnings, ip_warnings
from mooring.api.core.defaults.pods import APP_ARMOR, annotated_profile
from mooring.api.core.defaults.spec import CONTAINER_LISTS
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = [
    "DEPRECATED",
    "account_warnings",
    "balancer_warnings",
    "claim_warnings",
    "endpoints_warnings",
    "network_policy_warnings",
    "node_warnings",
    "pod_status_warnings",
    "pod_warnings",
    "profile_warnings",
    "service_warnings",
    "slice_warnings",
    "template_warnings",
]

# Takes a value and its path.
Warn = Callable[[str, str], Iterator[str]]

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
_PROFILE_FIELD: Final = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MOUNTABLE: Final = "kubernetes.io/enforce-mountable-secrets"
# By their fields: under which name they are told, and what became of them.
_OLD_VOLUMES: Final = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_SINCE: Final = {"beta.kubernetes.io/arch": "v1.14", "beta.kubernetes.io/os": "v1.14"}


def service_warnings(obj: Object) -> list[str]:
    spec, found = obj["spec"], []
    if _HINTS in obj["metadata"].get("annotations", {}):
        found.append(f"annotation {_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead")
    if spec.get("clusterIP") == "None":
        asked = (
            ("loadBalancerIP", spec.get("loadBalancerIP")),
            ("externalIPs", spec.get("externalIPs")),
            ("SessionAffinity", spec.get("sessionAffinity") != "None"),
        )
        found += [f"spec.{name} is ignored for headless services" for name, given in asked if given]
    found += _of_addresses(spec, ("clusterIPs", "externalIPs"), "spec", ip_warnings)
    found += ip_warnings(spec.get("loadBalancerIP", ""), "spec.loadBalancerIP")
    found += _of_addresses(spec, ("loadBalancerSourceRanges",), "spec", cidr_warnings)
    if spec["type"] == "ExternalName":
        if spec.get("externalIPs"):
            found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    elif spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def balancer_warnings(obj: Object) -> list[str]:
    """Of the status of a Service or an Ingress."""
    ingress = obj["status"]["loadBalancer"].get("ingress", ())
    path = "status.loadBalancer.ingress"
    return [text for index, each in enumerate(ingress) for text in ip_warnings(each.get("ip", ""), f"{path}[{index}]")]


def node_warnings(obj: Object) -> list[str]:
    spec, found = obj["spec"], []
    if spec.get("externalID"):
        found.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    return [*found, *_of_addresses(spec, ("podCIDRs",), "spec", cidr_warnings)]


def network_policy_warnings(obj: Object) -> list[str]:
    found: list[str] = []
    for name, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(obj["spec"].get(name, ())):
            for position, peer in enumerate(rule.get(side, ())):
                block, path = peer.get("ipBlock", {}), f"spec.{name}[{index}].{side}[{position}].ipBlock"
                found += cidr_warnings(block.get("cidr", ""), f"{path}.cidr")
                found += _of_addresses(block, ("except",), path, cidr_warnings)
    return found


def endpoints_warnings(obj: Object) -> list[str]:
    return [
        text
        for index, subset in enumerate(obj.get("subsets", ()))
        for name in ("addresses", "notReadyAddresses")
        for position, each in enumerate(subset.get(name, ()))
        for text in ip_warnings(each["ip"], f"subsets[{index}].{name}[{position}].ip")
    ]


def pod_status_warnings(obj: Object) -> list[str]:
    return [
        text
        for name in ("podIPs", "hostIPs")
        for index, each in enumerate(obj["status"].get(name, ()))
        for text in ip_warnings(each.get("ip", ""), f"status.{name}[{index}].ip")
    ]


def _of_addresses(spec: Object, names: tuple[str, ...], path: str, warn: Warn) -> Iterator[str]:
    for name in names:
        for index, text in enumerate(spec.get(name, ())):
            yield from warn(text, f"{path}.{name}[{index}]")


def claim_warnings(obj: Object) -> list[str]:
    return list(_fractions(obj["spec"]["resources"], "spec.resources"))


def account_warnings(obj: Object, old: Object | None = None) -> list[str]:
    """Of an account that says so, and did not before."""
    was = {} if old is None else old["metadata"].get("annotations", {})
    if _MOUNTABLE in was or _MOUNTABLE not in obj["metadata"].get("annotations", {}):
        return []
    why = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
    return [f"metadata.annotations[{_MOUNTABLE}]: {why}"]


def slice_warnings(obj: Object, old: Object | None = None) -> list[str]:
    if obj["addressType"] == "FQDN":
        return ["spec.addressType: FQDN endpoints are deprecated"] if old is None else []
    endpoints = enumerate(obj["endpoints"] or ())
    return [
        text
        for index, each in endpoints
        for text in _of_addresses(each, ("addresses",), f"endpoints[{index}]", ip_warnings)
    ]


def pod_warnings(obj: Object) -> list[str]:
    return list(_of_spec(obj["spec"], "spec"))


def profile_warnings(pod: Object) -> list[str]:
    """Of a new pod, before profiles in its annotations are taken over to its fields."""
    annotations, spec = pod["metadata"].get("annotations"), pod["spec"]
    if not annotations or spec.get("os", {}).get("name") == "windows":
        return []
    default = spec["securityContext"].get("appArmorProfile")
    found = []
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            key = f"{APP_ARMOR}{container['name']}"
            if key in annotations and "appArmorProfile" not in container.get("securityContext", {}):
                profile = annotated_profile(annotations[key])
                if profile is None or profile != default:
                    found.append(f"metadata.annotations[{key}]: {_PROFILE_FIELD}")
    return found


def template_warnings(obj: Object) -> list[str]:
    template = obj["spec"].get("template")
    if template is None:
        return []
    annotations = template["metadata"].get("annotations", {})
    old = [key for key in annotations if key.startswith(APP_ARMOR)]
    profiles = (f"spec.template.metadata.annotations[{key}]: {_PROFILE_FIELD}" for key in old)
    return list(_of_spec(template["spec"], "spec.template.spec", profiles))


def _of_volume(volume: Object, path: str) -> Iterator[str]:
    for name, (shown, why) in _OLD_VOLUMES.items():
        if name in volume:
            yield f"{path}.{shown}: {why}"
    if any(not source for source in volume.get("projected", {}).get("sources") or ()):
        yield f"volume {go_quote(volume['name'])} (Projected) has no sources provided"
    template = volume.get("ephemeral", {}).get("volumeClaimTemplate")
    if template is not None:
        yield from _fractions(template["spec"]["resources"], f"{path}.ephemeral.volumeClaimTemplate.spec.resources")


def _of_affinity(spec: Object, path: str) -> Iterator[str]:
    why = "a null labelSelector results in matching no pod"
    for name in ("podAffinity", "podAntiAffinity"):
        group, here = spec.get("affinity", {}).get(name, {}), f"{path}.affinity.{name}"
        hard, soft = (f"{each}DuringSchedulingIgnoredDuringExecution" for each in ("required", "preferred"))
        for index, term in enumerate(group.get(hard, ())):
            if "labelSelector" not in term:
                yield f"{here}.{hard}[{index}].labelSelector: {why}"
        for index, weighted in enumerate(group.get(soft, ())):
            if "labelSelector" not in weighted["podAffinityTerm"]:
                yield f"{here}.{soft}[{index}].podAffinityTerm.labelSelector: {why}"


def _of_spec(spec: Object, path: str, profiles: Iterable[str] = ()) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes", ())):
        yield from _of_volume(volume, f"{path}.volumes[{index}]")
    yield from profiles
    yield from _of_affinity(spec, path)
    yield from _of_ports(spec, path)
    names: set[str] = set()
    for index, secret in enumerate(spec.get("imagePullSecrets", ())):
        here, name = f"{path}.imagePullSecrets[{index}].name", secret.get("name", "")
        if not name:
            yield f"{here}: invalid empty name {go_quote(name)}"
        elif name in names:
            yield f"{here}: duplicate name {go_quote(name)}"
        names.add(name)
    addresses: set[str] = set()
    for index, alias in enumerate(spec.get("hostAliases", ())):
        if alias["ip"] in addresses:
            yield f"{path}.hostAliases[{index}].ip: duplicate ip {go_quote(alias['ip'])}"
        addresses.add(alias["ip"])
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
    yield from _of_addresses(spec.get("dnsConfig", {}), ("nameservers",), f"{path}.dnsConfig", ip_warnings)
    for index, alias in enumerate(spec.get("hostAliases", ())):
        yield from ip_warnings(alias["ip"], f"{path}.hostAliases[{index}].ip")


def _of_container(container: Object, path: str) -> Iterator[str]:
    yield from _fractions(container["resources"], f"{path}.resources")
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env", ())):
        name = variable["name"]
        if name in seen:
            why = f"hides previous definition of {go_quote(name)}, which may be dropped when using apply"
            yield f"{path}.env[{index}]: {why}"
        seen.add(name)


def _of_ports(spec: Object, path: str) -> Iterator[str]:
    """Of all containers, also those that run one after another."""
    seen: dict[tuple[object, ...], list[tuple[str, tuple[int, str]]]] = {}
    for name in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(name) or ()):
            for position, port in enumerate(container.get("ports", ())):
                here = f"{path}.{name}[{index}].ports[{position}]"
                host = port.get("hostPort", 0), port.get("hostIP", "")
                others = seen.setdefault((port["containerPort"], port.get("protocol")), [])
                for other, their in others:
                    if host == their:
                        yield f"{here}: duplicate port definition with {other}"
                    elif not host[0] or not their[0]:
                        yield f"{here}: overlapping port definition with {other}"
                    elif host[0] == their[0] and not (host[1] and their[1]):
                        yield f"{here}: dangerously ambiguous port definition with {other}"
                others.append((here, host))


def _fractions(resources: Object, path: str) -> Iterator[str]:
    for kind in ("requests", "limits"):
        for name, text in sorted(resources.get(kind, {}).items()):
            if name in _BYTES and parse_quantity(text).milli_value % 1000:
                why = f"fractional byte value {go_quote(text)} is invalid, must be an integer"
                yield f"{path}.{kind}[{name}]: {why}"
