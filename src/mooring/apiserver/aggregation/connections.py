"""Connections to the servers behind: where their Service leads, whom they are trusted by, and who asks them.

A server behind believes a certificate of the front proxy's authority, and takes the user from headers. So these headers
are this server's to write: what a client sends under their names is dropped.
"""

import ssl
from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from mooring.apiserver.authentication.users import User
from mooring.apiserver.webhooks.endpoints import Unresolved, service_endpoint
from mooring.kube.objects import Object
from mooring.kube.status import ServiceUnavailableError
from mooring.net.certificates import Certificates
from mooring.net.destination import Destination
from mooring.net.tls import client_context
from mooring.registry import Registry

__all__ = ["RemoteServers", "header_mapping", "identity_headers"]

_USER: Final = "x-remote-user"
_PREFIX: Final = "x-remote-"


def identity_headers(user: User) -> dict[str, str | tuple[str, ...]]:
    """How a server behind is told who asks."""
    found: dict[str, str | tuple[str, ...]] = {_USER: user.name}
    if user.uid:
        found["x-remote-uid"] = user.uid
    if user.groups:
        found["x-remote-group"] = user.groups
    # Names of headers have no capitals and few signs; what they cannot say is escaped.
    return found | {f"x-remote-extra-{quote(key.lower(), safe='')}": values for key, values in user.extra}


class RemoteServers:
    def __init__(self, registry: Registry, files: Certificates | None) -> None:
        self._registry = registry
        self._files = files
        self._trust = lru_cache(maxsize=64)(self._context)

    def destination(self, service: Object, *, verify: bool = True) -> Destination:
        """Where the server of an APIService is now. Raises Unresolved, or ServiceUnavailableError."""
        spec, reference = service["spec"], service["spec"]["service"]
        namespace, name = reference["namespace"], reference["name"]
        host, port = service_endpoint(self._registry, namespace, name, reference["port"])
        insecure = not verify or bool(spec.get("insecureSkipTLSVerify"))
        tls = self._trust(spec.get("caBundle") or "", insecure)
        return Destination(host, port, tls, f"{name}.{namespace}.svc")

    def resolve(self, service: Object) -> Destination:
        """The same for people's requests: a Service that leads nowhere is an unavailable server."""
        try:
            return self.destination(service)
        except Unresolved as error:
            name = service["metadata"]["name"]
            raise ServiceUnavailableError(f"the server of APIService {name} cannot be reached: {error}") from None

    def _context(self, authority: str, insecure: bool) -> ssl.SSLContext:
        try:
            context = client_context(authority=b64decode(authority) if authority else None, insecure=insecure)
        except (ssl.SSLError, ValueError) as error:
            raise ServiceUnavailableError(f"the caBundle of the APIService cannot be used: {error}") from None
        if self._files is not None:
            context.load_cert_chain(self._files.front_proxy_certificate, self._files.front_proxy_key)
        return context


def header_mapping(passed: Mapping[str, str], user: User) -> dict[str, str | tuple[str, ...]]:
    """What a request is passed on with."""
    kept: dict[str, str | tuple[str, ...]] = {
        name: text for name, text in passed.items() if not name.startswith(_PREFIX)
    }
    return kept | identity_headers(user)
