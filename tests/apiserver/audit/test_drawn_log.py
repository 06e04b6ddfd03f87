"""The audit log over a drawn disk, and its events over drawn requests."""

from __future__ import annotations

import errno
import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from mooring.apiserver.audit import log as module
from mooring.apiserver.audit.event import AuditRecord, is_long_running, source_addresses
from mooring.apiserver.audit.log import AuditLog
from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes
from mooring.kube.objects import Object

MOST: Final = 64
ADA: Final = User("ada", ("b", "a"), "7", (("x", ("2", "1")),))
BOB: Final = User("bob")


class DrawnDisk:
    """Takes so many bytes at each flush."""

    def __init__(self) -> None:
        self.left = 0

    def write(self, fd: int, data: bytes) -> int:
        if not self.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = os.write(fd, data[: self.left])
        self.left -= taken
        return taken


class Expected:
    """What the files hold, what waits, and what the server's log has been told."""

    def __init__(self, before: bytes) -> None:
        self.file = before
        self.waiting = [b"\n"] if before and not before.endswith(b"\n") else list[bytes]()
        # Bytes that count against the limit; the newline that ends a cut line does from the first flush on.
        self.held = 0
        self.dropped = 0
        self.failing = False
        self.said: list[str] = []

    def append(self, line: bytes) -> None:
        if self.held + len(line) > MOST:
            self.dropped += 1
        else:
            self.waiting.append(line)
            self.held += len(line)

    def flush(self, left: int, *, is_pipe: bool) -> None:
        failed = is_pipe
        if not is_pipe:
            while self.waiting and len(self.waiting[0]) <= left:
                left -= len(self.waiting[0])
                self.file += self.waiting.pop(0)
            failed = bool(self.waiting)
        if failed and not self.failing:
            self.said.append("cannot be written")
        if not failed and self.failing:
            self.said.append(f"is written again; events that it lacks: {self.dropped}")
        self.failing = failed
        self.held = sum(map(len, self.waiting))


@pytest.mark.parametrize("seed", range(30))
def test_the_file_holds_the_whole_lines_that_the_disk_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING_BYTES", MOST)
    # The log's own thread waits for its end; flushes are drawn here.
    monkeypatch.setattr(module, "FLUSH_SECONDS", 600.0)
    monkeypatch.setattr(module, "_RETRY_SECONDS", 600.0)
    chance, path, disk = random.Random(seed), tmp_path / "audit.log", DrawnDisk()
    before = chance.choice((b"", b"old\n", b"old\ncut"))
    path.write_bytes(before)
    log, expected, moved = AuditLog(path, disk.write), Expected(before), 0
    is_pipe = False
    for step in range(60):
        what = chance.choice(("append", "append", "append", "flush", "flush", "move", "pipe"))
        if what == "append":
            line = b"%d-%s\n" % (step, b"x" * chance.choice((0, 5, 20, MOST - 4)))
            log.append(line)
            expected.append(line)
        elif what == "flush":
            disk.left = left = chance.choice((0, 1, 7, 30, 1000, 1000))
            log._flush()
            expected.flush(left, is_pipe=is_pipe)
        elif chance.random() < 0.4:
            # What was rotated away stays as it was.
            if not is_pipe and path.exists():
                assert path.read_bytes() == expected.file
            path.rename(tmp_path / f"old{moved}")
            moved += 1
            is_pipe = what == "pipe"
            if is_pipe:
                os.mkfifo(path)
            else:
                path.write_bytes(b"")
                expected.file = b""
        if not is_pipe:
            assert path.read_bytes() == expected.file, step
        else:
            expected.file = b""
        assert log.dropped == expected.dropped, step
    if is_pipe:
        path.unlink()
    disk.left = 1000
    log.close()
    expected.flush(1000, is_pipe=False)
    assert path.read_bytes() == expected.file
    said = [record.getMessage().partition(str(path))[2].partition(":")[0] for record in caplog.records]
    assert [each.strip() for each in said] == [each.partition(":")[0] for each in expected.said]
    lacks = [record.getMessage().rpartition(" ")[2] for record in caplog.records if "again" in record.getMessage()]
    assert lacks == [each.rpartition(" ")[2] for each in expected.said if "again" in each]


@pytest.mark.parametrize(
    ("forwarded", "real", "client", "found"),
    [
        ("", "", "", []),
        ("", "", "10.0.0.1", ["10.0.0.1"]),
        ("10.0.0.2, x, ::0001", "", "10.0.0.1", ["10.0.0.2", "::1", "10.0.0.1"]),
        ("10.0.0.2", "10.0.0.2", "10.0.0.2", ["10.0.0.2"]),
        ("10.0.0.2,10.0.0.3", "10.0.0.2", "10.0.0.3", ["10.0.0.2", "10.0.0.3"]),
        ("10.0.0.2", " 10.0.0.4 ", "10.0.0.2", ["10.0.0.2", "10.0.0.4", "10.0.0.2"]),
        ("x", "y", "10.0.0.1", ["10.0.0.1"]),
        ("", "10.0.0.4", "", ["10.0.0.4"]),
    ],
)
def test_where_a_request_comes_from(forwarded: str, real: str, client: str, found: list[str]) -> None:
    assert source_addresses(client, forwarded, real) == found


def test_which_requests_are_noted_when_they_begin() -> None:
    about = Attributes(ADA, "get", "", "pods")
    long = {"attach", "exec", "log", "portforward", "proxy"}
    for part in (*long, "", "status", "eviction", "binding"):
        assert is_long_running(about._replace(subresource=part)) is (part in long)
    assert is_long_running(about._replace(verb="watch"))


def test_an_event_says_what_is_known_of_a_drawn_request() -> None:
    chance = random.Random(47)
    received, now = datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC), datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC)
    texts = ("", "set")
    for _ in range(400):
        agent = chance.choice(("", "a", "a" * 1024, "a" * 1025))
        record = AuditRecord("id", received, "/uri?x", agent, ["10.0.0.1"])
        fields: dict[str, Any] = {
            each: chance.choice(texts) for each in ("group", "resource", "subresource", "namespace", "name")
        }
        sender = chance.choice((None, ADA))
        about = Attributes(chance.choice((ADA, BOB)), "get", version="v1")._replace(**fields)
        record.sender = sender
        allowed = chance.choice(tuple(AccessDecision))
        if authorized := chance.random() < 0.7:
            record.authorized(about, AccessAnswer(allowed, "because"))
        assert record.attributes() is (about if authorized else None)
        record.annotations["k"] = "v"
        metadata: object = chance.choice(
            (None, [], {"name": "n", "namespace": "ns", "uid": "", "resourceVersion": 5, "a": "b"})
        )
        sent = chance.choice((None, "text", {"metadata": metadata}))
        record.sent(sent)
        status: Object = {
            "kind": "Status",
            "status": "Failure",
            "reason": "R",
            "message": "M",
            "code": 1,
            "metadata": {},
        }
        body = chance.choice((b"", b'{"kind":"Pod"}', json.dumps(status, separators=(",", ":")).encode()))
        body = json.dumps(status, indent=2).encode() if chance.random() < 0.2 else body
        line = record.line("ResponseComplete", about, 404, body, now)
        told: Object = {"metadata": {}, "code": 404}
        if b"Status" in body:
            told |= {"status": "Failure", "reason": "R", "message": "M"}
        ada = {"username": "ada", "uid": "7", "groups": ["b", "a"], "extra": {"x": ["2", "1"]}}
        expected: Object = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": "id",
            "stage": "ResponseComplete",
            "requestURI": "/uri?x",
            "verb": "get",
            "user": ada if sender else {},
            "sourceIPs": ["10.0.0.1"],
            "responseStatus": told,
            "requestReceivedTimestamp": "2026-01-01T12:00:00.000005Z",
            "stageTimestamp": "2026-01-01T12:00:01.000000Z",
        }
        if authorized and about.user is not sender:
            expected["impersonatedUser"] = ada if about.user is ADA else {"username": "bob"}
        if agent:
            expected["userAgent"] = agent if len(agent) < 1025 else "a" * 1024 + "...TRUNCATED"
        if fields["resource"]:
            reference = {"resource": "set", "apiVersion": "v1"}
            for field, shown in (("namespace", "namespace"), ("name", "name"), ("group", "apiGroup")):
                reference |= {shown: "set"} if fields[field] else {}
            reference |= {"subresource": "set"} if fields["subresource"] else {}
            if isinstance(sent, dict) and isinstance(metadata, dict):
                reference = {"name": "n", "namespace": "ns"} | reference
            expected["objectRef"] = reference
        if authorized:
            decision = "allow" if allowed is AccessDecision.ALLOW else "forbid"
            words = {"authorization.k8s.io/decision": decision, "authorization.k8s.io/reason": "because"}
            expected["annotations"] = words | {"k": "v"}
        assert line.endswith(b"}\n")
        assert json.loads(line) == expected
