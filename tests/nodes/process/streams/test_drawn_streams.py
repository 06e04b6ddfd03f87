"""Streams into pods: every answer, every byte to the client and the pod, and when, as they were."""

from __future__ import annotations

import json
from typing import Any

from tests.nodes.process.streams.drawn_streams import stories
from tests.nodes.process.streams.record import COUNT, RECORDED
from tests.support.recordings import difference, recorded


def test_streams_say_what_they_did() -> None:
    for number, (expected, found) in enumerate(zip(recorded(RECORDED), stories(COUNT), strict=True)):
        told = difference(expected, json.loads(json.dumps(found)))
        assert not told, f"story {number}, {expected['asked']}: {told}"


def test_the_exit_code_is_the_last_word_to_a_client_that_is_there_and_nothing_follows_a_goodbye() -> None:
    heard = 0
    for number, story in enumerate(recorded(RECORDED)):
        rows: list[list[Any]] = story["trace"]
        events = [row[1] for row in rows]
        said = [row[2:] for row in rows if row[1] == "node" and row[2] != "PING"]
        assert "CLOSE" not in [each[0] for each in said[:-1]], f"story {number}"
        if "exit" not in events or "gone" in events or said[-1][0] != "CLOSE" or story["client closes"]:
            continue
        code = rows[events.index("exit")][2]
        kind, channel, status = said[-2]
        assert (kind, channel) == ("BINARY", "\x03"), f"story {number}"
        causes = [] if code == 0 else [{"reason": "ExitCode", "message": str(code)}]
        assert json.loads(status).get("details", {}).get("causes", []) == causes, f"story {number}"
        heard += 1
    assert heard > 20, heard
