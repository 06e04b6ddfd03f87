"""What the console shows of a process, and what its log keeps."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError
from mooring.supervisor import console
from mooring.supervisor.configuration import parse_gates
from mooring.supervisor.console import Console, Log
from mooring.supervisor.selection import select_controllers


class Shown(Console):
    """A console that notes its warnings."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: self.now))


def entry(message: Any, level: str = "error", **more: str) -> bytes:
    return json.dumps({"level": level, "message": message, **more}).encode() + b"\n"


def test_lines_are_kept_as_they_came_and_the_last_ten_are_at_hand(tmp_path: Path) -> None:
    path, shown = tmp_path / "a.log", Shown()
    log = Log(path, "server", shown)
    for part in (b"one\ntw", b"o\n\n  \n\xff\n", b"{odd\n[1]\n{}\n", b"unfinished"):
        log.feed(part)
    assert list(log.last) == ["one", "two", "\ufffd", "{odd", "[1]", ""]
    log.finish()
    log.finish()
    assert list(log.last)[-1] == "unfinished"
    assert path.read_bytes() == b"one\ntwo\n\n  \n\xff\n{odd\n[1]\n{}\nunfinished\n"
    log.feed(b"".join(b"%d\n" % number for number in range(12)))
    assert list(log.last) == [str(number) for number in range(2, 12)]
    assert shown.warnings == []
    assert log.news == []


def test_errors_are_shown_with_their_first_line_and_news_are_kept_for_the_parent(tmp_path: Path) -> None:
    shown = Shown()
    log = Log(tmp_path / "a.log", "server", shown)
    for line in (
        entry("quiet", "info"),
        entry("careful", "warning"),
        entry("first\nand more"),
        entry("worse", "critical"),
        entry("in", "error", news="fleet"),
        entry(7),
        b'{"level": "error"}\n',
    ):
        log.feed(line)
    assert shown.warnings == ["server: first", "server: worse", "server: 7", "server: "]
    assert log.news == [{"level": "error", "message": "in", "news": "fleet"}]
    assert list(log.last) == ["quiet", "careful", "first", "worse", "in", "7", ""]


def test_a_flood_of_errors_is_cut_after_five_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = Shown(), Clock(monkeypatch)
    log = Log(tmp_path / "a.log", "server", shown)

    def fed(*messages: str) -> list[str]:
        shown.warnings.clear()
        for message in messages:
            log.feed(entry(message))
        return [text.removeprefix("server: ") for text in shown.warnings]

    # The same again is said once a minute.
    assert fed("a", "a", "b", "a") == ["a", "b", "a"]
    clock.now += 59.9
    assert fed("a") == []
    more = f"more errors are in {tmp_path}/a.log"
    assert fed("c", "d", "e", "f") == ["c", "d", more]
    clock.now += 0.1
    # A minute after the first three there is room again.
    assert fed("f", "g", "h", "i") == ["f", "g", "h", more]
    clock.now += 60
    assert fed("i") == ["i"]
    clock.now += 60
    assert fed("i") == ["i"]


def test_a_log_that_is_full_is_put_aside_and_one_that_cannot_be_written_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LOG_BYTES", 4)
    log = Log(tmp_path / "a.log", "server", Shown())
    log.feed(b"abc\n")
    assert not (tmp_path / "a.log.1").exists()
    log.feed(b"d\n")
    assert (tmp_path / "a.log.1").read_bytes() == b"abc\nd\n"
    assert not (tmp_path / "a.log").exists()
    lost = Log(tmp_path / "none" / "a.log", "server", Shown())
    lost.feed(b"still read\n")
    assert list(lost.last) == ["still read"]


def test_lines_are_coloured_on_a_terminal_unless_nobody_wants_that(monkeypatch: pytest.MonkeyPatch) -> None:
    echoed: list[Any] = []
    monkeypatch.setattr(click, "echo", lambda text, *, err, color: echoed.append((text, err, color)))

    def told() -> list[Any]:
        echoed.clear()
        found = Console()
        found.say("ready")
        found.say("ready", bold=True)
        found.warn("careful")
        found.error("wrong")
        return list(echoed)

    monkeypatch.delenv("NO_COLOR", raising=False)
    bold, yellow = click.style("ready", bold=True), click.style("careful", fg="yellow")
    lines = [("ready", False), (bold, False), (yellow, True), ("error: wrong", True)]
    assert told() == [(text, err, None) for text, err in lines]
    monkeypatch.setenv("NO_COLOR", "")
    assert told() == [(text, err, False) for text, err in lines]

    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(click, "echo", broken)
    Console().say("nobody listens")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], {}),
        (["A=true"], {"A": True}),
        (["A=True, B=FALSE", "A=false"], {"A": False, "B": False}),
        (["Old=false"], {}),
    ],
)
def test_gates_are_read_in_order(words: list[str], found: dict[str, bool]) -> None:
    assert parse_gates(words, {"B": True, "A": False}, {"Old": "it is gone"}) == found


@pytest.mark.parametrize(
    ("word", "known", "said"),
    [
        ("C=true", {"B": True, "A": False}, '--feature-gates: there is no gate "C"; there are A, B'),
        ("", {}, '--feature-gates: there is no gate ""; this version has none'),
        ("A", {"A": True}, '--feature-gates: "A" must be A=true or A=false'),
        ("A=yes", {"A": True}, '--feature-gates: "A=yes" must be A=true or A=false'),
        ("Old=x", {}, '--feature-gates: "Old=x" must be Old=true or Old=false'),
        ("Old=true", {}, "--feature-gates: Old cannot be opened: it is gone"),
    ],
)
def test_a_wrong_gate_is_refused(word: str, known: dict[str, bool], said: str) -> None:
    with pytest.raises(InputError) as told:
        parse_gates([word], known, {"Old": "it is gone"})
    assert str(told.value) == said


def test_controllers_are_chosen_word_by_word() -> None:
    everything = select_controllers("*")
    a, b, c = everything[:3]
    usual = (b, c)
    for text, chosen in {
        a: (a,),
        f"{b}, {a},": (a, b),
        f"-{b}": (c,),
        f"-{b},{a}": (a, c),
        f"*,-{a}": everything[1:],
        f"{a},-{a}": (),
        f"-*,{c}": (c,),
        "extra": ("extra",),
    }.items():
        assert select_controllers(text, usual, ("extra",)) == (chosen if text != f"*,-{a}" else (*chosen, "extra")), (
            text
        )
    assert select_controllers(f"-{a}") == everything[1:]
    embedded = CATALOG.embedded_only
    assert embedded
    assert select_controllers("*", external=True) == tuple(name for name in everything if name not in embedded)
    known = ", ".join(everything)
    with pytest.raises(InputError) as none:
        select_controllers(" , ")
    assert str(none.value) == f"--controllers names none; there are {known}, * for all and -NAME for all but one"
    with pytest.raises(InputError) as unknown:
        select_controllers("-nothing")
    assert str(unknown.value) == f'--controllers: there is no controller "nothing"; there are {known}'
