"""Commands of kubectl, each with the writes to the API that do the same, for programs that paste nothing."""

from __future__ import annotations

import shlex
from typing import Literal

import msgspec

from mooring.kube.objects import Object

__all__ = ["Commands", "KubectlCommand", "Write", "WriteVerb", "all_writes"]

WriteVerb = Literal["patch", "scale", "evict", "delete"]


class Write(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One request about one object. A pod is deleted only while it waits.

    `body` is a JSON patch, of the object or of its scale. It tests what it changes, so that it does nothing to an
    object that has changed since.
    """

    verb: WriteVerb
    api_version: str
    kind: str
    name: str
    namespace: str = ""
    body: tuple[Object, ...] = ()


class KubectlCommand(msgspec.Struct, frozen=True):
    """The arguments of kubectl, and what is piped into it. One that only prints a manifest has no writes."""

    arguments: tuple[str, ...]
    writes: tuple[Write, ...] = ()
    piped: str = ""

    @property
    def text(self) -> str:
        text = shlex.join(("kubectl", *self.arguments))
        return f"echo {shlex.quote(self.piped)} | {text}" if self.piped else text


Commands = tuple[KubectlCommand, ...]


def all_writes(commands: Commands) -> tuple[Write, ...]:
    """The writes of commands that are run one after another; none where one of them has none: half would be wrong."""
    found = [command.writes for command in commands]
    return tuple(write for each in found for write in each) if all(found) else ()
