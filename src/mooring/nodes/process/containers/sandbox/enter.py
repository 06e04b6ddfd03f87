"""Run as a program by root: enters the namespaces of a container, gives up all rights that it has not, runs a command.

Not nsenter and setpriv one after the other: the second would be started inside of the container with all rights of the
node, by a loader that reads what root in the container has written to /etc/ld.so.preload. Here nothing is loaded
between the entry and the command.

Imports only what every Python has; it is started by path, without the packages of this project.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

__all__ = ["main", "words"]

_NAMESPACES = ("ipc", "uts", "pid", "mnt")
_PR_SET_KEEPCAPS, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 8, 24, 38, 47
_PR_CAP_AMBIENT_RAISE, _PR_CAP_AMBIENT_CLEAR_ALL = 2, 4
_CAPABILITY_VERSION_3 = 0x20080522
_UNCHANGED = -1
_NOT_EXECUTABLE, _NOT_FOUND, _NO_ENTRY = 126, 127, 125


def words(
    pid: int,
    folder: str,
    *,
    user: int | None,
    group: int | None,
    groups: list[int] | None,
    capabilities: int,
    kept: int,
    limits: list[str],
    command: list[str],
) -> list[str]:
    """The command line of this program. `capabilities` and `kept` are masks; `groups` is None to leave them.

    `limits` are the files of control groups that the command enters. This program itself does not: its memory is not
    the container's.
    """
    ids = (_UNCHANGED if each is None else each for each in (user, group))
    listed = "-" if groups is None else ",".join(map(str, groups))
    given = [str(pid), folder, *map(str, ids), listed, str(capabilities), str(kept), str(len(limits)), *limits]
    return [sys.executable, "-I", "-S", __file__, *given, "--", *command]


def main(arguments: list[str]) -> int:
    pid, folder, user, group, listed, capabilities, kept, count = arguments[:8]
    limits, command = arguments[8 : 8 + int(count)], arguments[9 + int(count) :]
    libc = ctypes.CDLL(None, use_errno=True)
    setns, prctl, capset = libc.setns, libc.prctl, libc.capset
    descriptors = [os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _NAMESPACES]
    groups = [os.open(path, os.O_WRONLY | os.O_CLOEXEC) for path in limits]
    for descriptor in descriptors:
        if setns(descriptor, 0):
            return _NO_ENTRY
    # A process stays in its own numbering; only its children are in the new one.
    child = os.fork()
    if child:
        # A key that is typed is for the command.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)
        return _ended(os.waitpid(child, 0)[1])
    try:
        for descriptor in groups:
            os.write(descriptor, b"0")
        # Python ignores the first two, nohup and shells in the background the others; a command would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(folder)
        _give_up(prctl, capset, int(user), int(group), listed, int(capabilities), int(kept))
        os.execvp(command[0], command)
    except FileNotFoundError:
        os.write(2, f'command "{command[0]}" cannot be run: there is no such file in the container\n'.encode())
        os._exit(_NOT_FOUND)
    except BaseException as error:
        os.write(2, f'command "{command[0]}" cannot be run: {error}\n'.encode())
        os._exit(_NOT_EXECUTABLE)


def _ended(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


def _give_up(prctl, capset, user: int, group: int, listed: str, capabilities: int, kept: int) -> None:  # type: ignore[no-untyped-def]
    """Raises OSError when anything that has to go would stay."""
    for number in range(64):
        if not capabilities >> number & 1 and prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) and number < 41:
            _fail("a capability cannot be dropped")
    if listed != "-":
        os.setgroups([int(each) for each in listed.split(",") if each])
    if group != _UNCHANGED:
        os.setresgid(group, group, group)
    if user > 0:
        prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
        held = kept
    else:
        held, kept = capabilities, 0
    if user != _UNCHANGED:
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    low, high = held & 0xFFFFFFFF, held >> 32
    data = (ctypes.c_uint32 * 6)(low, low, kept & 0xFFFFFFFF, high, high, kept >> 32)
    if capset(ctypes.byref(header), ctypes.byref(data)):
        _fail("capabilities cannot be set")
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for number in range(41):
        if kept >> number & 1:
            prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, number, 0, 0)
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        _fail("new rights cannot be ruled out")


def _fail(what: str) -> None:
    raise OSError(ctypes.get_errno(), what)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
