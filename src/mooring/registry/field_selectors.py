"""Field selectors: which fields of which kind can be selected on, and how one is read.

The API knows a short list per kind and refuses the rest by name. Values are compared as text: a missing field is the
empty string, a missing boolean is `false`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from mooring.registry.resources import Resource

__all__ = ["FieldSelector", "parse_field_selector"]

Read = Callable[[Object], str]

_META: Final = ("metadata.name", "metadata.namespace")
_REFERENCE: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")

# The fields beside metadata.name and metadata.namespace, by apiVersion and kind.
_FIELDS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("v1", "Pod"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
        "spec.host",
    ),
    ("v1", "Node"): ("spec.unschedulable",),
    ("v1", "ReplicationController"): ("status.replicas",),
    ("v1", "Event"): (
        *(f"involvedObject.{name}" for name in _REFERENCE),
        *("reason", "reportingComponent", "source", "type"),
    ),
    ("events.k8s.io/v1", "Event"): (
        *(f"regarding.{name}" for name in _REFERENCE),
        *("reason", "reportingController", "type"),
    ),
    ("v1", "Namespace"): ("status.phase",),
    ("v1", "Secret"): ("type",),
    ("v1", "Service"): ("spec.clusterIP", "spec.type"),
    ("batch/v1", "Job"): ("status.successful",),
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): ("spec.signerName",),
    ("apps/v1", "ReplicaSet"): ("status.replicas",),
}
# These kinds live outside namespaces and do not know the field.
_WITHOUT_NAMESPACE: Final = frozenset({"Node", "Namespace", "CertificateSigningRequest"})
# Older and newer names of what is stored under another one.
_ALIASES: Final = {
    "spec.host": "spec.nodeName",
    "status.successful": "status.succeeded",
    "reportingController": "reportingComponent",
    "source": "source.component",
    **{f"regarding.{name}": f"involvedObject.{name}" for name in _REFERENCE},
}
_BOOLEANS: Final = frozenset({"spec.unschedulable", "spec.hostNetwork"})
_NUMBERS: Final = frozenset({"status.replicas", "status.succeeded"})


class FieldSelector:
    """A conjunction of `field=value` and `field!=value`; `matches` tests an object in its stored form.

    `name` and `namespace` are what the selector pins those to, so that a list can become a get.
    """

    __slots__ = ("_terms", "name", "namespace", "text")

    def __init__(self, terms: list[tuple[str, bool, str, Read]], text: str) -> None:
        self._terms = [(read, equal, value) for _, equal, value, read in terms]
        self.text = text
        pinned = {field: value for field, equal, value, _ in terms if equal}
        self.name = pinned.get("metadata.name")
        self.namespace = pinned.get("metadata.namespace")

    def matches(self, obj: Object) -> bool:
        return all((read(obj) == value) is equal for read, equal, value in self._terms)


def parse_field_selector(text: str, resource: Resource, selectable: tuple[str, ...] = ()) -> FieldSelector | None:
    """The selector of a request, or None for an empty one; `selectable` are the extra fields of a custom kind."""
    terms: list[tuple[str, bool, str, Read]] = []
    read: list[tuple[str, bool, str]] = []
    for part in sorted(_split(text)):
        if not part:
            continue
        at = min((at for at in (part.find("="), part.find("!=")) if at >= 0), default=-1)
        if at < 0:
            raise BadRequestError(f"invalid selector: '{text}'; can't understand '{part}'")
        operator = next(op for op in ("!=", "==", "=") if part.startswith(op, at))
        read.append((part[:at], operator != "!=", _unescape(part[at + len(operator) :])))
    for name, wanted, value in read:
        field = _known(name, resource, selectable)
        terms.append((field, wanted, value, _reader(field)))
    return FieldSelector(terms, text) if terms else None


def _split(text: str) -> list[str]:
    """Split at commas that no backslash protects."""
    parts, start, escaped = [], 0, False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == ",":
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


def _unescape(value: str) -> str:
    found, escaped = [], False
    for char in value:
        if escaped:
            if char not in "\\,=":
                raise BadRequestError(f"invalid field selector: invalid escape sequence: \\{char}")
            found.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in ",=":
            raise BadRequestError(f"invalid field selector: unescaped character in value: {ord(char)}")
        else:
            found.append(char)
    if escaped:
        raise BadRequestError("invalid field selector: invalid escape sequence: \\")
    return "".join(found)


def _known(field: str, resource: Resource, selectable: tuple[str, ...]) -> str:
    listed = _FIELDS.get((resource.api_version, resource.kind))
    if field in _META and not (field == "metadata.namespace" and resource.kind in _WITHOUT_NAMESPACE):
        return field
    if listed is not None and field in listed:
        return _ALIASES.get(field, field)
    if resource.custom:
        if field in selectable:
            return field
        raise BadRequestError(f"field label not supported: {field}")
    if listed is not None:
        raise BadRequestError(f"field label not supported: {field}")
    raise BadRequestError(
        f'{go_quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


def _reader(field: str) -> Read:
    default = "false" if field in _BOOLEANS else "0" if field in _NUMBERS else ""
    if field == "source.component":
        return lambda obj: (obj.get("source") or {}).get("component") or obj.get("reportingComponent") or ""
    if field == "status.podIPs":
        return lambda obj: ",".join(item.get("ip", "") for item in obj.get("status", {}).get("podIPs") or ())
    path = field.split(".")
    if len(path) == 2:
        section, name = path

        def read_two(obj: Object) -> str:
            value = (obj.get(section) or {}).get(name, default)
            return value if value.__class__ is str else _text(value)

        return read_two

    def read(obj: Object) -> str:
        value: Any = obj
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return default if value is None else _text(value)

    return read


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
