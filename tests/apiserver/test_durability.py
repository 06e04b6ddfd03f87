"""A write that was answered survives kill -9: the real process, killed in the middle of a load, twenty times over.

Writers keep a ledger of what they were told. After every restart each object must be as its last answer said, or as the
one request in flight would have made it; nothing may be half written, and the revision must not have gone back behind
anything that a writer, a reader or a watch has seen.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.apiserver.server_process import MAPS, Server

ROUNDS = 20
WRITERS = 4
# An object that is not there.
GONE: None = None


class Ledger:
    """What one writer was told about its objects, and what it has asked for since."""

    def __init__(self) -> None:
        # The text in the object and the revision of the answer; GONE when it was told that the object is deleted.
        self.told: dict[str, tuple[str, int] | None] = {}
        self.asked: dict[str, str | None] = {}
        self.answers = 0

    def begin(self, name: str, text: str | None) -> None:
        self.asked = {name: text}

    def end(self, name: str, text: str | None, revision: int) -> None:
        self.told[name] = GONE if text is None else (text, revision)
        self.asked = {}
        self.answers += 1

    def check(self, found: dict[str, Object]) -> None:
        """Compare with what is there; from then on, that is what was told."""
        for name in self.told.keys() | self.asked.keys():
            now = _state(found[name]) if name in found else GONE
            asked_for = name in self.asked and self.asked[name] == (None if now is None else now[0])
            assert asked_for or now == self.told.get(name), f"{name} is {now}, told {self.told.get(name)}"
            self.told[name] = now
        self.asked = {}


def _state(obj: Object) -> tuple[str, int]:
    text: str = obj["data"]["text"]
    assert obj["data"]["copy"] == text[::-1], f"{obj['metadata']['name']} is half written"
    return text, int(obj["metadata"]["resourceVersion"])


class Load:
    """Writers, a reader and a watch at work on one server until it is killed."""

    def __init__(self, server: Server, ledgers: list[Ledger], seed: int) -> None:
        self._server = server
        self._seen = [0]
        self._started = threading.Event()
        self._failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(self._write, index, ledger, random.Random(f"{seed}-{index}")))
            for index, ledger in enumerate(ledgers)
        ]
        self._threads += [threading.Thread(target=self._run, args=(work,)) for work in (self._read, self._watch)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        assert self._started.wait(20), "nothing was answered"

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()
        if self._failures:
            raise self._failures[0]

    @property
    def seen(self) -> int:
        """The highest revision that anybody saw."""
        return max(self._seen)

    def _run(self, work: Any, *arguments: Any) -> None:
        try:
            with closing(self._server.connect()) as connection:
                work(connection, *arguments)
        except (OSError, http.client.HTTPException):
            # The server is gone, as it should be.
            pass
        except BaseException as error:
            self._failures.append(error)

    def _write(self, connection: http.client.HTTPConnection, index: int, ledger: Ledger, chance: random.Random) -> None:
        for turn in range(100_000):
            name = f"w{index}-{chance.randrange(12)}"
            exists = ledger.told.get(name) is not GONE
            remove = exists and chance.random() < 0.3
            text = None if remove else f"{turn}-{chance.randrange(10**9)}-" + "x" * chance.randrange(3000)
            ledger.begin(name, text)
            if text is None:
                answer = self._server.ask(connection, "DELETE", f"{MAPS}/{name}")
                revision = 0
            else:
                obj = {"metadata": {"name": name}, "data": {"text": text, "copy": text[::-1]}}
                method, path = ("PUT", f"{MAPS}/{name}") if exists else ("POST", MAPS)
                answer = self._server.ask(connection, method, path, obj)
                revision = int(answer["metadata"]["resourceVersion"])
            ledger.end(name, text, revision)
            self._seen.append(revision)
            self._started.set()

    def _read(self, connection: http.client.HTTPConnection) -> None:
        while True:
            answer = self._server.ask(connection, "GET", f"{MAPS}?limit=1")
            self._seen.append(int(answer["metadata"]["resourceVersion"]))

    def _watch(self, connection: http.client.HTTPConnection) -> None:
        connection.request("GET", f"{MAPS}?watch=true", headers=self._server.headers())
        answer = connection.getresponse()
        while line := answer.readline():
            if line.endswith(b"\n"):
                event = json.loads(line)
                self._seen.append(int(event["object"]["metadata"]["resourceVersion"]))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.close()


@pytest.mark.slow
def test_what_was_answered_survives_kill_9(server: Server) -> None:
    chance = random.Random(20)
    ledgers = [Ledger() for _ in range(WRITERS)]
    seen = 0
    for number in range(ROUNDS):
        server.start()
        with closing(server.connect()) as connection:
            listed = server.ask(connection, "GET", MAPS)
        assert int(listed["metadata"]["resourceVersion"]) >= seen, "the revision went back"
        found = {obj["metadata"]["name"]: obj for obj in listed["items"]}
        for ledger in ledgers:
            ledger.check(found)
        assert set(found) <= {name for ledger in ledgers for name in ledger.told}

        load = Load(server, ledgers, number)
        load.start()
        time.sleep(chance.uniform(0.0, 0.4))
        server.kill()
        load.join()
        seen = max(seen, load.seen)

    answers = [ledger.answers for ledger in ledgers]
    assert min(answers) > ROUNDS, answers


@pytest.mark.slow
def test_when_files_may_not_grow_the_server_ends_and_has_lost_nothing_that_it_answered(server: Server) -> None:
    server.start()
    answered: dict[str, str] = {}
    with closing(server.connect()) as connection:
        while True:
            code, body = server.post(connection, f"map-{len(answered)}", "x" * 10_000)
            if code != 201:
                break
            answered[body["metadata"]["name"]] = body["metadata"]["resourceVersion"]
            if len(answered) == 10:
                # Unlike a full disk, this is no matter of room: giving up the reserve does not help.
                server.limit_files(1_200_000)
    assert (code, body["reason"]) == (500, "InternalError"), body
    assert "objects.sqlite cannot be written" in body["message"]
    ended, errors = server.end()
    assert ended == 1, errors
    assert "objects.sqlite cannot be written" in errors

    server.start()
    with closing(server.connect()) as connection:
        assert len(answered) > 10
        assert answered.items() <= server.revisions(connection).items()
