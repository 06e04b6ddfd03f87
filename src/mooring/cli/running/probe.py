"""Whether the API answers, as a client sees it: over TLS, trusting nobody but its own authority."""

from __future__ import annotations

import http.client
import ssl
import time
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

__all__ = ["wait_until_ready"]

_PAUSE: Final = 0.05
_PATIENCE: Final = 10.0


def wait_until_ready(url: str, authority: Path) -> None:
    """Return when the server says that it is ready. Until it runs, the connection waits in line at its socket."""
    place = urlsplit(url)
    context = ssl.create_default_context(cafile=str(authority))
    while True:
        connection = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=_PATIENCE, context=context)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            # It is not there yet, or has died on the way; the parent sees to that.
            pass
        finally:
            connection.close()
        time.sleep(_PAUSE)
