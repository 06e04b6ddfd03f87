"""Certificates, keys and tokens by which the processes of `mooring up` know each other, made or renewed at each start.

The parent imports this while its children load: what makes credentials takes longer to import than all the rest of it.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mooring.apiserver.authentication.signing_key import ensure_signing_key
from mooring.apiserver.authentication.token_file import digest
from mooring.net.certificates import (
    Certificates,
    ensure_certificates,
    ensure_front_proxy_certificate,
    ensure_kubelet_client_certificate,
    ensure_node_certificate,
)
from mooring.nodes.process.machine_info import node_name
from mooring.supervisor.access import issue_controllers_token, issue_node_token
from mooring.supervisor.data_folder import DataFolder

__all__ = ["Credentials", "issue_credentials"]


@dataclass(frozen=True)
class Credentials:
    """Tokens are handed over in memory and kept nowhere. `node` is empty where there is no process node."""

    certificates: Certificates
    controllers: str = field(repr=False)
    node: str = field(repr=False)
    # The name of this machine as a node, empty where it is none.
    node_name: str
    # The token by which the API server reads logs; the node gets its hash only.
    logs: str = field(repr=False)

    @property
    def logs_digest(self) -> str:
        return digest(self.logs)


def issue_credentials(folder: DataFolder, names: Sequence[str], *, node: bool, now: datetime) -> Credentials:
    """`names` are those by which the API server is reached."""
    ensure_certificates(folder.tls, names, now=now)
    certificates = Certificates(folder.tls)
    ensure_kubelet_client_certificate(certificates, now=now)
    ensure_front_proxy_certificate(certificates, now=now)
    ensure_signing_key(folder.signing_key)
    controllers, token, name = issue_controllers_token(folder), "", ""
    if node:
        ensure_node_certificate(certificates, now=now)
        name = node_name(socket.gethostname())
        token = issue_node_token(folder, name)
    return Credentials(certificates, controllers, token, name, secrets.token_urlsafe(32))
