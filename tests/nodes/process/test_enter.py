"""The program that enters a container, against a small model of the kernel: nothing of it is run on this machine."""

from __future__ import annotations

import ctypes
import signal
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from mooring.nodes.process.containers.sandbox import enter
from tests.support.recordings import Draw

_ALL = (1 << 41) - 1
_SET_KEEPCAPS, _CAPBSET_DROP, _NO_NEW_PRIVS, _AMBIENT, _RAISE, _CLEAR_ALL = 8, 24, 38, 47, 2, 4


class _Ended(BaseException):
    """The program ends here, by a call from which nothing comes back."""


class Kernel:
    """A process of root as capabilities(7) has it. `fails` names the call that does not work."""

    def __init__(self, *, child: bool, fails: str = "", status: int = 0) -> None:
        self.child, self.fails, self.status = child, fails, status
        self.trace: list[tuple[Any, ...]] = []
        self.bounding, self.permitted, self.effective = _ALL, _ALL, _ALL
        self.inherited, self.ambient = 0, 1 << 3
        self.keeps = self.closed = False
        self.ids, self.groups = [0, 0], [4, 20]
        self.namespaces: list[str] = []
        self.entered: list[str] = []
        self.handlers: dict[int, Any] = {signal.SIGPIPE: signal.SIG_IGN, signal.SIGHUP: signal.SIG_IGN}
        self.folder, self.said, self.files = "/", b"", dict[int, str]()
        self.command: list[str] = []
        self.os = SimpleNamespace(
            O_RDONLY=0, O_WRONLY=1, O_CLOEXEC=1 << 19, open=self._open, fork=self._fork, waitpid=self._wait,
            write=self._write, chdir=self._chdir, execvp=self._exec, _exit=self._exit, setgroups=self._setgroups,
            setresgid=lambda *ids: self._become(1, ids), setresuid=lambda *ids: self._become(0, ids),
            kill=lambda pid, number: self.trace.append(("kill", pid, number)), getpid=lambda: 77,
            waitstatus_to_exitcode=lambda status: status,
        )  # fmt: skip
        libc = SimpleNamespace(setns=self._setns, prctl=self._prctl, capset=self._capset)
        self.ctypes = SimpleNamespace(
            CDLL=lambda name, use_errno: libc, c_uint32=ctypes.c_uint32, byref=lambda array: array, get_errno=lambda: 1
        )
        names = ("SIG_IGN", "SIG_DFL", "SIGINT", "SIGQUIT", "SIGPIPE", "SIGXFSZ", "SIGHUP", "SIGKILL")
        self.signal = SimpleNamespace(
            signal=self.handlers.__setitem__, **{name: getattr(signal, name) for name in names}
        )

    def run(self, words: list[str]) -> int | None:
        """What the program returns; None where it ended in between."""
        with patch.multiple(enter, os=self.os, ctypes=self.ctypes, signal=self.signal):
            try:
                return enter.main(words[words.index(enter.__file__) + 1 :])
            except _Ended:
                return None

    def rights(self) -> int:
        """What the command has after exec, which has no capabilities of its own."""
        if self.ids[0] == 0:
            return (self.inherited | self.bounding) & (self.permitted if self.closed else _ALL)
        return self.ambient

    def _open(self, path: str, flags: int) -> int:
        assert flags == (1 << 19 | (0 if path.startswith("/proc") else 1)), "a command inherits nothing"
        self.files[10 + len(self.files)] = path
        return 9 + len(self.files)

    def _setns(self, descriptor: int, kind: int) -> int:
        assert kind == 0
        if self.fails == "setns" and len(self.namespaces) == 2:
            return -1
        self.namespaces.append(self.files[descriptor])
        return 0

    def _fork(self) -> int:
        return 0 if self.child else 78

    def _wait(self, pid: int, options: int) -> tuple[int, int]:
        assert (pid, options) == (78, 0)
        ignored = [self.handlers.get(number) for number in (signal.SIGINT, signal.SIGQUIT)]
        assert ignored == [signal.SIG_IGN] * 2, "a key that is typed is for the command"
        return pid, self.status

    def _write(self, descriptor: int, data: bytes) -> None:
        if descriptor == 2:
            # After a command nothing comes back, not even the exception that stands for that.
            self.said += b"" if self.command else data
        else:
            assert data == b"0"
            self.entered.append(self.files[descriptor])

    def _chdir(self, folder: str) -> None:
        if self.fails == "chdir":
            raise NotADirectoryError(20, "Not a directory")
        self.folder = folder

    def _become(self, which: int, ids: tuple[int, ...]) -> None:
        assert ids == (ids[0],) * 3
        assert ids[0] >= 0
        self.ids[which] = ids[0]
        if which == 0 and ids[0]:
            self.effective, self.ambient = 0, 0
            self.permitted = self.permitted if self.keeps else 0

    def _setgroups(self, groups: list[int]) -> None:
        assert self.ids == [0, 0]
        self.groups = groups

    def _prctl(self, what: int, one: int, two: int, *rest: int) -> int:
        assert rest == (0, 0)
        known = one < 41
        if what == _SET_KEEPCAPS:
            self.keeps = one == 1
        elif what == _CAPBSET_DROP:
            if not known or (self.fails == "drop" and one == 40):
                return -1
            self.bounding &= ~(1 << one)
        elif (what, one) == (_AMBIENT, _CLEAR_ALL):
            self.ambient = 0
        elif (what, one) == (_AMBIENT, _RAISE):
            assert self.permitted & self.inherited & 1 << two, "only what is held and inherited can be raised"
            self.ambient |= 1 << two
        else:
            assert (what, one, two) == (_NO_NEW_PRIVS, 1, 0)
            self.closed = self.fails != "privileges"
            return 0 if self.closed else -1
        return 0

    def _capset(self, header: Any, data: Any) -> int:
        assert list(header) == [0x20080522, 0]
        effective, permitted, inherited = (data[each] | data[each + 3] << 32 for each in range(3))
        assert (
            effective & ~permitted == permitted & ~self.permitted == inherited & ~(self.permitted | self.bounding) == 0
        )
        self.effective, self.permitted, self.inherited = effective, permitted, inherited
        self.ambient &= permitted & inherited
        return -1 if self.fails == "capset" else 0

    def _exec(self, name: str, command: list[str]) -> None:
        assert name == command[0]
        if self.fails == "absent":
            raise FileNotFoundError(2, "No such file or directory")
        self.command = command
        raise _Ended

    def _exit(self, code: int) -> None:
        self.trace.append(("exit", code))
        raise _Ended


def _drawn(draw: Draw) -> dict[str, Any]:
    capabilities = sum({1 << draw.below(41) for _ in range(draw.below(20))})
    return {
        "user": draw.one((None, 0, 7, 1000)),
        "group": draw.one((None, 0, 8)),
        "groups": draw.one((None, [], [5], [3, 5])),
        "capabilities": capabilities,
        "kept": capabilities & sum({1 << draw.below(41) for _ in range(draw.below(60))}),
        "limits": draw.some(("/cgroup/memory", "/cgroup/pids")),
        "command": draw.one((["sh"], ["sh", "-c", "--", "echo 1"], ["--", "x"])),
    }


def test_a_command_has_the_rights_of_its_container_and_no_others() -> None:
    for number in range(200):
        asked, case = _drawn(Draw(f"enter {number}")), f"case {number}"
        kernel = Kernel(child=True)
        assert kernel.run(enter.words(42, "/work", **asked)) is None, case
        ids = [asked["user"] or 0, asked["group"] or 0]
        groups = [4, 20] if asked["groups"] is None else asked["groups"]
        assert (kernel.command, kernel.folder, kernel.said) == (asked["command"], "/work", b""), case
        assert (kernel.ids, kernel.groups, kernel.entered) == (ids, groups, asked["limits"]), case
        assert kernel.namespaces == [f"/proc/42/ns/{name}" for name in ("ipc", "uts", "pid", "mnt")], case
        assert (kernel.bounding, kernel.closed) == (asked["capabilities"], True), case
        assert kernel.rights() == (asked["kept"] if ids[0] else asked["capabilities"]), case
        assert kernel.effective == kernel.permitted == kernel.rights(), case
        numbers = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
        assert kernel.handlers == dict.fromkeys(numbers, signal.SIG_DFL), case


@pytest.mark.parametrize(
    ("fails", "code", "said"),
    [
        ("chdir", 126, "[Errno 20] Not a directory"),
        ("drop", 126, "[Errno 1] a capability cannot be dropped"),
        ("capset", 126, "[Errno 1] capabilities cannot be set"),
        ("privileges", 126, "[Errno 1] new rights cannot be ruled out"),
        ("absent", 127, "there is no such file in the container"),
    ],
)
def test_a_command_that_would_keep_rights_or_is_not_there_is_not_run(fails: str, code: int, said: str) -> None:
    kernel = Kernel(child=True, fails=fails)
    asked = {"user": 7, "group": 8, "groups": [], "capabilities": 1, "kept": 0, "limits": [], "command": ["sh"]}
    assert kernel.run(enter.words(42, "/", **asked)) is None  # type: ignore[arg-type]
    assert kernel.command == []
    assert kernel.trace == [("exit", code)]
    assert kernel.said == f'command "sh" cannot be run: {said}\n'.encode()


@pytest.mark.parametrize(
    ("status", "code", "killed"),
    [(0, 0, []), (3, 3, []), (255, 255, []), (-15, 143, [15]), (-9, 137, [9]), (-2, 130, [2])],
)
def test_who_waits_ends_as_the_command_did(status: int, code: int, killed: list[int]) -> None:
    kernel = Kernel(child=False, status=status)
    asked = {"user": 7, "group": 8, "groups": [], "capabilities": 1, "kept": 0, "limits": ["/c"], "command": ["sh"]}
    assert kernel.run(enter.words(42, "/", **asked)) == code  # type: ignore[arg-type]
    assert kernel.trace == [("kill", 77, number) for number in killed]
    assert (kernel.entered, kernel.ids, kernel.bounding) == ([], [0, 0], _ALL), "it is not the container's"
    if status < 0 and status != -signal.SIGKILL:
        assert kernel.handlers[-status] == signal.SIG_DFL


def test_a_namespace_that_cannot_be_entered_ends_it() -> None:
    kernel = Kernel(child=True, fails="setns")
    asked = {"user": 7, "group": 8, "groups": [], "capabilities": 1, "kept": 0, "limits": [], "command": ["sh"]}
    assert kernel.run(enter.words(42, "/", **asked)) == 125  # type: ignore[arg-type]
    assert (len(kernel.namespaces), kernel.command) == (2, [])
