"""What a running server does about tokens between requests: streams end when their token does.

A watch may be open for an hour, a log or a shell for as long as its client likes. Who opened one was authenticated at
its beginning only, so the tokens of open streams are looked at again, twice a second.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from mooring.apiserver.authentication.token_bindings import TokenBindings
from mooring.apiserver.messages.request import bearer_token
from mooring.net.server import HttpServer

if TYPE_CHECKING:
    from mooring.apiserver.app import Application

__all__ = ["TokenUpkeep"]

_INTERVAL_SECONDS: Final = 0.5
_log = logging.getLogger(__name__)


class TokenUpkeep:
    """Call `round` twice a second, or let `run` do it."""

    def __init__(self, http: HttpServer, app: "Application", bindings: TokenBindings | None = None) -> None:
        self._http, self._app, self._bindings = http, app, bindings

    def round(self) -> None:
        self._http.end_streams(self._is_refused)
        if self._bindings is not None:
            self._bindings.retry()

    def _is_refused(self, header: bytes) -> bool:
        token = bearer_token(header.decode("latin-1"))
        # Without a token it is not by one that its sender came in.
        return token is not None and not self._app.counts(token)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            try:
                self.round()
                await self._app.group_commit.wait()
            except Exception as error:
                # No caller awaits this task, so its errors would be lost.
                _log.error("the upkeep of tokens failed: %s: %s", type(error).__name__, error)
