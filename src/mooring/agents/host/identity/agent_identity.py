"""How the agent comes in: a kubeconfig that it was given, or one of its own with the certificate that it asked for."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from mooring.agents.host.identity.certificate_request import request_certificate
from mooring.agents.host.identity.signing_request import CertificateLife, certificate_life, is_key, new_key
from mooring.agents.host.root_folder import RootFolder
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.kubeconfig import find_access
from mooring.client.kubeconfig_files import KubeconfigError, KubeconfigSection, read_files
from mooring.client.transport import AsyncTransport
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.net.private_files import write_private

__all__ = ["AgentIdentity"]

CHECK_SECONDS: Final = 60.0
_NAME: Final = "default"
_log = logging.getLogger("mooring.agent")


class AgentIdentity:
    """The identity of the agent of one host. `life_seconds` is how long certificates are asked to count."""

    def __init__(self, root: RootFolder, host: str, life_seconds: int, clock: Callable[[], datetime]) -> None:
        self._root, self._host, self._life_seconds, self._clock = root, host, life_seconds, clock

    async def obtain(self, bootstrap: Path) -> Access:
        """Access with a certificate of its own, asked for with the bootstrap kubeconfig unless there is a good one."""
        life = self.life()
        if life is None or life.ends <= self._clock():
            transport = HttpTransport(find_access(bootstrap))
            try:
                await self._replace(transport, _cluster_of(bootstrap))
            finally:
                await transport.close()
        return find_access(self._root.kubeconfig)

    def life(self) -> CertificateLife | None:
        """How long the certificate at hand counts; None without one."""
        try:
            users = read_files([self._root.kubeconfig], required=True).users.values()
            found = [data for user in users if (data := user.data("client-certificate")) is not None]
            return certificate_life(found[0]) if found else None
        except (MooringError, OSError, ValueError):
            return None

    async def keep(self, transport: AsyncTransport, install: Callable[[bytes, bytes], None]) -> None:
        """Renew the certificate before it ends, until cancelled; `install` gets the new one with its key."""
        while True:
            life = self.life()
            if life is not None and life.is_due(self._clock()):
                try:
                    certificate, key = await self._replace(transport, _cluster_of(self._root.kubeconfig))
                    install(certificate, key)
                    _log.info("the certificate of the agent was renewed")
                except MooringError as error:
                    _log.warning("the certificate of the agent cannot be renewed: %s", error)
            await asyncio.sleep(CHECK_SECONDS)

    async def _replace(self, transport: AsyncTransport, cluster: KubeconfigSection) -> tuple[bytes, bytes]:
        """A new certificate with its key, in the agent's kubeconfig. The key is on disk before it is asked for."""
        path = self._root.new_key
        key = path.read_bytes() if path.exists() else b""
        if not is_key(key):
            key = new_key()
            write_private(path, key)
        certificate = await request_certificate(transport, self._host, key, self._life_seconds)
        config = _kubeconfig(cluster, certificate, key)
        write_private(self._root.kubeconfig, to_yaml(config).encode())
        path.unlink(missing_ok=True)
        return certificate, key


def _cluster_of(file: Path) -> KubeconfigSection:
    """The cluster of a kubeconfig's current context."""
    config = read_files([file], required=True)
    context = config.contexts.get(config.current_context)
    cluster = None if context is None else config.clusters.get(context.text("cluster"))
    if cluster is None:
        raise KubeconfigError(f"{file}: current-context: leads to no cluster")
    return cluster


def _kubeconfig(cluster: KubeconfigSection, certificate: bytes, key: bytes) -> Object:
    content = {name: value for name, value in cluster.values.items() if name != "certificate-authority"}
    authority = cluster.data("certificate-authority")
    if authority is not None:
        content["certificate-authority-data"] = base64.b64encode(authority).decode()
    user = {
        "client-certificate-data": base64.b64encode(certificate).decode(),
        "client-key-data": base64.b64encode(key).decode(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": _NAME,
        "clusters": [{"name": _NAME, "cluster": content}],
        "users": [{"name": _NAME, "user": user}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
    }
