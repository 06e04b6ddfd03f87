"""`mooring up` as a user has it: a process of its own, its output, its children, and a client with its kubeconfig."""

from __future__ import annotations

import contextlib
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from mooring.client.kubeconfig import find_access
from tests.support.small_disk import Disk

T = TypeVar("T")
PATIENCE = 30.0


def eventually(look: Callable[[], T | None], what: str, patience: float = PATIENCE) -> T:
    """What `look` finds, as soon as it finds something."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {patience:.0f} s: {what}")


class Up:
    """One `mooring up`. Its port is a free one unless the arguments say otherwise; `disk` is one that it alone has."""

    def __init__(self, folder: Path, *arguments: str, disk: Disk | None = None) -> None:
        self.folder, self._disk = folder, disk
        if "--bind" not in arguments:
            arguments = ("--bind", "127.0.0.1:0", *arguments)
        if "--ui-port" not in arguments:
            # A process that most tests do not look at.
            arguments = ("--no-ui", *arguments)
        self.process = subprocess.Popen(
            [*(disk.prefix if disk else ()), sys.executable, "-m", "mooring", "up", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    # What a user sees and does

    def says(self, text: str, patience: float = PATIENCE) -> str:
        """The line with this text, once it is there."""

        def look() -> str | None:
            found = next((line for line in list(self.lines) if text in line), None)
            if found is None and self.process.poll() is not None:
                self._reader.join()
                found = next((line for line in self.lines if text in line), None)
                assert found is not None, f"it ended with {self.process.returncode}: {self.output}"
            return found

        return eventually(look, f'"{text}" in: {self.output}', patience)

    def ready(self) -> Up:
        try:
            self.says("export KUBECONFIG=")
        except BaseException:
            # A fixture has nothing yet that it could stop.
            self.process.kill()
            self.process.wait()
            raise
        return self

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """The exit code, once there is one."""
        code = self.process.wait(PATIENCE)
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    # Its API

    @property
    def kubeconfig(self) -> Path:
        path = Path(self.says("export KUBECONFIG=").partition("=")[2])
        return self._disk.reached(path) if self._disk else path

    def client(self, token: str | None = None) -> httpx2.Client:
        access = find_access(self.kubeconfig)
        assert isinstance(access.tls, ssl.SSLContext)
        own = {name: str(value) for name, value in access.headers().items()}
        headers = own if token is None else {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=access.server, verify=access.tls, headers=headers, timeout=PATIENCE)

    def get(self, path: str, token: str | None = None, headers: Mapping[str, str] | None = None) -> Any:
        with self.client(token) as client:
            return client.get(path, headers=headers).json()

    def post(self, path: str, body: dict[str, Any]) -> int:
        with self.client() as client:
            return client.post(path, json=body).status_code

    def names(self, path: str) -> list[str]:
        return sorted(item["metadata"]["name"] for item in self.get(path)["items"])

    # Its processes

    def child(self, module: str) -> int:
        """The process that runs a module, once it is there."""
        return eventually(lambda: self._children().get(module), f"a process that runs {module}")

    def _children(self) -> dict[str, int]:
        found = {}
        for line in _ps("-ww", "-eo", "pid=,ppid=,args=").splitlines():
            pid, parent, command = line.split(None, 2)
            if int(parent) == self.process.pid and "mooring.supervisor." in command:
                found[command.rpartition("mooring.supervisor.")[2]] = int(pid)
        return found


def gone(pid: int) -> bool:
    """Whether a process has ended; a zombie counts."""
    state = _ps("-o", "stat=", "-p", str(pid)).strip()
    return not state or state.startswith("Z")


def _ps(*arguments: str) -> str:
    return subprocess.run(["ps", *arguments], capture_output=True, text=True, check=False).stdout


@contextlib.contextmanager
def up(folder: Path, *arguments: str, disk: Disk | None = None) -> Iterator[Up]:
    """A `mooring up` that is stopped at the end, however the test ends."""
    running = Up(folder, *arguments, disk=disk)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
        running._reader.join()
        if running.process.stdout is not None:
            running.process.stdout.close()
