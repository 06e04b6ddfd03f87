"""The rights that it takes to bring a fleet in: to create objects of the kinds that are in it, and no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mooring.client.rest_mapper import plural_of
from mooring.kube.objects import Object

__all__ = ["fleet_rules"]

# The Stages of simulated nodes are defined with every fleet, and the default one waits for a cluster without nodes.
_ALWAYS: Final[tuple[Object, ...]] = (
    {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["create", "list"]},
)
_RBAC: Final = "rbac.authorization.k8s.io"
# A fleet that brings roles grants what its author says, and not only what this process may do itself.
_GRANTS: Final[Object] = {"apiGroups": [_RBAC], "resources": ["roles", "clusterroles"], "verbs": ["escalate", "bind"]}


def fleet_rules(objects: Iterable[Object]) -> list[Object]:
    """The rules for a fleet; those of the default one when it has no objects."""
    objects = list(objects)
    defined = {
        (each["spec"]["group"], each["spec"]["names"]["kind"]): each["spec"]["names"]["plural"]
        for each in objects
        if each["kind"] == "CustomResourceDefinition"
    }
    created: dict[str, set[str]] = {}
    for each in objects:
        group, kind = each["apiVersion"].rpartition("/")[0], each["kind"]
        created.setdefault(group, set()).add(defined.get((group, kind)) or plural_of(kind))
    rules = [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": ["create"]}
        for group, resources in sorted(created.items())
    ]
    return [*_ALWAYS, *rules, *([_GRANTS] if _RBAC in created else [])]
