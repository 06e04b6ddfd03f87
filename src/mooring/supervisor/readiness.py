"""Whether the API answers, as a client sees it: over TLS, trusting nobody but its own authority."""

from __future__ import annotations

import http.client
import ssl
import time
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

__all__ = ["ALIVE_SECONDS", "is_alive", "wait_until_ready"]

_PAUSE: Final = 0.05
_PATIENCE: Final = 10.0
# A server that does nothing but work has been seen to take a second.
ALIVE_SECONDS: Final = 5.0


def wait_until_ready(url: str, authority: Path) -> None:
    """Return when the server says that it is ready. Until it runs, the connection waits in line at its socket."""
    while not _says_yes(url, authority, "/readyz", _PATIENCE):
        time.sleep(_PAUSE)


def is_alive(url: str, authority: Path) -> bool:
    """Whether the server answers at all, in good time."""
    return _says_yes(url, authority, "/livez", ALIVE_SECONDS)


def _says_yes(url: str, authority: Path, path: str, patience: float) -> bool:
    place = urlsplit(url)
    context = ssl.create_default_context(cafile=str(authority))
    connection = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=patience, context=context)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        # It is not there yet, or has died on the way; the parent sees to that.
        return False
    finally:
        connection.close()
