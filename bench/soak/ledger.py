"""What must be stored: every answered write, and of writes without an answer, either what was or what was sent.

No I/O: writers tell what they sent and what came of it, and in the end the ledger is compared with the cluster.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

__all__ = ["Ledger"]

# The value of what does not exist.
ABSENT: Final = None
Value = str | None


class Ledger:
    """The values that each name may have. One writer at a time writes to a name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._possible: dict[str, set[Value]] = {}
        self.answered = 0
        self.unanswered = 0
        # Answered with the promise that nothing was written, so that they change nothing here.
        self.refused = 0

    def stored(self, name: str, value: Value) -> None:
        """A write was answered, so that nothing else may be there."""
        with self._lock:
            self._possible[name] = {value}
            self.answered += 1

    def unknown(self, name: str, value: Value) -> None:
        """A write was not answered: it may have been carried out or not."""
        with self._lock:
            self._possible.setdefault(name, {ABSENT}).add(value)
            self.unanswered += 1

    def lost(self, found: Mapping[str, str]) -> list[str]:
        """What is not as it must be, in sentences; `found` is what the cluster has."""
        wrong = []
        for name, possible in sorted(self._possible.items()):
            value = found.get(name, ABSENT)
            if value not in possible:
                wrong.append(f"{name} is {value}, and must be {' or '.join(map(str, possible))}")
        return [*wrong, *(f"{name} is there, and nobody wrote it" for name in sorted(found.keys() - self._possible))]
