"""What the objects beside a Machine are made from: the provider's template and the bootstrap object that it names.

Only hosts are known as a provider. A bootstrap object that is no template serves as one: every Machine gets a copy with
a token of its own, and `bootstrapConfigRef` of the provider's template goes before `configRef` of the Machine.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BOOTSTRAP_KUBECONFIG_TEMPLATE, BYO_MACHINE_TEMPLATE
from mooring.features.hosts.api.names import GROUP as HOSTS_GROUP
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.machine_specs import MachineSpec
from mooring.features.machines.blocks import Block
from mooring.kube.objects import Object
from mooring.runtime.view import View

__all__ = ["BOOTSTRAP_KIND", "INFRASTRUCTURE_KIND", "MachineBlueprint", "Source", "find_blueprint", "written"]

INFRASTRUCTURE_KIND: Final = "ByoMachine"
BOOTSTRAP_KIND: Final = "BootstrapKubeconfig"


class Source(NamedTuple):
    """An object that copies are made from."""

    kind: str
    name: str
    spec: Object
    labels: dict[str, str]
    annotations: dict[str, str]


class MachineBlueprint(NamedTuple):
    infrastructure: Source
    # None where the template names a Secret instead.
    bootstrap: Source | None


def find_blueprint(view: View, namespace: str, spec: MachineSpec) -> MachineBlueprint | Block:
    """What Machines of this spec are made from, or what of it is missing."""
    wanted = spec.infrastructure_ref
    if wanted.group_kind != (HOSTS_GROUP, "ByoMachineTemplate"):
        return _unknown("infrastructureRef", wanted.group_kind, "ByoMachineTemplate")
    template = view.get(BYO_MACHINE_TEMPLATE, namespace, wanted.name)
    if template is None:
        return _missing(say.TEMPLATE_NOT_FOUND, namespace, "ByoMachineTemplate", wanted.name, "infrastructureRef")
    machine = template.spec.template.spec
    infrastructure = Source("ByoMachineTemplate", wanted.name, written(machine), {}, {})
    if not spec.bootstrap.config_ref and machine.bootstrap_config_ref is None:
        return MachineBlueprint(infrastructure, None)
    if machine.bootstrap_config_ref is not None:
        given = machine.bootstrap_config_ref
        group_kind, name, field = (given.group, given.kind), given.name, "bootstrapConfigRef of the template"
    else:
        group_kind, name, field = spec.bootstrap.config_ref.group_kind, spec.bootstrap.config_ref.name, "configRef"
    bootstrap = _bootstrap(view, namespace, group_kind, name, field)
    return bootstrap if isinstance(bootstrap, Block) else MachineBlueprint(infrastructure, bootstrap)


def _bootstrap(view: View, namespace: str, group_kind: tuple[str, str], name: str, field: str) -> Source | Block:
    if group_kind == (HOSTS_GROUP, BOOTSTRAP_KIND):
        config = view.get(BOOTSTRAP_KUBECONFIG, namespace, name)
        if config is not None:
            return Source(BOOTSTRAP_KIND, name, written(config.spec), {}, {})
    elif group_kind == (HOSTS_GROUP, f"{BOOTSTRAP_KIND}Template"):
        template = view.get(BOOTSTRAP_KUBECONFIG_TEMPLATE, namespace, name)
        if template is not None:
            made = template.spec.template
            return Source(f"{BOOTSTRAP_KIND}Template", name, written(made.spec), made.labels, made.annotations)
    else:
        return _unknown(field, group_kind, f"{BOOTSTRAP_KIND} or {BOOTSTRAP_KIND}Template")
    return _missing(say.BOOTSTRAP_CONFIG_NOT_FOUND, namespace, group_kind[1], name, field)


def _missing(reason: str, namespace: str, kind: str, name: str, field: str) -> Block:
    return Block(reason, f"there is no {kind} {name} in namespace {namespace}; create it or correct {field}")


def _unknown(field: str, group_kind: tuple[str, str], known: str) -> Block:
    kind = ".".join(filter(None, reversed(group_kind)))
    return Block(say.UNKNOWN_REFERENCE, f"{field} names a {kind}, which is not supported; name a {known}")


def written(value: Any) -> Any:
    """A typed value as it was written: without what nobody said. Maps are kept whole, whatever their values."""
    if isinstance(value, msgspec.Struct):
        found = ((field, getattr(value, field.name)) for field in _fields(type(value)))
        return {field.encoded: written(part) for field, part in found if part is not None and part != field.default}
    if isinstance(value, dict):
        return {name: written(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [written(part) for part in value]
    return value


class _Field(NamedTuple):
    name: str
    encoded: str
    default: Any


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[_Field, ...]:
    """The fields of a type; asking msgspec takes longer than all the rest of a decision."""
    return tuple(_Field(each.name, each.encode_name, _default(each)) for each in msgspec.structs.fields(kind))


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default
