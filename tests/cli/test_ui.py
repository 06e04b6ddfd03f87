"""The page and its REST API as a user starts them: beside `mooring up`, and for any cluster with `mooring ui`."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from mooring.net.certificates import Certificates
from tests.cli.embedded import Up, eventually, up
from tests.runway.rest.serving import RestClient


def page_of(line: str) -> tuple[str, str]:
    """The address and the token of a line that tells them."""
    url, _, token = line.rpartition(" ")[2].partition("#token=")
    return url.rstrip("/"), token


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("up"), "--ui-port", "0", "--controllers", "nodes") as found:
        yield found


@pytest.fixture(scope="module")
def client(running: Up) -> Iterator[RestClient]:
    url, token = page_of(running.says("page  http://127.0.0.1:"))
    found = RestClient(url, token)
    yield found
    found.close()


def test_the_printed_token_stands_for_the_administrator(running: Up, client: RestClient) -> None:
    session = client.get("/api/session")
    assert (session["username"], session["provider"], session["embedded"]) == ("mooring-admin", "mooring", True)
    running.says("5 nodes of the default fleet")
    assert len(client.get("/api/nodes")["nodes"]) == 5


def test_the_token_of_the_kubeconfig_is_passed_on(running: Up, client: RestClient) -> None:
    config = yaml.safe_load(running.kubeconfig.read_text())
    other = RestClient(client.url, config["users"][0]["user"]["token"])
    assert other.get("/api/session")["username"] == "mooring-admin"
    other.close()
    refused = RestClient(client.url, "nonsense")
    assert refused.ask("GET", "/api/nodes")[0] == 401
    refused.close()


def test_the_token_is_in_no_log(running: Up, client: RestClient) -> None:
    client.get("/api/nodes")
    token = client.headers["Authorization"].partition(" ")[2]
    logs = "".join(path.read_text() for path in (running.folder / ".mooring" / "logs").iterdir())
    assert token not in logs


def test_a_stream_outlives_the_api_server(running: Up, client: RestClient) -> None:
    """It is killed and comes back; what is created then is told on the same connection."""
    maps = "/api/v1/namespaces/default/events"
    with client.stream("events") as events:
        events.next()
        os.kill(running.child("server"), signal.SIGKILL)
        body = {
            "metadata": {"name": "again", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
            "message": "again",
        }
        running.says("The API server answers again.")
        assert running.post(maps, body) == 201
        events.until(lambda topic, data: data.get("object", {}).get("message") == "again")


def test_a_server_that_died_is_started_again_at_the_same_address(running: Up, client: RestClient) -> None:
    before = running.child("rest")
    os.kill(before, signal.SIGKILL)
    eventually(lambda: running.child("rest") != before, "another one is started")
    assert client.get("/api/health")["status"] == "healthy"
    assert client.get("/api/session")["username"] == "mooring-admin"


def test_the_page_is_served_and_allows_nothing_foreign(client: RestClient) -> None:
    import httpx2

    # An address within the page: whatever it shows there, it is the page.
    for path in ("", "/workloads/Deployment/serving/chat"):
        answer = httpx2.get(f"{client.url}{path}")
        assert answer.status_code == 200
        assert "Mooring" in answer.text
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "mooring", "up", "--bind", "127.0.0.1:0", "--ui-port", str(port)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert f"port {port} on 127.0.0.1 is in use" in done.stderr
    assert "--ui-port" in done.stderr


def test_no_page_and_a_port_for_it_contradict_each_other(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mooring", "up", "--no-ui", "--ui-port", "0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (1, "error: --ui-port and --no-ui cannot be given together\n")


# mooring ui


@contextmanager
def ui(folder: Path, *arguments: str) -> Iterator[list[str]]:
    """The lines that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mooring", "ui", "--port", "0", "--no-browser", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()), daemon=True)
    reader.start()
    try:
        eventually(lambda: any("page  http" in line for line in list(lines)) or process.poll() is not None, "it began")
        yield lines
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0, lines
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stdout.close()


def page_in(lines: list[str]) -> tuple[str, str]:
    return page_of(next(line.strip() for line in lines if "page  http" in line))


def test_it_serves_any_cluster_for_the_user_of_the_kubeconfig(running: Up, tmp_path: Path) -> None:
    with ui(tmp_path, "--kubeconfig", str(running.kubeconfig)) as lines:
        found = RestClient(*page_in(lines))
        assert found.get("/api/session")["username"] == "mooring-admin"
        assert found.get("/api/session")["embedded"] is True
        found.close()


def test_a_client_certificate_stands_for_its_user_alone(running: Up, tmp_path: Path) -> None:
    """Whoever sends another token is not taken for the holder of the certificate."""
    certificates = Certificates(running.folder / ".mooring" / "tls")
    config = yaml.safe_load(running.kubeconfig.read_text())
    data = {
        "client-certificate-data": certificates.kubelet_client_certificate,
        "client-key-data": certificates.kubelet_client_key,
    }
    config["users"][0]["user"] = {field: base64.b64encode(path.read_bytes()).decode() for field, path in data.items()}
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))
    with ui(tmp_path, "--kubeconfig", str(kubeconfig)) as lines:
        url, token = page_in(lines)
        own, stranger = RestClient(url, token), RestClient(url, "nonsense")
        assert own.get("/api/session")["username"] == "kube-apiserver-kubelet-client"
        assert stranger.ask("GET", "/api/session")[0] == 401
        own.close()
        stranger.close()


def test_others_than_this_machine_get_no_token(running: Up, tmp_path: Path) -> None:
    with ui(tmp_path, "--kubeconfig", str(running.kubeconfig), "--host", "0.0.0.0") as lines:
        url, token = page_in(lines)
        assert token == ""
        assert any("everybody needs a token" in line for line in lines)
        found = RestClient(url.replace("0.0.0.0", "127.0.0.1"), "")
        assert found.ask("GET", "/api/nodes")[0] == 401
        found.close()


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    config = {
        "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "a", "user": {}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    }
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "mooring", "ui", "--kubeconfig", str(kubeconfig), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
