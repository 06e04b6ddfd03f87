"""A copy of setpriv that a container can run but not change: it takes rights away before the container's command runs.

The program runs inside the sandbox while it still has the rights that it is about to drop, so neither it nor a library
of it may come from files, variables or a PATH that the pod chose.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["PLACE", "WORDS", "is_trusted_variable", "setpriv_files"]

# Where a sandbox has it: a mount of its own, which root in the container can neither change nor move away.
PLACE: Final = "/.mooring"
WORDS: Final = (f"{PLACE}/loader", "--library-path", PLACE, f"{PLACE}/setpriv")
_LIBRARY: Final = re.compile(r"^\s*(\S+) => (/\S+) \(0x", re.MULTILINE)
_LOADER: Final = re.compile(r"^\s*(/\S+) \(0x", re.MULTILINE)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
# What the loader, the C library and shells obey, and so must not reach a program that has more rights than the pod.
_OBEYED: Final = re.compile(
    r"LD_|GLIBC_|MALLOC_|BASH|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF"
    r"|RES_OPTIONS|TMPDIR|TZDIR|ENV$|IFS$|PS4$|SHELLOPTS|POSIXLY_CORRECT"
).match


def is_trusted_variable(name: str) -> bool:
    """Whether programs that take rights away may run with this variable."""
    return _NAME(name) is not None and _OBEYED(name) is None


@cache
def setpriv_files() -> tuple[tuple[str, str], ...]:
    """The program, its loader and its libraries, each with its place in a sandbox; empty where that is not known."""
    program = shutil.which("setpriv")
    if program is None:
        return ()
    try:
        told = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    loader = next((match for match in _LOADER.findall(told)), None)
    if loader is None:
        return ()
    libraries = [(path, f"{PLACE}/{name.rpartition('/')[2]}") for name, path in _LIBRARY.findall(told)]
    files = [(program, f"{PLACE}/setpriv"), (loader, f"{PLACE}/loader"), *libraries]
    return tuple((str(Path(source).resolve()), target) for source, target in files)
