"""Logs: how they are written, kept to a size, and read in the ways of kubectl."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mooring.nodes.process.logs import LONGEST_LINE, LogOptions, LogWriter, last_words, read_log, stamp
from mooring.nodes.process.node_server import options_of
from tests.client.stories import awaited

SECOND = 10**9


class Clock:
    """One second passes with each look."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += SECOND
        return self.now


def writer(folder: Path, **more: Any) -> LogWriter:
    return LogWriter(folder / "0.log", clock=Clock(), **more)


async def read(path: Path, log: LogWriter | None = None, **options: Any) -> str:
    return b"".join([data async for data in read_log(path, LogOptions(**options), log)]).decode()


@awaited
async def test_lines_carry_their_time_and_stream(tmp_path: Path) -> None:
    log = writer(tmp_path)
    log.feed("stdout", b"one\ntw")
    log.feed("stderr", b"bad\n")
    log.feed("stdout", b"o\n")
    log.close()
    assert log.path.read_text().splitlines() == [
        "1970-01-01T00:00:01.000000000Z stdout F one",
        "1970-01-01T00:00:02.000000000Z stderr F bad",
        "1970-01-01T00:00:03.000000000Z stdout F two",
    ]
    assert await read(log.path) == "one\nbad\ntwo\n"


@awaited
async def test_what_has_no_end_of_line_is_shown_without_one(tmp_path: Path) -> None:
    log = writer(tmp_path)
    log.feed("stdout", b"one\ntwo")
    log.close()
    assert await read(log.path) == "one\ntwo"


@awaited
async def test_a_line_that_is_too_long_is_put_together_again(tmp_path: Path) -> None:
    log = writer(tmp_path)
    long = b"x" * (3 * LONGEST_LINE + 5)
    log.feed("stdout", long + b"\nafter\n")
    log.feed("stdout", long)
    log.close()
    assert await read(log.path) == f"{long.decode()}\nafter\n{long.decode()}"
    assert max(map(len, log.path.read_bytes().split(b"\n"))) < LONGEST_LINE + 100


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tail": 2}, "3\n4\n"),
        ({"tail": 0}, ""),
        ({"tail": 9}, "1\n2\n3\n4\n"),
        ({"since": stamp(3 * SECOND)}, "3\n4\n"),
        ({"since": stamp(3 * SECOND), "tail": 1}, "4\n"),
        ({"limit": 3}, "1\n2"),
        ({"timestamps": True, "tail": 1}, "1970-01-01T00:00:04.000000000Z 4\n"),
    ],
)
@awaited
async def test_parts_of_a_log(tmp_path: Path, options: dict[str, Any], expected: str) -> None:
    log = writer(tmp_path)
    for number in range(1, 5):
        log.feed("stdout", f"{number}\n".encode())
    log.close()
    assert await read(log.path, **options) == expected


@awaited
async def test_carriage_returns_do_not_end_lines(tmp_path: Path) -> None:
    log = writer(tmp_path)
    log.feed("stdout", b"10%\r20%\r\n")
    log.close()
    assert await read(log.path) == "10%\r20%\r\n"


@awaited
async def test_a_log_is_followed_until_its_container_has_ended(tmp_path: Path) -> None:
    log = writer(tmp_path)
    log.feed("stdout", b"1\n")
    following = asyncio.create_task(read(log.path, log, follow=True))
    for number in range(2, 6):
        await asyncio.sleep(0)
        log.feed("stdout", f"{number}\n".encode())
    assert not following.done()
    log.close()
    assert await following == "1\n2\n3\n4\n5\n"


@awaited
async def test_a_log_is_kept_to_a_size_and_followed_over_the_change(tmp_path: Path) -> None:
    log = writer(tmp_path, size=1000)
    following = asyncio.create_task(read(log.path, log, follow=True))
    for number in range(100):
        log.feed("stdout", b"%d\n" % number)
        await asyncio.sleep(0.001)
    log.close()
    assert (await following).split() == [str(number) for number in range(100)]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2200
    kept = (await read(log.path)).split()
    assert kept[-1] == "99"
    assert 23 < len(kept) < 60
    assert (await read(log.path, tail=22)).split() == [str(number) for number in range(78, 100)]


def test_the_last_words_are_the_end_of_the_log(tmp_path: Path) -> None:
    async def main() -> None:
        log = writer(tmp_path)
        log.feed("stdout", b"".join(b"line %d\n" % number for number in range(200)))
        log.close()

    asyncio.run(main())
    # As many lines as a kubelet takes.
    assert last_words(tmp_path / "0.log").splitlines() == [f"line {number}" for number in range(120, 200)]
    assert last_words(tmp_path / "0.log", lines=2) == "line 198\nline 199\n"
    assert last_words(tmp_path / "0.log", size=5) == " 199\n"
    assert last_words(tmp_path / "none") == ""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, LogOptions()),
        ({"follow": "true", "timestamps": "true"}, LogOptions(follow=True, timestamps=True)),
        ({"tailLines": "5", "limitBytes": "9"}, LogOptions(tail=5, limit=9)),
        ({"sinceSeconds": "60"}, LogOptions(since=stamp(40 * SECOND))),
        ({"sinceTime": "1970-01-01T01:00:05+01:00"}, LogOptions(since=stamp(5 * SECOND))),
    ],
)
def test_options_come_as_the_kubelet_takes_them(query: dict[str, str], expected: LogOptions) -> None:
    assert options_of(query, 100 * SECOND) == expected


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="yesterday"):
        options_of({"sinceTime": "yesterday"}, 0)
