"""Everything about a container that is about to run, and the command lines that follow from it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from mooring.nodes.process.containers.proc import MARK
from mooring.nodes.process.containers.sandbox import enter, trusted_setpriv
from mooring.nodes.process.containers.sandbox.capabilities import mask
from mooring.nodes.process.containers.sandbox.cgroups import ControlGroup
from mooring.nodes.process.containers.sandbox.command import Mount, Sandbox, inner_command, sandbox_arguments
from mooring.nodes.process.containers.sandbox.layers import Layer
from mooring.nodes.process.containers.sandbox.trusted_setpriv import is_trusted_variable
from mooring.nodes.process.logs import LogWriter

__all__ = ["ID", "Launch", "program"]

ID: Final = "MOORING_CONTAINER"


@dataclass(frozen=True)
class Launch:
    """`sandbox` is None where this machine has none. `memory` is the limit in bytes, kept by `group` if it has one."""

    id: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    hostname: str
    mark: str
    log: LogWriter
    sandbox: Sandbox | None = None
    layer: Layer | None = None
    group: ControlGroup | None = None
    user: int | None = None
    gid: int | None = None
    groups: Sequence[int] = field(default_factory=tuple)
    capabilities: frozenset[str] = frozenset()
    # The capabilities that stay with a user who is not root.
    kept: frozenset[str] = frozenset()
    memory: int | None = None
    # Whether clients may write to it, and whether its streams are a terminal.
    stdin: bool = False
    tty: bool = False

    @property
    def sandboxed(self) -> bool:
        return self.sandbox is not None

    @property
    def mounts(self) -> Sequence[Mount]:
        return () if self.sandbox is None else self.sandbox.mounts

    @property
    def watched_memory(self) -> int | None:
        """The limit that the node has to keep itself, because the kernel does not."""
        return None if self.group is not None and "memory" in self.group.folders else self.memory

    @property
    def plain_environment(self) -> dict[str, str]:
        """The variables that may be set before rights are taken away."""
        return {name: value for name, value in self.environment.items() if is_trusted_variable(name)}

    def outer_environment(self) -> dict[str, str]:
        """The environment of the process that the node starts; the marks find it again."""
        marks = {MARK: self.mark, ID: self.id}
        if self.sandboxed:
            return {"PATH": os.environ.get("PATH", os.defpath), **marks}
        return {**self.plain_environment, **marks}

    def words(self, arguments: int) -> list[str]:
        """The command line. `arguments` is the descriptor of a file with the arguments of bwrap."""
        if self.sandboxed:
            found = [program("bwrap"), "--args", str(arguments), "--", *self._inner(self.command)]
        else:
            # The last one: a change of user would clear the signal.
            found = self._inner([program("setpriv"), "--pdeathsig", "KILL", "--", *self.command])
        return found if self.group is None else self.group.wrapped(found)

    def words_beside(self, command: Sequence[str], first: int) -> list[str]:
        """A command beside the container, seeing what it sees and with its rights. `first` is its first process."""
        if not self.sandboxed:
            found = self._inner(command, limited=False)
        elif os.geteuid() == 0:
            plain = self.user is None and self.gid is None and not self.groups
            return enter.words(
                first,
                self.folder,
                user=self.user,
                # As at the start, who changes the user leaves the node's groups too.
                group=0 if self.gid is None and self.user is not None else self.gid,
                groups=None if plain else sorted(set(self.groups)),
                capabilities=mask(self.capabilities),
                kept=mask(self.kept),
                limits=[] if self.group is None else self.group.files,
                command=self._with_variables(command),
            )
        else:
            # Who is not root owns the container's user namespace and must enter it first.
            where = ["--target", str(first), "--mount", "--pid", "--uts", "--ipc", f"--wdns={self.folder}"]
            users = ["--user", "--preserve-credentials"]
            found = [program("nsenter"), *where, *users, "--", *self._inner(command, limited=False)]
        return found if self.group is None else self.group.wrapped(found)

    def sandbox_arguments(self, status: int, descriptors: Mapping[str, int]) -> list[str]:
        assert self.sandbox is not None
        return sandbox_arguments(
            self.sandbox,
            self.plain_environment,
            hostname=self.hostname,
            folder=self.folder,
            status_fd=status,
            capabilities=self.capabilities,
            descriptors=descriptors,
        )

    def release(self) -> None:
        """Remove what was made on this machine for this run; no process of it is left."""
        if self.group is not None:
            self.group.remove()
        if self.layer is not None:
            self.layer.remove()

    def _with_variables(self, command: Sequence[str]) -> list[str]:
        """The command with the variables that wait until rights are gone."""
        others = [f"{name}={value}" for name, value in self.environment.items() if not is_trusted_variable(name)]
        return ["/usr/bin/env", *others, *command] if others else list(command)

    def _inner(self, command: Sequence[str], *, limited: bool = True) -> list[str]:
        setpriv: Sequence[str] = ()
        if os.geteuid() == 0:
            setpriv = trusted_setpriv.WORDS if self.sandboxed else (program("setpriv"),)
        return inner_command(
            self._with_variables(command),
            setpriv=setpriv,
            user=self.user,
            group=self.gid,
            groups=self.groups,
            capabilities=self.capabilities,
            kept=self.kept,
            memory=self.watched_memory if limited else None,
        )


@cache
def program(name: str) -> str:
    """A program of this machine by its full path: the PATH of a pod is not asked for it."""
    return shutil.which(name) or name
