"""The report of `mooring shadow`: the running rate of agreement, each disagreement, and a snapshot of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from mooring.cli.render.tally import Tally, difference
from mooring.cli.snapshot_writer import SnapshotEncoder, save_snapshot
from mooring.kube.words import counted
from mooring.placement.shadow import Agreement, Judgement, Shadow
from mooring.placement.shadow.outcomes import waits

__all__ = ["ShadowReport"]

# Without a terminal the rate is printed at most every so many seconds.
RATE_SECONDS: Final = 10.0
_ODD: Final = re.compile(r"[^A-Za-z0-9.-]+")


class ShadowReport:
    """On a terminal the rate is one line that changes; elsewhere it is a line now and then."""

    def __init__(self, shadow: Shadow, server: str, keep: Path, *, live: bool, clock: Callable[[], float]) -> None:
        self.tally = Tally()
        self._shadow = shadow
        self._server = server
        self._keep = keep
        self._live = live
        self._clock = clock
        self._shown = ""
        self._next = 0.0

    def begun(self) -> None:
        views = self._shadow.world.views
        kinds = [place.kind for place in views]
        waiting = sum(place.kind == "Pod" and waits(view) for place, view in views.items())
        self._say(
            f"Following {self._server}: {counted(kinds.count('Node'), 'node')}, {counted(kinds.count('Pod'), 'pod')}, "
            f"of which {waiting:,} wait for a node."
        )

    def said(self, text: str) -> None:
        self._say(f"note: {text}", err=True)

    def judged(self, judgement: Judgement) -> None:
        self.tally.add(judgement)
        if judgement.verdict is Agreement.WRONG:
            file = self._save(judgement)
            self._say(f"{difference(judgement)}\n  kept in {file}")
        self._show()

    def finish(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False)
            self._shown = ""
        self._say(f"In all: {self.tally.line()}.")
        if self.tally.wrong:
            self._say(f"Disagreements are in {self._keep}; each file ends with the command that looks into it.")

    # Printing

    def _show(self) -> None:
        line = self.tally.line()
        if self._live:
            self._shown = line[: shutil.get_terminal_size().columns - 1]
            click.echo(f"\r\x1b[K{self._shown}", nl=False)
        elif self._clock() >= self._next:
            self._next = self._clock() + RATE_SECONDS
            click.echo(line)

    def _say(self, text: str, *, err: bool = False) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False)
        click.echo(text, err=err)
        if self._shown:
            click.echo(self._shown, nl=False)

    # Keeping

    def _save(self, judgement: Judgement) -> Path:
        namespace, _, name = judgement.pod.partition("/")
        self._keep.mkdir(parents=True, exist_ok=True)
        file = self._free(f"{_ODD.sub('-', namespace)}.{_ODD.sub('-', name)}")
        encoder = SnapshotEncoder()
        comment = (
            f"Predicted: {judgement.prediction}\n"
            f"Happened: {judgement.outcome}\n"
            f"mooring explain pod/{name} -n {namespace} --snapshot {file}\n"
        )
        items = [encoder.item(kind, view) for kind, view in judgement.objects]
        items.append(encoder.contents(self._shadow.world.snapshot.unread_kinds - {"RuntimeClass"}))
        save_snapshot(file, items, comment)
        return file

    def _free(self, stem: str) -> Path:
        number = 1
        while (file := self._keep / f"{stem}.{number}.yaml.gz").exists():
            number += 1
        return file
