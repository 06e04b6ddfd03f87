"""Why a credential is refused: a sentence for the server's log and for TokenReviews, never for the one who sent it.

The answer to a refused request is 401 and nothing more. The log says whether a token was expired, revoked, malformed or
foreign, and never the token. It stays short when somebody sends thousands of them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, Literal

__all__ = ["RefusalLog", "Refused", "Why"]

Why = Literal["expired", "revoked", "malformed", "foreign", "of another audience"]

_WINDOW_SECONDS: Final = 60.0
_LINES_PER_WINDOW: Final = 60
_log = logging.getLogger("mooring.authentication")


class Refused(Exception):
    """A credential of a known form that does not count. The text is kube-apiserver's; `why` is for the log."""

    def __init__(self, why: Why, text: str, owner: str = "") -> None:
        super().__init__(text)
        self.why, self.owner = why, owner


class RefusalLog:
    """Writes refusals to the log, so many a minute at most, and then how many more there were."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._since = float("-inf")
        self._lines = self._more = 0

    def add(self, refused: Refused) -> None:
        now = self._monotonic()
        if now - self._since >= _WINDOW_SECONDS:
            if self._more:
                _log.warning("%d more credentials were refused in the minute before", self._more)
            self._since, self._lines, self._more = now, 0, 0
        if self._lines == _LINES_PER_WINDOW:
            self._more += 1
            return
        self._lines += 1
        owner = f" of {refused.owner}" if refused.owner else ""
        _log.warning("A token%s was refused, because it is %s: %s", owner, refused.why, refused)
