"""What all connections of a server together may leave in its memory, of what they send or of what they do not read.

A limit for each connection bounds nothing: seven thousand of them may each send three megabytes slowly. When all hold
too much, the connection that has held something for longest is given up. A client that does not mean harm holds its
bytes for milliseconds, so it is not among them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mooring.net.server_connection import ServerConnection

__all__ = ["ByteBudget"]


class ByteBudget:
    """`give_up` is called with the connection that has held bytes for longest when there are more than `most_bytes`."""

    def __init__(self, most_bytes: int, give_up: Callable[["ServerConnection"], None]) -> None:
        self._most_bytes = most_bytes
        self._give_up = give_up
        # The one that has held something for longest comes first.
        self._held: dict[ServerConnection, int] = {}
        self.held_bytes = 0

    def hold(self, connection: "ServerConnection", size: int) -> None:
        """The connection holds so many bytes now."""
        self.held_bytes += size - self._held.get(connection, 0)
        self._held[connection] = size
        while self.held_bytes > self._most_bytes:
            oldest = next(iter(self._held))
            self.release(oldest)
            self._give_up(oldest)

    def release(self, connection: "ServerConnection") -> None:
        """The connection holds nothing any more."""
        self.held_bytes -= self._held.pop(connection, 0)
