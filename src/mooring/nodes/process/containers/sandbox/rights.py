"""The capabilities that a container gets here, and what its security context asks for that this node cannot keep to.

A restriction that cannot be kept refuses the container; a right that cannot be given is left out, and said.
"""

from __future__ import annotations

from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.variables import ConfigError
from mooring.nodes.process.containers.sandbox.capabilities import capabilities_of

__all__ = ["Rights", "rights_of"]


class Rights(NamedTuple):
    """`kept` stay with a user who is not root; `note` says what of the spec could not be given."""

    capabilities: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    note: str = ""


def rights_of(pod: Object, container: Object, available: frozenset[str], *, sandboxed: bool) -> Rights:
    """`available` is what the node can give. Raises ConfigError for a restriction that it cannot keep."""
    security = container.get("securityContext") or {}
    if security.get("readOnlyRootFilesystem") and not sandboxed:
        raise ConfigError(
            f"container {container['name']} asks for readOnlyRootFilesystem, which this node cannot keep: "
            "containers share the file system of the machine, because it has no working bubblewrap"
        )
    wanted, named = capabilities_of(container)
    missing = [f"capability {name}" for name in sorted(named - available)]
    if security.get("privileged") and not available:
        missing.append("privileged")
    if pod["spec"].get("hostPID") and sandboxed:
        missing.append("hostPID")
    profile = security.get("seccompProfile") or (pod["spec"].get("securityContext") or {}).get("seccompProfile") or {}
    if (kind := profile.get("type", "Unconfined")) != "Unconfined":
        missing.append(f"seccompProfile {kind}")
    note = f"this node cannot give {', '.join(missing)}" if missing else ""
    return Rights(wanted & available, named & available, note)
