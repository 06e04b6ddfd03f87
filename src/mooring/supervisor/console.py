"""The console of `mooring up`, and the log of each of its processes.

All output of a process goes to its log. The console shows the parent's own lines, the news of a process and its errors.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

import click

__all__ = ["Console", "Log"]

LOG_BYTES: Final = 10 << 20
LAST_LINES: Final = 10
# At most this many errors of one process are shown in this time; its log has all of them.
ERRORS_SHOWN: Final = 5
ERRORS_SHOWN_SECONDS: Final = 60.0
_SHOWN_LEVELS: Final = ("error", "critical")


class Console:
    """Lines on standard output and error, in colour on a terminal. A closed pipe does not stop the cluster."""

    def __init__(self) -> None:
        self._colour = None if "NO_COLOR" not in os.environ else False

    def say(self, text: str, **style: Any) -> None:
        self._print(text, err=False, **style)

    def warn(self, text: str) -> None:
        """A problem that does not stop the cluster."""
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

    def __init__(self, path: Path, name: str, console: Console) -> None:
        self.path = path
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self.news: list[dict[str, Any]] = []
        self._name = name
        self._console = console
        self._rest = b""
        # When the last errors were shown, and what was shown last.
        self._shown: deque[float] = deque(maxlen=ERRORS_SHOWN)
        self._showing = ""

    def feed(self, data: bytes) -> None:
        """Take what the process wrote; a line may come in several parts."""
        self._keep(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._read_line(line.decode(errors="replace"))

    def finish(self) -> None:
        """Take an unfinished last line as a line, after the process has ended."""
        if self._rest:
            self.feed(b"\n")

    def _keep(self, data: bytes) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(data)
                full = file.tell() > LOG_BYTES
            if full:
                self.path.replace(self.path.with_suffix(".log.1"))
        except OSError:
            # A full disk must not stop the cluster.
            return

    def _read_line(self, line: str) -> None:
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
        elif entry.get("level") in _SHOWN_LEVELS:
            self._show(message)

    def _show(self, message: str) -> None:
        now = time.monotonic()
        recent = [moment for moment in self._shown if now - moment < ERRORS_SHOWN_SECONDS]
        text = f"{self._name}: {message}"
        if len(recent) == ERRORS_SHOWN:
            text = f"{self._name}: more errors are in {self.path}"
        if recent and text == self._showing:
            return
        if len(recent) < ERRORS_SHOWN:
            self._shown.append(now)
        self._showing = text
        self._console.warn(text)


def _entry(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
