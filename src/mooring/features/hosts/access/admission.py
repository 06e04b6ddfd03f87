"""What an agent may write of hosts: its own ByoHost, and of that nothing that says who has claimed it and with what.

Access rules cannot say this: they know no names of what is created, and no fields. Others than agents are passed by.
"""

from __future__ import annotations

from typing import Final

from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BYO_HOST
from mooring.features.hosts.api.names import AGENT_GROUP, AGENT_USER_PREFIX
from mooring.features.hosts.api.references import Reference
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, WebhookRequest

# What a claim writes into a host's spec, and the host's agent reads.
_CLAIM: Final = (
    *("bootstrap_secret", "installation_secret", "join_mode", "download_mode"),
    *("kubernetes_version", "manage_kube_proxy", "labels", "taints"),
)


def check_agent(request: WebhookRequest, view: View) -> Admitted | Denied:
    if AGENT_GROUP not in request.groups and not request.user.startswith(AGENT_USER_PREFIX):
        return Admitted()
    own = request.user.removeprefix(AGENT_USER_PREFIX)
    if request.name != own:
        return Denied(f"{request.user} may write ByoHost {own} only, and not {request.name}")
    new, old = request.typed(BYO_HOST), request.old_typed(BYO_HOST) or HostClaim()
    if new is None:
        return Denied(f"{request.user} may not delete ByoHost {own}; delete it with kubectl once it is released")
    if request.subresource == "status":
        return _check_status(new.status.machine_ref, old.status.machine_ref, own)
    changed = [field for field in _CLAIM if getattr(new.spec, field) != getattr(old.spec, field)]
    if changed:
        return Denied(f"{', '.join(map(_written, changed))} of ByoHost {own} are set by a claim, and not by its agent")
    return Admitted()


def _check_status(new: Reference | None, old: Reference | None, own: str) -> Admitted | Denied:
    if new is None or new == old:
        return Admitted()
    return Denied(f"status.machineRef of ByoHost {own} is set by a ByoMachine; its agent may only clear it")


def _written(field: str) -> str:
    """As people write it: spec.bootstrapSecret."""
    first, *rest = field.split("_")
    return f"spec.{first}{''.join(word.capitalize() for word in rest)}"
