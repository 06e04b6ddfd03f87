"""Streams into pods as people use them: real kubectl enters, copies, forwards, attaches, debugs and proxies."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from mooring.nodes.process.machine_info import machine_info
from tests.cli.embedded import eventually, up
from tests.external.kubectl import Kubectl
from tests.nodes.process.home import needs_sandbox
from tests.nodes.process.test_kubectl import kubectl_of, pod, processes, shell

pytestmark = [pytest.mark.slow, needs_sandbox]

PORT = 18474
SIMULATED = "is simulated, and nothing is really run there"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """A pod that reads its stdin, one that serves a page with a service before it, and one on a simulated node."""
    folder = tmp_path_factory.mktemp("up")
    site = tmp_path_factory.mktemp("site")
    (site / "index.html").write_text("hello\n")
    (site / "long").write_bytes(b"0123456789abcdef" * 200_000)
    with up(folder, "--ephemeral") as running:
        running.says(f"This machine is node {machine_info().name}")
        kubectl = kubectl_of(running, folder)
        reading = "while read x; do echo got $x; done; sleep 1000"
        serving = {
            "name": "main",
            "image": "x",
            "command": ["python3", "-m", "http.server", str(PORT), "-d", str(site)],
        }
        served = pod("site", {**serving, "ports": [{"containerPort": PORT}]})
        served["metadata"]["labels"] = {"app": "site"}
        spec = {"selector": {"app": "site"}, "ports": [{"name": "http", "port": 80, "targetPort": PORT}]}
        kubectl.apply(
            pod("web", shell(reading, stdin=True)),
            served,
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "site"}, "spec": spec},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shadow"}, "spec": {"containers": [shell("x")]}},
        )
        kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=30s")
        yield kubectl
        # A stream that is open does not keep it from stopping.
        staying = kubectl.start("exec", "web", "--", "sh", "-c", "echo up; sleep 1000")
        assert staying.stdout is not None
        assert staying.stdout.readline() == "up\n"
        began = time.monotonic()
        assert running.stop() == 0
        assert time.monotonic() - began < 20
        assert staying.wait(10) != 0
        staying.communicate()


@contextmanager
def going(kubectl: Kubectl, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on until it is ended here."""
    process = kubectl.start(*arguments)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def in_terminal(kubectl: Kubectl, steps: list[tuple[bytes, bytes]], *arguments: str) -> int:
    """Run kubectl in a terminal: whenever a text has come, the next line is typed. Its exit code."""
    environment = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig)}
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execve(kubectl.program, kubectl.command(*arguments), environment)
    shown, end = b"", time.monotonic() + 20
    for expected, line in steps:
        while expected not in shown:
            assert time.monotonic() < end, shown
            if select.select([descriptor], [], [], 0.1)[0]:
                shown += os.read(descriptor, 4096)
        shown = b""
        os.write(descriptor, line)
    while True:
        try:
            shown += os.read(descriptor, 4096)
        except OSError:
            break
    os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_a_command_gives_its_output_its_exit_code_and_takes_stdin(cluster: Kubectl, websockets: str) -> None:
    way = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": websockets}
    done = cluster.run("exec", "web", "--", "sh", "-c", "hostname; echo bad >&2; exit 3", environment=way)
    assert (done.returncode, done.stdout) == (3, "web\n")
    assert done.stderr == "bad\ncommand terminated with exit code 3\n"
    assert cluster("exec", "-i", "web", "--", "tr", "a-z", "A-Z", stdin="text\n", environment=way) == "TEXT\n"


def test_a_shell_has_a_terminal(cluster: Kubectl) -> None:
    steps = [(b"# ", b"stty size; tty\n"), (b"/dev/pts/", b"exit 5\n")]
    assert in_terminal(cluster, steps, "exec", "-it", "web", "--", "sh") == 5


def test_what_cannot_be_entered_is_said_at_once(cluster: Kubectl) -> None:
    assert SIMULATED in cluster.fails("exec", "shadow", "--", "ls")
    assert SIMULATED in cluster.fails("attach", "shadow")
    assert SIMULATED in cluster.fails("port-forward", "pod/shadow", ":80")
    assert SIMULATED in cluster.fails("debug", "-i", "shadow", "--image=x", "--profile=general", "--", "ls")
    assert SIMULATED in cluster.fails("get", "--raw", "/api/v1/namespaces/default/pods/shadow:80/proxy/")
    assert "container nobody is not valid for pod web" in cluster.fails("exec", "web", "-c", "nobody", "--", "ls")
    assert '"no-such-command"' in cluster.fails("exec", "web", "--", "no-such-command")


def test_files_are_copied_both_ways(cluster: Kubectl, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_bytes(os.urandom(300_000))
    inside = f"/tmp/{tmp_path.name}-{os.getpid()}"
    cluster("cp", str(before), f"web:{inside}")
    try:
        cluster("cp", f"web:{inside}", str(after))
        assert after.read_bytes() == before.read_bytes()
    finally:
        cluster("exec", "web", "--", "rm", inside)


def test_an_attached_client_reads_and_writes(cluster: Kubectl) -> None:
    with subprocess.Popen(
        cluster.command("attach", "-i", "web"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        text=True,
    ) as attached:
        assert attached.stdin is not None
        assert attached.stdout is not None
        attached.stdin.write("one\n")
        attached.stdin.flush()
        assert attached.stdout.readline() == "got one\n"
        attached.terminate()


def fetched(port: int, path: str = "") -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=20) as answer:
        found: bytes = answer.read()
    return found


@pytest.mark.parametrize("target", [f"pod/site {PORT}", "service/site 80"])
def test_ports_are_forwarded_for_several_connections_at_once(cluster: Kubectl, target: str) -> None:
    name, _, port = target.partition(" ")
    with going(cluster, "port-forward", name, f":{port}") as forwarding:
        assert forwarding.stdout is not None
        found = re.search(r"127\.0\.0\.1:(\d+) ->", forwarding.stdout.readline())
        assert found is not None
        local = int(found[1])
        with ThreadPoolExecutor(3) as clients:
            long = [clients.submit(fetched, local, "long") for _ in range(2)]
            assert fetched(local) == b"hello\n"
            assert [len(each.result()) for each in long] == [3_200_000] * 2


def test_pods_and_services_are_proxied(cluster: Kubectl) -> None:
    base = "/api/v1/namespaces/default"
    assert cluster("get", "--raw", f"{base}/pods/site/proxy/") == "hello\n"
    assert cluster("get", "--raw", f"{base}/services/http:site:http/proxy/index.html") == "hello\n"
    assert cluster("get", "--raw", f"/api/v1/nodes/{machine_info().name}/proxy/healthz") == "ok"


def test_a_container_is_added_to_debug_a_running_one(cluster: Kubectl) -> None:
    more = ("--image=x", "--profile=general")
    # Without a command it is a shell; with a target it sees that container's processes.
    steps = [(b"pressing enter", b"\n"), (b"# ", b"ps ax\n"), (b"while read x", b"exit 3\n")]
    in_terminal(cluster, steps, "debug", "-it", "web", "-c", "looking", "--target=main", *more)
    code = "jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}"
    eventually(lambda: cluster("get", "pod", "web", "-o", code) == "3", "it has ended")
    cluster("debug", "web", "-c", "apart", *more, "--", "sh", "-c", "echo looking around; exec sleep 1005.5")
    eventually(lambda: cluster.run("logs", "web", "-c", "apart").stdout == "looking around\n", "it has spoken")
    assert cluster("exec", "web", "-c", "apart", "--", "hostname") == "web\n"
    assert cluster("get", "pod", "web", "--no-headers").split()[1:3] == ["1/1", "Running"]
    assert processes("1005.5")
