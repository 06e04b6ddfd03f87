"""The server as a process: TLS, signals, restarts, and what it says when it cannot start."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from mooring.apiserver.authentication.token_file import add_token, put_token, remove_token
from mooring.net.certificates import Certificates, ensure_certificates
from mooring.supervisor.readiness import is_alive
from tests.apiserver.world import CONFIGMAPS
from tests.registry.world import config

PATIENCE = 60


class Home:
    """What a server is started with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tokens = folder / "tokens"
        self.token = put_token(self.tokens, "admin", ["system:masters"])
        self.certificates: Certificates | None = None

    def secure(self) -> None:
        self.certificates = ensure_certificates(self.folder / "pki", ["127.0.0.1"], now=datetime.now(UTC))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "mooring.apiserver", "--tokens", str(self.tokens), *arguments]
        if self.certificates is not None:
            command += ["--certificate", str(self.certificates.certificate), "--key", str(self.certificates.key)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
        process = self.start(*arguments)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("listening on ").strip()
            assert address, process.communicate()
            with self.client(address) as client:
                assert client.get("/readyz").text == "ok"
                yield process, client
        finally:
            process.kill()
            process.communicate()

    def client(self, address: str, token: str = "") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if self.certificates is None:
            return httpx2.Client(base_url=f"http://{address}", headers=headers, timeout=PATIENCE)
        trusted = ssl.create_default_context(cafile=self.certificates.authority)
        return httpx2.Client(base_url=f"https://{address}", headers=headers, verify=trusted, timeout=PATIENCE)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_signal_ends_watches_cleanly_and_the_process_with_zero(home: Home) -> None:
    home.secure()
    for number in (signal.SIGTERM, signal.SIGINT):
        with home.running() as (process, client), client.stream("GET", f"{CONFIGMAPS}?watch=true") as answer:
            lines = answer.iter_lines()
            assert client.post(CONFIGMAPS, json=config("c")).status_code == 201
            while json.loads(next(lines))["object"]["metadata"]["name"] != "c":
                pass
            process.send_signal(number)
            assert list(lines) == []
            assert process.wait(PATIENCE) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""


def test_a_revoked_token_ends_what_it_has_open_and_takes_its_role_along(home: Home) -> None:
    home.secure()
    binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/mooring:token:ada"
    watch = f"{CONFIGMAPS}?watch=true&timeoutSeconds=5"
    with home.running() as (_, client):
        token = add_token(home.tokens, "ada", role="cluster-admin")
        with (
            home.client(client.base_url.netloc.decode(), token) as ada,
            ada.stream("GET", watch.replace("5", "60")) as answer,
            client.stream("GET", watch) as other,
        ):
            assert answer.status_code == 200
            assert client.get(binding).json()["roleRef"]["name"] == "cluster-admin"
            remove_token(home.tokens, "ada")
            began = time.monotonic()
            with suppress(httpx2.TransportError):
                list(answer.iter_lines())
            assert time.monotonic() - began < 3
            assert ada.get(CONFIGMAPS).status_code == 401
            assert client.get(binding).status_code == 404
            assert client.post(CONFIGMAPS, json=config("c")).status_code == 201
            assert any(json.loads(line)["object"]["metadata"]["name"] == "c" for line in other.iter_lines())


def test_only_the_authority_of_the_server_is_trusted_and_only_tls_is_spoken(home: Home) -> None:
    home.secure()
    with home.running() as (_, client):
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{client.base_url}/readyz")
        with pytest.raises(httpx2.TransportError):
            httpx2.get(str(client.base_url).replace("https", "http") + "/readyz")


def test_a_server_that_tells_strangers_nothing_is_alive(home: Home) -> None:
    home.secure()
    assert home.certificates is not None
    bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    with home.running() as (_, client):
        assert client.delete(f"{bindings}/system:public-info-viewer").status_code == 200
        assert client.get("/livez", headers={"Authorization": ""}).status_code == 403
        assert is_alive(str(client.base_url), home.certificates.authority)


def test_data_survive_the_process_and_history_does_not(home: Home) -> None:
    data = ("--data", str(home.folder / "data"))
    with home.running(*data) as (process, client):
        before = client.get(CONFIGMAPS).json()["metadata"]["resourceVersion"]
        made = client.post(CONFIGMAPS, json=config("c")).json()
        process.kill()
        process.wait(PATIENCE)
    with home.running(*data) as (_, client):
        assert client.get(f"{CONFIGMAPS}/c").json() == made
        assert client.get(CONFIGMAPS, params={"resourceVersion": before}).status_code == 200
        with client.stream("GET", CONFIGMAPS, params={"watch": "1", "resourceVersion": before}) as answer:
            [line] = list(answer.iter_lines())
        assert json.loads(line)["object"]["code"] == 410
        version = made["metadata"]["resourceVersion"]
        with client.stream("GET", CONFIGMAPS, params={"watch": "1", "resourceVersion": version}) as answer:
            client.post(CONFIGMAPS, json=config("d"))
            assert json.loads(next(answer.iter_lines()))["object"]["metadata"]["name"] == "d"


def test_without_a_folder_nothing_survives(home: Home) -> None:
    for _ in range(2):
        with home.running() as (_, client):
            assert client.post(CONFIGMAPS, json=config("c")).status_code == 201


def test_a_second_server_on_the_same_data_says_so_and_harms_nothing(home: Home) -> None:
    data = ("--data", str(home.folder / "data"))
    with home.running(*data) as (_, client):
        second = home.start(*data)
        _, said = second.communicate(timeout=PATIENCE)
        assert second.returncode == 1
        assert said.startswith("error: ")
        assert len(said.splitlines()) == 1
        assert client.post(CONFIGMAPS, json=config("c")).status_code == 201


def test_what_it_cannot_be_started_with_is_told_in_one_line(home: Home) -> None:
    for arguments in (
        ("--fd", "999"),
        ("--certificate", "/nowhere/server.crt", "--key", "/nowhere/server.key"),
        ("--data", "/proc/nowhere"),
    ):
        process = home.start(*arguments)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        assert said.startswith("error: "), said
        assert len(said.splitlines()) == 1, said
    home.tokens.unlink()
    process = home.start()
    assert process.communicate(timeout=PATIENCE)[1].startswith("error: ")
