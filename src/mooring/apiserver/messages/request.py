"""An HTTP request as handlers see it: headers, query and body, each parsed on first use and bounded in size."""

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl

from mooring.apiserver.audit.event import AuditRecord
from mooring.apiserver.authentication.users import ANONYMOUS
from mooring.kube.errors import go_quote
from mooring.kube.status import ApiError, BadRequestError
from mooring.net.asgi import Header, Push, Receive, Scope, TooLarge, Upgrade, read_body
from mooring.net.limits import DEFAULT
from mooring.net.tls import ClientCertificate

__all__ = ["HttpRequest", "TooLargeError", "bearer_token"]

_MAX_PARAMETERS: Final = 1000
# Longer queries hold continue tokens and are hardly ever sent twice.
_MAX_CACHED_QUERY_BYTES: Final = 128
_PEOPLES_PROGRAMS: Final = ("curl", "Wget", "Mozilla/5.0")
# Longer numbers are not even read.
_MOST_DIGITS: Final = 4000
_FALSE: Final = frozenset({"false", "0"})


def bearer_token(header: str) -> str | None:
    """The token in an Authorization header, if there is one."""
    scheme, _, token = header.strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class TooLargeError(ApiError):
    code = 413
    reason = "RequestEntityTooLarge"


class HttpRequest:
    """One request. `user` is set once it is known who sends it."""

    __slots__ = ("_headers", "_impersonates", "_query", "_receive", "_scope", "method", "path", "user")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.user = ANONYMOUS
        self._scope = scope
        self._receive = receive
        self._headers: dict[bytes, bytes] | None = None
        self._query: Mapping[str, list[str]] | None = None

    # Headers

    def header(self, name: bytes) -> str:
        """The value of a header, its name in lower case; empty when it was not sent."""
        headers = self._headers if self._headers is not None else self._read_headers()
        return headers.get(name, b"").decode("latin-1")

    def _read_headers(self) -> dict[bytes, bytes]:
        headers: dict[bytes, bytes] = {}
        self._impersonates = False
        for key, value in self._scope["headers"]:
            if key not in headers:
                headers[key] = value
            elif key == b"accept":
                # Only this is ever sent in several lines that belong together; of others the first one counts.
                headers[key] += b"," + value
            if key[:12] == b"impersonate-":
                self._impersonates = True
        self._headers = headers
        return headers

    @property
    def wants_pretty(self) -> bool:
        """Whether a person reads the answer: who asks for it, and the programs that people type."""
        if b"pretty=" in self._scope["query_string"]:
            return bool(self.flag("pretty"))
        return self.header(b"user-agent").startswith(_PEOPLES_PROGRAMS)

    @property
    def token(self) -> str | None:
        """The bearer token, if there is one."""
        return bearer_token(self.header(b"authorization"))

    @property
    def certificate(self) -> ClientCertificate | None:
        """The client's certificate, verified."""
        found: ClientCertificate | None = self._scope.get("certificate")
        return found

    @property
    def impersonates(self) -> bool:
        if self._headers is None:
            self._read_headers()
        return self._impersonates

    @property
    def audit(self) -> AuditRecord | None:
        """The record of this request, where an audit log is written."""
        return self._scope.get("audit")

    @property
    def annotations(self) -> dict[str, str] | None:
        """What admission notes of this request, where an audit log is written."""
        audit = self.audit
        return None if audit is None else audit.annotations

    def holds(self, obj: Any) -> None:
        """Tell the audit log which object the body holds."""
        if (audit := self._scope.get("audit")) is not None:
            audit.sent(obj)

    def trust(self) -> None:
        """Tell the connection that its sender is known."""
        if (trust := self._scope.get("trust")) is not None:
            trust()

    @property
    def impersonation_headers(self) -> list[tuple[bytes, bytes]]:
        return [(key, value) for key, value in self._scope["headers"] if key[:12] == b"impersonate-"]

    @property
    def local(self) -> bool:
        """Whether the client sits on this machine."""
        client = self._scope.get("client")
        return client is None or client[0] in ("127.0.0.1", "::1")

    @property
    def push(self) -> Push | None:
        """Sends a part of a streamed answer at once, where the connection can."""
        return self._scope.get("push")

    async def turn(self) -> None:
        """Let the requests of others be served before the next slice of this one."""
        if (turn := self._scope.get("turn")) is not None:
            await turn()
        else:
            await asyncio.sleep(0)

    @property
    def upgrade(self) -> Upgrade | None:
        """Leaves HTTP, where the client asks for another protocol."""
        return self._scope.get("upgrade")

    @property
    def headers(self) -> list[Header]:
        """All of them as they were sent, with names in lower case."""
        found: list[Header] = self._scope["headers"]
        return found

    @property
    def raw_path(self) -> str:
        """The path as it was sent, with its escapes."""
        found: bytes | None = self._scope.get("raw_path")
        return self.path if found is None else found.decode("latin-1")

    @property
    def query_string(self) -> str:
        found: bytes = self._scope["query_string"]
        return found.decode("latin-1")

    @property
    def client(self) -> str:
        """The address that the request comes from; empty when that is unknown."""
        found = self._scope.get("client")
        return found[0] if found else ""

    # Query

    @property
    def query(self) -> Mapping[str, list[str]]:
        if self._query is None:
            self._query = _parse_query(self._scope["query_string"])
        return self._query

    def text(self, name: str) -> str:
        """The first value of a parameter; empty when it was not sent."""
        values = self.query.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool | None:
        """A parameter that is true or false; None when it was not sent. The API takes every other word for true."""
        values = self.query.get(name)
        return values[0].lower() not in _FALSE if values else None

    def number(self, name: str) -> int | None:
        """A parameter that is a whole number; None when it was not sent."""
        if name not in self.query:
            return None
        value = self.text(name)
        digits = value[1:] if value[:1] in ("+", "-") else value
        whole = digits.isascii() and digits.isdecimal()
        if whole and len(digits) < _MOST_DIGITS and -(2**63) <= (number := int(value)) < 2**63:
            return number
        why = "value out of range" if whole else "invalid syntax"
        raise BadRequestError(f"strconv.ParseInt: parsing {go_quote(value)}: {why}")

    # Body

    async def body(self) -> bytes:
        """The whole body; 413 when it is larger than any object may be. Raises Disconnected."""
        try:
            return await read_body(self._scope, self._receive)
        except TooLarge:
            raise TooLargeError(f"Request entity too large: limit is {DEFAULT.body_bytes}") from None

    async def gone(self) -> None:
        """Return when the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _parse_query(raw: bytes) -> Mapping[str, list[str]]:
    if not raw:
        return {}
    return _parse_known(raw) if len(raw) <= _MAX_CACHED_QUERY_BYTES else _parse(raw)


# A client sends the same query with each of its writes.
@lru_cache(maxsize=1024)
def _parse_known(raw: bytes) -> Mapping[str, list[str]]:
    return _parse(raw)


def _parse(raw: bytes) -> Mapping[str, list[str]]:
    try:
        pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError as error:
        raise BadRequestError(f"the query of the request cannot be read: {error}") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
