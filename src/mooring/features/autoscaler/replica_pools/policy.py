"""What people allow: the ConfigMap that says for which labels pools are made, from which hosts, and how many."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from mooring.api.core.types import LabelSelector, Requirement
from mooring.api.kinds import Key
from mooring.kube.errors import MooringError, SelectorError
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain, is_qualified_name
from mooring.kube.selectors import parse_selector

__all__ = ["HOW_TO_ALLOW", "POLICY_CONFIG_MAP", "PolicyReference", "ReplicaPoolPolicy", "read_policy"]

POLICY_CONFIG_MAP: Final = Key("kube-system", "mooring-replica-pools")
_NAME: Final = f"ConfigMap {POLICY_CONFIG_MAP.namespace}/{POLICY_CONFIG_MAP.name}"
HOW_TO_ALLOW: Final = (
    f"there is no {_NAME}; create it with the label keys, hosts and limits for such pools, as in docs/replica-pools.md"
)
_REQUIRED: Final = ("labelKeys", "hostSelector", "clusterName", "bootstrapConfigRef", "maxPools", "maxHosts")
_OPTIONAL: Final = ("hostNamespace", "installerRef", "version", "groupSizeAnnotation")
_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][-+.0-9A-Za-z]+)?")


class PolicyReference(NamedTuple):
    """An object of the hosts' API group, in the hosts' namespace."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class ReplicaPoolPolicy(msgspec.Struct, frozen=True):
    # Keys of node selectors whose values stand for replicas.
    label_keys: tuple[str, ...]
    # Which hosts may be taken, and where they and the pools are.
    host_selector: LabelSelector
    namespace: str
    cluster: str
    bootstrap: PolicyReference
    max_pools: int
    max_hosts: int
    # None where Kubernetes is on the hosts already.
    installer: PolicyReference | None = None
    version: str = ""
    # The annotation by which a pod says how many pods its replica has; without it those that are there are all.
    size_annotation: str = ""


def read_policy(data: Mapping[str, str]) -> ReplicaPoolPolicy:
    """Raises MooringError: one sentence that names the key."""
    for key in data:
        if key not in (*_REQUIRED, *_OPTIONAL):
            raise _wrong(f"nobody reads the key {key}; the keys are {', '.join((*_REQUIRED, *_OPTIONAL))}")
    for key in _REQUIRED:
        if not data.get(key, "").strip():
            raise _wrong(f"{key} is missing; {_HINTS[key]}")
    told = {key: text.strip() for key, text in data.items() if text.strip()}
    installer, annotation = told.get("installerRef"), told.get("groupSizeAnnotation", "")
    if annotation and is_qualified_name(annotation):
        raise _malformed("groupSizeAnnotation", annotation)
    return ReplicaPoolPolicy(
        _label_keys(told["labelKeys"]),
        _host_selector(told["hostSelector"]),
        _name("hostNamespace", told.get("hostNamespace", "default")),
        _name("clusterName", told["clusterName"]),
        _reference("bootstrapConfigRef", told["bootstrapConfigRef"]),
        _number("maxPools", told["maxPools"]),
        _number("maxHosts", told["maxHosts"]),
        None if installer is None else _reference("installerRef", installer),
        _version(told.get("version", "")),
        annotation,
    )


_HINTS: Final = {
    "labelKeys": "write label keys such as example.com/node-group, separated by commas",
    "hostSelector": "write a label selector of ByoHosts such as purpose=gpu",
    "hostNamespace": "write the namespace of the ByoHosts, such as default",
    "clusterName": "write the name of the Cluster that the hosts join",
    "bootstrapConfigRef": "write kind and name, such as BootstrapKubeconfig/my-cluster-bootstrap",
    "installerRef": "write kind and name, such as K8sInstallerConfigTemplate/my-cluster-installer",
    "version": "write a version of Kubernetes such as v1.34.1",
    "groupSizeAnnotation": "write the key of the annotation by which a pod says how many pods its replica has",
    "maxPools": "write a whole number above 0",
    "maxHosts": "write a whole number above 0",
}


def _wrong(sentence: str) -> MooringError:
    return MooringError(f"{_NAME}: {sentence}")


def _malformed(key: str, text: str) -> MooringError:
    return _wrong(f'{key} is "{text}"; {_HINTS[key]}')


def _label_keys(text: str) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(part.strip() for part in text.replace("\n", ",").split(",") if part.strip()))
    if not keys or any(is_qualified_name(key) for key in keys):
        raise _malformed("labelKeys", text)
    return keys


def _host_selector(text: str) -> LabelSelector:
    try:
        requirements = parse_selector(text).requirements
    except SelectorError as error:
        raise _wrong(f'hostSelector is "{text}": {error}; {_HINTS["hostSelector"]}') from None
    if any(each.op in ("Gt", "Lt") for each in requirements):
        raise _malformed("hostSelector", text)
    equal = {each.key: each.values[0] for each in requirements if each.op == "In" and len(each.values) == 1}
    others = [each for each in requirements if each.op != "In" or len(each.values) != 1]
    expressions = tuple(Requirement(key=each.key, operator=each.op, values=each.values or None) for each in others)
    return LabelSelector(equal or None, expressions or None)


def _name(key: str, text: str) -> str:
    if is_dns1123_label(text):
        raise _malformed(key, text)
    return text


def _reference(key: str, text: str) -> PolicyReference:
    kind, slash, name = text.partition("/")
    if not slash or not kind.isalnum() or is_dns1123_subdomain(name):
        raise _malformed(key, text)
    return PolicyReference(kind, name)


def _version(text: str) -> str:
    if text and not _VERSION.fullmatch(text):
        raise _malformed("version", text)
    return text


def _number(key: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise _malformed(key, text)
    return int(text)
