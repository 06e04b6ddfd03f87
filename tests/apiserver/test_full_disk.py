"""A full disk ends nothing: writes are refused in a sentence, reads and watches go on, and room brings writes back."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.apiserver.server_process import MAPS, Server
from tests.support.small_disk import Disk, small_disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def server(tmp_path: Path, disk: Disk) -> Iterator[Server]:
    server = Server(tmp_path, disk.place / "data", disk.prefix)
    yield server
    server.close()


def write_until_refused(server: Server, connection: http.client.HTTPConnection, name: str) -> dict[str, str]:
    """Write until a write is refused, which must be said well: what was answered, with its revision."""
    answered: dict[str, str] = {}
    for number in range(1000):
        code, body = server.post(connection, f"{name}-{number}", "x" * 50_000)
        if code != 201:
            assert (code, body["kind"], body["reason"]) == (507, "Status", "InsufficientStorage"), body
            assert body["message"].startswith(f"{server.data} has no room for data: ")
            assert body["message"].endswith("Nothing was written; free 32 MiB there and repeat the request")
            return answered
        answered[f"{name}-{number}"] = body["metadata"]["resourceVersion"]
    raise AssertionError("the disk is never full")


def written_again(server: Server, connection: http.client.HTTPConnection, name: str) -> str:
    """Create a ConfigMap as soon as that works; it must within two seconds."""
    end = time.monotonic() + 2
    while True:
        code, body = server.post(connection, name)
        if code == 201:
            return str(body["metadata"]["resourceVersion"])
        assert code == 507
        assert time.monotonic() < end, "there is room, and writes are still refused"
        time.sleep(0.05)


def test_a_disk_that_becomes_full(server: Server, disk: Disk) -> None:
    server.start()
    with closing(server.connect()) as connection, closing(server.connect()) as watching:
        watching.request("GET", f"{MAPS}?watch=true", headers=server.headers())
        watch = watching.getresponse()
        disk.fill(leave=1 << 20)
        answered = write_until_refused(server, connection, "before")
        assert answered
        # Whatever else takes the room that was left.
        disk.fill()
        assert answered.items() <= server.revisions(connection).items()
        for _ in range(3):
            assert server.post(connection, "lost")[0] == 507
        assert "lost" not in server.revisions(connection)
        assert server.ask(connection, "GET", "/readyz") == server.ask(connection, "GET", "/livez") == {}

        disk.clear()
        answered["after"] = written_again(server, connection, "after")
        assert answered.items() <= server.revisions(connection).items()
        seen = ""
        while seen != "after":
            seen = json.loads(watch.readline())["object"]["metadata"]["name"]
        assert "lost" not in server.revisions(connection)


def test_a_server_that_dies_on_a_full_disk_comes_back_to_be_read(server: Server, disk: Disk) -> None:
    server.start()
    with closing(server.connect()) as connection:
        disk.fill(leave=1 << 20)
        answered = write_until_refused(server, connection, "before")
    disk.fill()
    server.kill()
    server.start(same_port=True)
    with closing(server.connect()) as connection:
        assert write_until_refused(server, connection, "during") == {}
        assert answered.items() <= server.revisions(connection).items()
        disk.clear()
        answered["after"] = written_again(server, connection, "after")
        assert answered.items() <= server.revisions(connection).items()


def test_a_new_folder_on_a_full_disk_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "24m") as disk:
        server = Server(tmp_path, disk.place / "data", disk.prefix)
        server.launch()
        code, errors = server.end()
        assert [path.name for path in (disk.folder / "data").iterdir()] == ["lock"]
    assert code == 1
    assert errors == (
        f"error: {server.data} has no room for data: No space left on device; "
        "free 32 MiB there, or name another folder\n"
    )


def test_files_that_may_not_grow_count_as_a_full_disk_at_the_start(tmp_path: Path) -> None:
    with closing(Server(tmp_path)) as server:
        server.start()
        with closing(server.connect()) as connection:
            kept = {"kept": server.post(connection, "kept")[1]["metadata"]["resourceVersion"]}
        server.kill()
        (server.data / "reserve").unlink()
        server.prefix = ("prlimit", "--fsize=300000:unlimited")
        server.start(same_port=True)
        with closing(server.connect()) as connection:
            assert write_until_refused(server, connection, "more") == {}
            assert kept.items() <= server.revisions(connection).items()
            server.limit_files(-1)
            kept["again"] = written_again(server, connection, "again")
        server.kill()
        server.prefix = ()
        server.start()
        with closing(server.connect()) as connection:
            assert kept.items() <= server.revisions(connection).items()
