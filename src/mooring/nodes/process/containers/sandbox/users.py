"""As whom a container runs: what its security context says, as far as the node's own rights go."""

from __future__ import annotations

from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.variables import ConfigError
from mooring.nodes.process.pods.specs import full_name

__all__ = ["Users", "fs_group", "users_of"]

# `nobody` of every Linux: who must not be root, and is not told as whom, owns nothing.
_NOBODY: Final = 65534


class Users(NamedTuple):
    """`note` says what of the security context could not be honoured."""

    user: int | None = None
    group: int | None = None
    groups: tuple[int, ...] = ()
    note: str = ""


def users_of(pod: Object, container: Object, own: int) -> Users:
    """`own` is the user that the node runs as. Raises ConfigError where the context forbids what it would come to."""
    context = _context(pod, container)
    user, group = context.get("runAsUser"), context.get("runAsGroup")
    if context.get("runAsNonRoot") and user == 0:
        where = f'(pod: "{full_name(pod)}", container: {container["name"]})'
        raise ConfigError(f"container's runAsUser breaks non-root policy {where}")
    if context.get("runAsNonRoot") and user is None and own == 0:
        # Elsewhere the image says as whom it runs; here there is none.
        user, group = _NOBODY, _NOBODY if group is None else group
    groups = tuple(sorted({*(context.get("supplementalGroups") or ()), *_some(context.get("fsGroup"))}))
    if own == 0:
        return Users(user, group, groups)
    asked = [
        f"{name} {value}"
        for name, value in (("runAsUser", user), ("runAsGroup", group), ("fsGroup", context.get("fsGroup")))
        if value is not None and value != own
    ]
    if not asked:
        return Users()
    listed = ", ".join(asked)
    return Users(note=f"the process node runs as user {own} and not as root, so it cannot keep to {listed}")


def fs_group(pod: Object, own: int) -> int | None:
    """The group that volumes are given to."""
    found = (pod["spec"].get("securityContext") or {}).get("fsGroup")
    return int(found) if found is not None and own == 0 else None


def _context(pod: Object, container: Object) -> Object:
    common = pod["spec"].get("securityContext") or {}
    return {**common, **{k: v for k, v in (container.get("securityContext") or {}).items() if v is not None}}


def _some(value: int | None) -> tuple[int, ...]:
    return () if value is None else (value,)
