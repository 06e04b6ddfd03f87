"""What came of a task: the versions it wrote, what it deleted, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from mooring.api.kinds import Key, Kind
from mooring.runtime.decision import Event


@dataclass
class Outcome:
    versions: dict[tuple[Kind[Any], Key], int] = field(default_factory=dict)
    # The labels that written objects have, where they have some.
    labels: dict[tuple[Kind[Any], Key], dict[str, str]] = field(default_factory=dict)
    gone: set[tuple[Kind[Any], Key, str]] = field(default_factory=set)
    # Objects to look at live before the key runs again, because an answer was lost.
    suspect: set[tuple[Kind[Any], Key]] = field(default_factory=set)
    failed: str = ""
    # Whether that was because the view was old, which is no failure of the controller.
    stale: bool = False
    # Refused for good: trying the same again is of no use until something changes.
    terminal: str = ""
    # What access rules would have to allow for that, to go on after "may not".
    missing_right: str = ""
    # Not allowed yet, by rules that are meant to say so: that is the course of things and no failure.
    postponed: str = ""
    retry_after: timedelta | None = None

    @property
    def stopped(self) -> bool:
        """Whether the later stages must not be carried out."""
        return bool(self.failed or self.terminal or self.postponed)

    def true(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """The events without those that tell of writes that were not carried out."""
        if not self.stopped:
            return events
        written = {(str(kind), key) for kind, key in self.versions} | {(str(kind), key) for kind, key, _ in self.gone}
        return tuple(event for event in events if event.after is None or _named(*event.after) in written)

    @property
    def result(self) -> str:
        if self.terminal:
            return "terminal"
        if self.failed:
            return "conflict" if self.stale else "failed"
        if self.postponed:
            return "postponed"
        return "done"


def _named(kind: Kind[Any], key: Key) -> tuple[str, Key]:
    # An object may be read through several views; its kind has one name.
    return str(kind), key
