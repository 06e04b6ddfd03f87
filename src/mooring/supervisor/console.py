"""What `mooring up` says, to people and to its logs.

Everything that the processes write goes to a log of theirs. People see the few lines that concern them: what the parent
says itself, what a process asks to be shown, and its errors.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

import click

__all__ = ["Log", "Voice"]

LOG_SIZE: Final = 10 << 20
LAST_LINES: Final = 10
# So many errors of one process are shown in so many seconds; the log has the rest.
SHOWN: Final = 5
SHOWN_WITHIN: Final = 60.0
_LOUD: Final = ("error", "critical")


class Voice:
    """Lines for people. A terminal gets a little colour; a reader that went away is no reason to stop."""

    def __init__(self) -> None:
        self._colour = None if "NO_COLOR" not in os.environ else False

    def say(self, text: str, **style: Any) -> None:
        self._print(text, err=False, **style)

    def warn(self, text: str) -> None:
        """Something went wrong, and it goes on all the same."""
        self._print(text, err=True, fg="yellow")

    def error(self, text: str) -> None:
        self._print(f"error: {text}", err=True)

    def _print(self, text: str, *, err: bool, **style: Any) -> None:
        try:
            click.echo(click.style(text, **style) if style else text, err=err, color=self._colour)
        except OSError:
            return


class Log:
    """The log of one process: all its lines in a file that is kept to a size, and the last ones at hand."""

    def __init__(self, path: Path, name: str, voice: Voice) -> None:
        self.path = path
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self.news: list[dict[str, Any]] = []
        self._name = name
        self._voice = voice
        self._rest = b""
        # When the last errors were shown, and what was shown last.
        self._shown: deque[float] = deque(maxlen=SHOWN)
        self._showing = ""

    def feed(self, data: bytes) -> None:
        """What the process wrote; the end of a line may come later."""
        self._keep(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hear(line.decode(errors="replace"))

    def finish(self) -> None:
        """The process is gone; what it left unfinished counts as a line."""
        if self._rest:
            self.feed(b"\n")

    def _keep(self, data: bytes) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(data)
                full = file.tell() > LOG_SIZE
            if full:
                self.path.replace(self.path.with_suffix(".log.1"))
        except OSError:
            # A full disk must not stop the cluster.
            return

    def _hear(self, line: str) -> None:
        if not line.strip():
            return
        entry = _entry(line)
        if entry is None:
            self.last.append(line)
            return
        message = str(entry.get("message", "")).partition("\n")[0]
        self.last.append(message)
        if "news" in entry:
            self.news.append(entry)
        elif entry.get("level") in _LOUD:
            self._show(message)

    def _show(self, message: str) -> None:
        now = time.monotonic()
        recent = [moment for moment in self._shown if now - moment < SHOWN_WITHIN]
        text = f"{self._name}: {message}"
        if len(recent) == SHOWN:
            text = f"{self._name}: more errors are in {self.path}"
        if recent and text == self._showing:
            return
        if len(recent) < SHOWN:
            self._shown.append(now)
        self._showing = text
        self._voice.warn(text)


def _entry(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
