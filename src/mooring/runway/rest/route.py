"""A route of the REST API, declared once: its path, what it takes and gives, and whether it writes.

The application, the checks of requests, the OpenAPI document and the documentation's test all go by this declaration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from mooring.runway.rest.callers import Caller
    from mooring.runway.rest.service import RestService

__all__ = ["Method", "RestCall", "Route"]

Method = Literal["GET", "POST", "PUT", "DELETE"]


class RestCall(NamedTuple):
    """One request: who asks, and what for. `query` and `body` are of the types that the route declares."""

    service: RestService
    asking: Caller | None
    path: Mapping[str, str]
    query: Any
    body: Any
    headers: Mapping[str, str]

    @property
    def caller(self) -> Caller:
        """Who asks; a public route has nobody."""
        assert self.asking is not None
        return self.asking


class Route(NamedTuple):
    """`response` is a type, or None for a stream of events.

    `writes` says that the cluster is changed, and `public` that no token is asked for. With `checks_body` the handler
    gets the body as it was sent, and says itself what is wrong with every field. Parameters of the path have names that
    say what they are: `{namespace}`, `{name}`.
    """

    method: Method
    path: str
    summary: str
    handler: Callable[[RestCall], Awaitable[Any]]
    response: Any
    query: type[Any] | None = None
    body: type[Any] | None = None
    status: int = 200
    writes: bool = False
    public: bool = False
    checks_body: bool = False

    @property
    def tag(self) -> str:
        return self.path.removeprefix("/api/").partition("/")[0]
