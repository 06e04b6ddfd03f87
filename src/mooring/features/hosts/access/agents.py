"""What every agent may do before its host is known: ask for a certificate, and register its host.

Agents and kubelets come in with bootstrap tokens of one group, whose holders may ask for certificates and no more;
`approval` says who gets one. What an agent may do with its own ByoHost follows when that is there.
"""

from __future__ import annotations

from typing import Final

from mooring.features.hosts.api.names import AGENT_GROUP, BOOTSTRAP_GROUP, GROUP
from mooring.kube.objects import Object

_RBAC: Final = "rbac.authorization.k8s.io"
_AGENTS: Final = "mooring:host-agents"
_BOOTSTRAPPERS: Final = "mooring:host-bootstrappers"


def agent_rules() -> tuple[Object, ...]:
    """Roles and bindings that are the same in every cluster."""
    role: Object = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": _AGENTS},
        "rules": [
            # The name of what is being created is not known to an authorizer; admission looks at it.
            {"apiGroups": [GROUP], "resources": ["byohosts"], "verbs": ["create"]},
            {
                "apiGroups": ["certificates.k8s.io"],
                "resources": ["certificatesigningrequests"],
                "verbs": ["create", "get"],
            },
        ],
    }
    return (
        role,
        _binding(_AGENTS, _AGENTS, AGENT_GROUP),
        _binding(_BOOTSTRAPPERS, "system:node-bootstrapper", BOOTSTRAP_GROUP),
    )


def _binding(name: str, role: str, group: str) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}],
    }
