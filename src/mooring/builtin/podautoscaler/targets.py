"""What an autoscaler scales: any kind with the scale sub-resource, built in or custom, as its Scale would show it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.autoscaling.views import CrossVersionObjectReference
from mooring.api.core.types import View as Typed
from mooring.api.kinds import DynamicKinds, Key, Kind
from mooring.api.meta import Meta
from mooring.builtin.metadata_kinds import DEFINITION, Definition, ScalePaths, served_version
from mooring.client.rest_mapper import plural_of
from mooring.kube.errors import MooringError, SelectorError
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict
from mooring.runtime.view import View
from mooring.workloads.kinds import DAEMON_SET, DEPLOYMENT, JOB, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET

__all__ = ["SCALABLE", "SCALED_KINDS", "NoScale", "ScaleTarget", "scale_target"]

SCALABLE: Final[tuple[Kind[Any], ...]] = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, REPLICATION_CONTROLLER)
_BUILT_IN: Final = {(kind.api_version.rpartition("/")[0], kind.kind): kind for kind in SCALABLE}
_WITHOUT_SCALE: Final = {(kind.api_version.rpartition("/")[0], kind.kind) for kind in (DAEMON_SET, JOB)} | {("", "Pod")}


class NoScale(MooringError):
    """Why there is no Scale, in the words of the API."""


class ScaledObject(Typed, frozen=True):
    """A custom object, whose definition says where its replicas are."""

    metadata: Meta = Meta()
    spec: Object = msgspec.field(default_factory=dict)
    status: Object = msgspec.field(default_factory=dict)


@cache
def _scaled(api_version: str, kind: str) -> Kind[ScaledObject]:
    return Kind(api_version, kind, ScaledObject, on_demand=True, optional=True)


def _scaled_kind(definition: Definition) -> Kind[Any] | None:
    version = served_version(definition)
    if version is None or version.subresources.scale is None:
        return None
    return _scaled(f"{definition.spec.group}/{version.name}", definition.spec.names.kind)


SCALED_KINDS: Final = DynamicKinds(DEFINITION, _scaled_kind)


class ScaleTarget(NamedTuple):
    """The object, the replicas that it is to have, and the selector of its pods; empty where it has none."""

    kind: Kind[Any]
    key: Key
    replicas: int
    selector: str


def scale_target(view: View, namespace: str, reference: CrossVersionObjectReference) -> ScaleTarget:
    """Raises NoScale."""
    group = reference.api_version.rpartition("/")[0]
    key = Key(namespace, reference.name)
    kind = _BUILT_IN.get((group, reference.kind))
    if kind is not None:
        return _built_in(view, kind, key, group)
    if (group, reference.kind) in _WITHOUT_SCALE:
        raise NoScale("the server could not find the requested resource")
    return _custom(view, key, group, reference.kind)


def _built_in(view: View, kind: Kind[Any], key: Key, group: str) -> ScaleTarget:
    found = view.get(kind, *key)
    if found is None:
        raise NoScale(_not_found(plural_of(kind.kind), group, key))
    selector = found.spec.selector
    if kind is REPLICATION_CONTROLLER:
        selector = {"matchLabels": selector or {}}
    try:
        text = str(selector_from_dict(selector))
    except SelectorError:
        text = ""
    return ScaleTarget(kind, key, found.spec.replicas, text)


def _custom(view: View, key: Key, group: str, name: str) -> ScaleTarget:
    definitions = view.list(DEFINITION)
    definition = next((each for each in definitions if (each.spec.group, each.spec.names.kind) == (group, name)), None)
    version = None if definition is None else served_version(definition)
    if definition is None or version is None:
        raise NoScale(f'no matches for kind "{name}" in group "{group}"')
    paths = version.subresources.scale
    if paths is None:
        raise NoScale("the server could not find the requested resource")
    kind = _scaled(f"{group}/{version.name}", name)
    found = view.get(kind, *key)
    if found is None:
        raise NoScale(_not_found(definition.spec.names.plural, group, key))
    return _read(kind, key, found, paths)


def _read(kind: Kind[Any], key: Key, found: ScaledObject, paths: ScalePaths) -> ScaleTarget:
    whole = {"spec": found.spec, "status": found.status}
    replicas, selector = _at(whole, paths.spec_replicas_path), _at(whole, paths.label_selector_path)
    if not isinstance(replicas, int):
        raise NoScale(f'Internal error occurred: the spec replicas field "{paths.spec_replicas_path}" does not exist')
    return ScaleTarget(kind, key, replicas, selector if isinstance(selector, str) else "")


def _at(obj: Object, path: str) -> Any:
    value: Any = obj
    for name in path.strip(".").split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _not_found(plural: str, group: str, key: Key) -> str:
    return f'{plural}.{group} "{key.name}" not found' if group else f'{plural} "{key.name}" not found'
