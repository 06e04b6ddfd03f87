"""Streams into pods at the node's endpoint: exec and attach, with real processes and our own WebSocket."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mooring.kube.objects import Object
from mooring.net.destination import Destination
from mooring.net.websocket import HandshakeRefused, WebSocket, open_websocket
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.streams.channels import Channel, ChannelMessage, channel_message
from mooring.nodes.process.streams.endpoint import StreamEndpoint
from mooring.nodes.process.streams.remote_command import exit_status
from tests.nodes.process.home import LINUX, Home, needs_sandbox, play, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")

TOKEN = "secret"
V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"


@pytest.mark.parametrize(
    ("message", "closes", "expected"),
    [
        (b"\x00text", True, ChannelMessage(Channel.STDIN, b"text")),
        (b'\x04{"Width":1}', True, ChannelMessage(Channel.RESIZE, b'{"Width":1}')),
        (b"\xff\x00", True, ChannelMessage(Channel.STDIN, None)),
        (b"\xff\x00", False, None),
        (b"\xff\x01", True, None),
        (b"\x01text", True, None),
        (b"\x09", True, None),
        (b"", True, None),
    ],
)
def test_a_message_is_what_its_channel_says(message: bytes, closes: bool, expected: ChannelMessage | None) -> None:
    assert channel_message(message, closes=closes) == expected


class Client:
    """One stream as kubectl has it."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.got: dict[int, bytes] = {1: b"", 2: b"", 3: b""}

    async def say(self, data: bytes, channel: int = 0) -> None:
        await self.socket.send(bytes((channel,)) + data)

    async def hears(self, text: bytes) -> None:
        """Read until this has come on stdout."""
        async with asyncio.timeout(10):
            while text not in self.got[1]:
                assert await self._next(), self.got

    async def status(self) -> Object:
        """Read to the end; the final status."""
        async with asyncio.timeout(10):
            while await self._next():
                pass
        found: Object = json.loads(self.got[3])
        return found

    async def _next(self) -> bool:
        message = await self.socket.receive()
        if message is not None:
            self.got[message[0]] += message[1:]
        return message is not None


class Endpoint:
    def __init__(self, where: Destination) -> None:
        self.where = where

    async def open(self, path: str, protocol: str = V5, /, **query: str | list[str]) -> Client:
        target = f"{path}?{urlencode(query, doseq=True)}"
        headers = {"Host": "node", "Authorization": f"Bearer {TOKEN}"}
        return Client(await open_websocket(await self.where.dial(), target, [protocol], headers, 5.0))

    async def exec(self, pod: str, *command: str, protocol: str = V5, **options: str) -> Client:
        wanted = {"output": "1", "error": "1", **options}
        return await self.open(f"/exec/default/{pod}/main", protocol, command=list(command), **wanted)

    async def refusal(self, path: str, **query: str) -> tuple[int, str]:
        with pytest.raises(HandshakeRefused) as caught:
            await self.open(path, **query)
        assert caught.value.response is not None
        return caught.value.response.status, caught.value.response.body.decode()


@asynccontextmanager
async def endpoint(at: Home) -> AsyncIterator[Endpoint]:
    server = NodeServer(at.agent.log_of, StreamEndpoint(at.agent), hashlib.sha256(TOKEN.encode()).hexdigest())
    try:
        yield Endpoint(Destination("127.0.0.1", await server.start(None)))
    finally:
        await server.close()


def alive(word: str) -> list[Path]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in entry.read_bytes():
                found.append(entry)
        except OSError:
            continue
    return found


@needs_sandbox
def test_a_command_runs_inside_of_the_container(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        (tmp_path / "x").mkdir()
        mounts = [{"name": "data", "mountPath": "/data"}]
        more: Object = {"volumeMounts": mounts, "workingDir": "/tmp", "env": [{"name": "GREETING", "value": "hello"}]}
        spec = {"volumes": [{"name": "data", "emptyDir": {}}], "securityContext": {"runAsUser": 0, "runAsGroup": 7}}
        at.pod("web", shell("echo inside > /data/file; sleep 1000", **more), **spec)
        await at.phase("web", "Running")
        async with endpoint(at) as node:
            script = "cat /data/file; echo $GREETING; pwd; hostname; id -g; echo bad >&2; exit 3"
            client = await node.exec("web", "sh", "-c", script)
            assert await client.status() == exit_status(3)
            assert client.got[1] == b"inside\nhello\n/tmp\nweb\n7\n"
            assert client.got[2] == b"bad\n"

            client = await node.exec("web", "true", protocol=V4)
            assert await client.status() == {"metadata": {}, "status": "Success"}

            client = await node.exec("web", "no-such-command")
            status = await client.status()
            assert (status["reason"], status["code"]) == ("InternalError", 500)
            assert "error executing command in container" in status["message"]
            assert '"no-such-command"' in status["message"]

    play(story, tmp_path)


@needs_sandbox
def test_stdin_ends_when_the_client_says_so(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("web", shell("sleep 1000"))
        await at.phase("web", "Running")
        async with endpoint(at) as node:
            client = await node.exec("web", "sha256sum", input="1")
            text = b"0123456789abcdef" * 65536
            for start in range(0, len(text), 32768):
                await client.say(text[start : start + 32768])
            await client.socket.send(b"\xff\x00")
            assert (await client.status())["status"] == "Success"
            assert client.got[1].split()[0] == hashlib.sha256(text).hexdigest().encode()

    play(story, tmp_path)


@needs_sandbox
def test_a_terminal_has_a_size_and_job_control(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("web", shell("sleep 1000"))
        await at.phase("web", "Running")
        async with endpoint(at) as node:
            client = await node.exec("web", "sh", input="1", tty="1", error="0")
            await client.say(b'{"Width":111,"Height":33}', 4)
            await client.say(b"stty size; echo $TERM\n")
            await client.hears(b"33 111\r\nxterm\r\n")
            await client.say(b"sleep 1000\n")
            await client.hears(b"sleep 1000\r\n")
            # The line is echoed before the shell has started it.
            await asyncio.sleep(0.2)
            await client.say(b"\x03")
            await client.say(b"exit 4\n")
            assert await client.status() == exit_status(4)

    play(story, tmp_path)


@needs_sandbox
def test_a_command_is_killed_when_its_client_goes_and_ends_with_its_pod(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("web", shell("sleep 1000"))
        await at.phase("web", "Running")
        async with endpoint(at) as node:
            client = await node.exec("web", "sh", "-c", "echo up; setsid sleep 1001.5 & sleep 1001.5")
            await client.hears(b"up")
            await client.socket.close()
            await at.until(lambda: not alive("1001.5"), "what it started is gone")

            client = await node.exec("web", "sh", "-c", "echo up; exec sleep 1002.5")
            await client.hears(b"up")
            at.delete("web", grace=0)
            assert await client.status() == exit_status(137)

    play(story, tmp_path)


@needs_sandbox
def test_an_attached_client_sees_what_comes_and_writes_to_stdin(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod(
            "web", shell("echo early; while read x; do echo got $x; done; echo over >&2", stdin=True, stdinOnce=True)
        )
        await at.until(lambda: at.container("web")["state"]["running"], "it runs")
        async with endpoint(at) as node:
            options = {"input": "1", "output": "1", "error": "1"}
            client = await node.open("/attach/default/web/main", **options)
            watcher = await node.open("/attach/default/web/main", output="1")
            await client.say(b"one\n")
            await client.hears(b"got one\n")
            await watcher.hears(b"got one\n")
            assert await at.log("web") == "early\ngot one\n"
            await client.socket.send(b"\xff\x00")
            assert (await client.status())["status"] == "Success"
            assert client.got[2] == b"over\n"
            await watcher.status()
            assert watcher.got[2] == b""

    play(story, tmp_path)


@needs_sandbox
def test_what_cannot_be_entered_is_said_before_the_connection_leaves_http(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("web", shell("sleep 1000"))
        await at.phase("web", "Running")
        async with endpoint(at) as node:
            run = {"command": "ls", "output": "1"}
            assert await node.refusal("/exec/default/other/main", **run) == (404, "pod does not exist")
            assert await node.refusal("/exec/default/web/x", **run) == (404, 'container not found ("x")')
            assert await node.refusal("/exec/default/web", **run) == (404, "404 page not found")
            code, text = await node.refusal("/exec/default/web/main", command="ls")
            assert (code, text) == (400, "you must specify at least 1 of stdin, stdout, stderr")
            code, text = await node.refusal("/exec/default/web/main", output="1")
            assert (code, text) == (400, "you must specify at least one command for the container")
            with pytest.raises(HandshakeRefused) as caught:
                await node.exec("web", "ls", protocol="v1.channel.k8s.io")
            assert caught.value.response is not None
            assert b"none of the protocols [v1.channel.k8s.io] is spoken" in caught.value.response.body

    play(story, tmp_path)
