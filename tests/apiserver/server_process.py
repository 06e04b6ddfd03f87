"""The server as a process of its own on one data folder, to be killed and limited."""

from __future__ import annotations

import http.client
import json
import resource
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from mooring.apiserver.authentication.token_file import put_token
from mooring.apiserver.authentication.users import MASTERS
from mooring.kube.objects import Object

__all__ = ["MAPS", "Server"]

MAPS = "/api/v1/namespaces/default/configmaps"


class Server:
    """The server process on one data folder; started, killed, and started again. `prefix` is what it runs under."""

    def __init__(self, folder: Path, data: Path | None = None, prefix: tuple[str, ...] = ()) -> None:
        self._tokens, self.data = folder / "tokens", data or folder / "data"
        self.prefix = prefix
        self._token = put_token(self._tokens, "test", [MASTERS])
        self._process: subprocess.Popen[str] | None = None
        self._port = 0

    def launch(self, *arguments: str) -> None:
        """Start the process, which may or may not serve."""
        program = (sys.executable, "-m", "mooring.apiserver", "--tokens", str(self._tokens), "--data", str(self.data))
        command = (*self.prefix, *program, *arguments)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)

    def start(self, *arguments: str, same_port: bool = False) -> None:
        self.launch(*arguments, *(("--port", str(self._port)) if same_port else ()))
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), line
        self._port = int(line.rpartition(":")[2])
        give_up = time.monotonic() + 30
        while True:
            try:
                with closing(self.connect()) as connection:
                    self.ask(connection, "GET", "/readyz")
                return
            except ConnectionError:
                if self._process.poll() is not None:
                    raise AssertionError(self._process.communicate()[1]) from None
                assert time.monotonic() < give_up, "the server does not answer"
                time.sleep(0.01)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def limit_files(self, size: int) -> None:
        """No file of the process may become larger than this."""
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()
        self._process = None

    def end(self) -> tuple[int, str]:
        """Wait for the server to end by itself: its exit code, and what it said last."""
        assert self._process is not None
        _, errors = self._process.communicate(timeout=30)
        code = self._process.returncode
        self._process = None
        return code, errors

    def close(self) -> None:
        if self._process is not None:
            self.kill()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}

    def ask(self, connection: http.client.HTTPConnection, method: str, path: str, obj: Object | None = None) -> Object:
        connection.request(method, path, None if obj is None else json.dumps(obj), self.headers())
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        found: Object = json.loads(text) if text.startswith(b"{") else {}
        return found

    def post(self, connection: http.client.HTTPConnection, name: str, text: str = "") -> tuple[int, Object]:
        """Create a ConfigMap: the code and the body of the answer."""
        body = json.dumps({"metadata": {"name": name}, "data": {"text": text}})
        connection.request("POST", MAPS, body, self.headers())
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def revisions(self, connection: http.client.HTTPConnection) -> dict[str, str]:
        """The resourceVersion of every ConfigMap by its name."""
        listed = self.ask(connection, "GET", MAPS)
        return {obj["metadata"]["name"]: obj["metadata"]["resourceVersion"] for obj in listed["items"]}
