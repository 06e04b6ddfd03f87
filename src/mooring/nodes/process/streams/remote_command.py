"""Joins the channels of a client with a command or a running container, until either of them ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final, Protocol

import msgspec

from mooring.kube.objects import Object
from mooring.nodes.process.streams.channels import Channel, ChannelMessage

__all__ = ["Channels", "RemoteCommand", "exit_status", "internal_error", "serve_command"]

# For what a command wrote in its last moment, where a process that it left behind holds its streams open.
_DRAIN_SECONDS: Final = 1.0
# A client that went without a word is found by the write that fails.
_PING_SECONDS: Final = 10.0


class _Reader(Protocol):
    async def read(self) -> bytes: ...


class _Writer(Protocol):
    async def write(self, data: bytes) -> bool: ...


class RemoteCommand(Protocol):
    """A command beside a container, or a container itself."""

    @property
    def stdin(self) -> _Writer | None: ...
    @property
    def stdout(self) -> _Reader: ...
    @property
    def stderr(self) -> _Reader | None: ...
    def resize(self, width: int, height: int) -> None: ...
    def close_stdin(self) -> None: ...
    async def wait(self) -> int: ...
    async def end(self) -> None: ...


class Channels(Protocol):
    async def receive(self) -> ChannelMessage | None: ...
    async def send(self, channel: Channel, data: bytes) -> None: ...
    async def ping(self) -> None: ...
    async def close(self) -> None: ...


class _Size(msgspec.Struct):
    Width: int = 0
    Height: int = 0


async def serve_command(channels: Channels, command: RemoteCommand, wanted: frozenset[Channel]) -> None:
    """Until the command has ended or the client has gone; the command is ended with it. `wanted` has its outputs."""
    outputs = [
        _Output(channels, channel, reader, channel in wanted)
        for channel, reader in ((Channel.STDOUT, command.stdout), (Channel.STDERR, command.stderr))
        if reader is not None
    ]
    ended = asyncio.create_task(command.wait())
    client = [asyncio.create_task(_input(channels, command)), asyncio.create_task(_pings(channels))]
    try:
        await asyncio.wait((ended, *client), return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            await _drain(outputs, client[0])
            # The status is the last word: what a process that was left behind writes meanwhile comes too late.
            for each in outputs:
                each.task.cancel()
            with suppress(ConnectionResetError):
                await channels.send(Channel.ERROR, msgspec.json.encode(exit_status(ended.result())))
    finally:
        tasks = (ended, *client, *(each.task for each in outputs))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await command.end()
        await channels.close()


class _Output:
    """Passes one output on. `idle` is whether it waits for the command and not for the client."""

    def __init__(self, channels: Channels, channel: Channel, reader: _Reader, wanted: bool) -> None:
        self.idle = True
        self.passed_bytes = 0
        self.task = asyncio.create_task(self._run(channels, channel, reader, wanted))

    async def _run(self, channels: Channels, channel: Channel, reader: _Reader, wanted: bool) -> None:
        with suppress(ConnectionResetError):
            while data := await reader.read():
                self.idle = False
                if wanted:
                    await channels.send(channel, data)
                self.passed_bytes += len(data)
                self.idle = True


async def _drain(outputs: list[_Output], client: asyncio.Task[None]) -> None:
    """Wait for the rest of what a command wrote, however slowly the client takes it."""
    left = [each for each in outputs if not each.task.done()]
    while left and not client.done():
        before = [each.passed_bytes for each in left]
        tasks = [each.task for each in left]
        done, _ = await asyncio.wait((*tasks, client), timeout=_DRAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not done and all(each.idle for each in left) and before == [each.passed_bytes for each in left]:
            return
        left = [each for each in left if not each.task.done()]


async def _input(channels: Channels, command: RemoteCommand) -> None:
    while (message := await channels.receive()) is not None:
        if message.channel is Channel.RESIZE:
            with suppress(msgspec.MsgspecError):
                size = msgspec.json.decode(message.data or b"", type=_Size)
                command.resize(size.Width, size.Height)
        elif message.data is None:
            command.close_stdin()
        elif command.stdin is not None:
            await command.stdin.write(message.data)


async def _pings(channels: Channels) -> None:
    with suppress(ConnectionResetError):
        while True:
            await asyncio.sleep(_PING_SECONDS)
            await channels.ping()


def exit_status(code: int) -> Object:
    """The Status that clients read the exit code from."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def internal_error(why: str) -> Object:
    """The Status of a command that could not be run."""
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {why}",
        "reason": "InternalError",
        "details": {"causes": [{"message": why}]},
        "code": 500,
    }
