"""The limits of an HTTP server: bytes and seconds per client. The same for every server of ours but for the body.

The sizes and the time for a head are those of the real API server. All times are enforced by one sweep over the
connections (`server.py`), so a limit is exceeded by a second at most and costs a request nothing.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT", "HttpLimits"]

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """`head_bytes` is for the request line with all headers and for everything else that is not body, `url_bytes` for
    the URL in it, `trailer_bytes` for what may come behind a body in chunks, `body_bytes` for what an application is
    given.

    Of a larger body `drained_bytes` are read and dropped, because clients read their answer only after they have sent
    everything; a client that sends more is answered in the middle and cut off.

    `head_seconds` counts from the first byte of a request to the end of its head, `request_seconds` to the end of its
    body. `idle_seconds` is longer than clients keep connections, so that it is never the server that breaks a reuse.
    `stalled_seconds` is how long a client may read nothing of an answer while the server cannot go on sending.

    `unfinished_bytes` is for what all connections together have sent of requests that are not begun, `unread_bytes` for
    what all clients together have not read; one more, and the connection that has held its part longest is given up.

    `strangers` is how many connections there may be whose sender the application does not know: one more, and the
    oldest that is not being answered is closed. `handshake_seconds` is for TLS, before which a connection is not known.
    """

    url_bytes: int = 64 * KIB
    head_bytes: int = MIB
    trailer_bytes: int = 64 * KIB
    body_bytes: int = 3 * MIB
    drained_bytes: int = 32 * MIB
    unfinished_bytes: int = 128 * MIB
    unread_bytes: int = 128 * MIB
    head_seconds: float = 32.0
    request_seconds: float = 60.0
    idle_seconds: float = 180.0
    stalled_seconds: float = 60.0
    handshake_seconds: float = 10.0
    strangers: int = 512

    @property
    def sweep_seconds(self) -> float:
        """The time between two looks at all connections."""
        shortest = min(self.head_seconds, self.request_seconds, self.idle_seconds, self.stalled_seconds)
        return min(1.0, shortest / 4)


DEFAULT: Final = HttpLimits()
