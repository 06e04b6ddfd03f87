"""Git repositories on this machine and servers for them on the loopback address: git daemon, smart HTTP, SSH.

Each is the real program: `git daemon`, `git http-backend` behind a small HTTP server, `sshd`.
"""

from __future__ import annotations

import base64
import os
import pwd
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest

from mooring.testing.processes import ProgramProcess, free_port

READY_SECONDS: Final = 20.0
_SSHD: Final = "/usr/sbin/sshd"
AUTHOR: Final = {
    **{f"GIT_{who}_NAME": "Test" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "test@example.com" for who in ("AUTHOR", "COMMITTER")},
}


class GitRepository:
    """A repository in `root`, where the servers find it by its name."""

    def __init__(self, root: Path, name: str) -> None:
        self.path = root / name
        self.path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**os.environ, **AUTHOR},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | bytes], *, branch: str = "", tag: str = "") -> str:
        """Commit these files on top of what is there, and give the commit's number."""
        if branch:
            self.git("checkout", "-q", "-B", branch)
        for path, content in files.items():
            place = self.path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Change")
        if tag:
            self.git("tag", "-a", "-m", tag, tag)
        return self.git("rev-parse", "HEAD")


@contextmanager
def git_daemon(root: Path, log: Path) -> Iterator[str]:
    """`git daemon` over all repositories in `root`; yields the start of their URLs."""
    port = free_port()
    command = ["git", "daemon", "--reuseaddr", "--export-all", "--listen=127.0.0.1", f"--port={port}"]
    process = ProgramProcess([*command, f"--base-path={root}", str(root)], log)
    try:
        process.wait_until(lambda: _answers(port), READY_SECONDS)
        yield f"git://127.0.0.1:{port}"
    finally:
        process.stop()


@dataclass
class HttpGitServer:
    """`seen` are the Authorization headers of all requests. With `redirect`, everybody who is let in is sent there.

    `stalls` has requests hang until the server ends; `plain` gives out files instead of speaking git's protocol.
    """

    root: Path
    username: str = ""
    password: str = ""
    redirect: str = ""
    stalls: bool = False
    plain: bool = False
    url: str = ""
    seen: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def authorization(self) -> str:
        return "Basic " + base64.b64encode(f"{self.username}:{self.password}".encode()).decode()


@contextmanager
def http_git_server(server: HttpGitServer) -> Iterator[HttpGitServer]:
    class Handler(_GitHandler):
        settings = server

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = False
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        listener.shutdown()
        thread.join()
        listener.server_close()


class _GitHandler(BaseHTTPRequestHandler):
    settings: HttpGitServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        given = self.headers.get("Authorization", "")
        self.settings.seen.append(given)
        if self.settings.stalls:
            self.settings.ended.wait()
        elif self.settings.username and given != self.settings.authorization:
            self._answer(401, [("WWW-Authenticate", 'Basic realm="git"')], f"you sent {given}".encode())
        elif self.settings.redirect:
            self._answer(302, [("Location", self.settings.redirect + self.path)])
        elif self.settings.plain:
            path = self.settings.root / self.path.partition("?")[0].lstrip("/")
            self._answer(200, [], path.read_bytes()) if path.is_file() else self._answer(404, [])
        else:
            self._answer(*self._backend())

    def _backend(self) -> tuple[int, list[tuple[str, str]], bytes]:
        """What `git http-backend` answers, as a CGI program does."""
        path, _, query = self.path.partition("?")
        length = self.headers.get("Content-Length") or "0"
        variables = {
            "GIT_PROJECT_ROOT": str(self.settings.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": length,
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        body = self.rfile.read(int(length))
        done = subprocess.run(
            ["git", "http-backend"], input=body, env={**os.environ, **variables}, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [
            (name, text.strip()) for name, _, text in (line.partition(":") for line in head.decode().split("\r\n"))
        ]
        code = next((int(text.split()[0]) for name, text in fields if name == "Status"), 200)
        return code, [each for each in fields if each[0] != "Status"], content

    def _answer(self, code: int, fields: list[tuple[str, str]], content: bytes = b"") -> None:
        self.send_response(code)
        for name, text in fields:
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        """Nothing: the tests look at what clients see."""


@dataclass(frozen=True)
class SshGitServer:
    """`url` is the start of URLs, up to the root of this machine; `known_hosts` has the server's key."""

    url: str
    private_key: str
    known_hosts: str


def ssh_server_problem() -> str:
    """Why this machine cannot serve SSH; empty if it can."""
    if not Path(_SSHD).exists():
        return "sshd is not installed (on Debian and Ubuntu: apt install openssh-server)"
    return "" if shutil.which("ssh") else "ssh is not installed (on Debian and Ubuntu: apt install openssh-client)"


# In CI a missing sshd is a failure, not an excuse.
needs_sshd = pytest.mark.skipif(
    bool(ssh_server_problem()) and not os.environ.get("CI"), reason=ssh_server_problem() or "there is an sshd"
)


@contextmanager
def ssh_git_server(folder: Path) -> Iterator[SshGitServer]:
    """An sshd with keys of its own in `folder`, for the user who runs this."""
    folder.mkdir(parents=True, exist_ok=True)
    port, user = free_port(), pwd.getpwuid(os.geteuid()).pw_name
    for name in ("host", "client"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(words, check=True, capture_output=True)
    settings = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {folder / 'host'}",
        f"AuthorizedKeysFile {folder / 'client.pub'}",
        f"PidFile {folder / 'pid'}",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "PermitRootLogin yes",
        # Nothing of the machine's own settings: only repositories are read.
        "PermitTTY no",
        "AllowTcpForwarding no",
    ]
    (folder / "config").write_text("\n".join(settings) + "\n")
    if os.geteuid() == 0:
        # Where the package keeps the root of its unprivileged process; a boot would make it.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    process = ProgramProcess([_SSHD, "-D", "-e", "-f", str(folder / "config")], folder / "log")
    try:
        process.wait_until(lambda: _answers(port), READY_SECONDS)
        host = " ".join((folder / "host.pub").read_text().split()[:2])
        yield SshGitServer(
            url=f"ssh://{user}@127.0.0.1:{port}",
            private_key=(folder / "client").read_text(),
            known_hosts=f"[127.0.0.1]:{port} {host}\n",
        )
    finally:
        process.stop()


def _answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
