"""The process node as people use it: `mooring up`, real kubectl, and everything killed in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.containers.sandbox.machine_view import sandbox_problem
from mooring.nodes.process.machine_info import machine_info
from tests.cli.embedded import Up, eventually, up
from tests.external.conftest import required
from tests.external.kubectl import Kubectl
from tests.nodes.process.home import needs_sandbox

pytestmark = [pytest.mark.slow, needs_sandbox]


TOLERATION = {"key": "mooring.dev/process", "operator": "Exists"}


def pod(name: str, *containers: Object, **spec: Any) -> Object:
    """A pod that may run on this machine, and on no other node."""
    here = {"kubernetes.io/hostname": machine_info().name}
    body = {"containers": list(containers), "tolerations": [TOLERATION], "nodeSelector": here}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {**body, **spec}}


def shell(script: str, name: str = "main", **more: Any) -> Object:
    return {"name": name, "image": "busybox", "command": ["sh", "-c", script], **more}


def kubectl_of(running: Up, folder: Path) -> Kubectl:
    return Kubectl(required("kubectl"), running.kubeconfig, folder / "cache")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("up")
    with up(folder, "--ephemeral") as running:
        told = running.says(f"This machine is node {machine_info().name}")
        problem = sandbox_problem()
        assert told.endswith(f", because {problem}." if problem else " run on it as processes.")
        yield kubectl_of(running, folder)
        assert running.stop() == 0


def status(kubectl: Kubectl, name: str) -> Object:
    found: Object = json.loads(kubectl("get", "pod", name, "-o", "json"))["status"]
    return found


def reason(kubectl: Kubectl, name: str) -> str:
    return kubectl("get", "pods", name, "--no-headers").split()[2]


def processes(word: str) -> list[str]:
    listed = subprocess.run(["ps", "-ww", "-eo", "args="], capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if word in line and "ps -ww" not in line]


def test_the_node_is_ready_and_keeps_away_who_does_not_tolerate_it(cluster: Kubectl) -> None:
    name = machine_info().name
    cluster("wait", "--for=condition=Ready", f"node/{name}", "--timeout=30s")
    assert "mooring.dev/process=true:NoSchedule" in cluster("describe", "node", name)
    intolerant = pod("intolerant", shell("sleep 100"), tolerations=[])
    cluster.apply(intolerant)
    eventually(lambda: "untolerated taint" in cluster("describe", "pod", "intolerant"), "it is not placed")


def test_logs_in_all_ways(cluster: Kubectl) -> None:
    script = "for i in 1 2 3; do echo line $i; done; echo last; sleep 1000"
    cluster.apply(pod("talk", shell(script), shell("echo other; sleep 1000", "other")))
    cluster("wait", "--for=condition=Ready", "pod/talk", "--timeout=30s")
    eventually(lambda: "last" in cluster("logs", "talk", "-c", "main"), "it has spoken")
    assert cluster("logs", "talk", "-c", "main", "--tail=2") == "line 3\nlast\n"
    assert cluster("logs", "talk", "-c", "main", "--limit-bytes=4") == "line"
    assert cluster("logs", "talk", "-c", "main", "--since=1h").count("\n") == 4
    assert cluster("logs", "talk", "-c", "main", "--since-time=2100-01-01T00:00:00Z") == ""
    assert cluster("logs", "talk", "-c", "main", "--timestamps", "--tail=1").split()[0].endswith("Z")
    assert "other" in cluster("logs", "talk", "--all-containers")
    assert "container nobody is not valid for pod talk" in cluster.fails("logs", "talk", "-c", "nobody")
    assert 'previous terminated container "main" in pod "talk" not found' in cluster.fails(
        "logs", "talk", "-c", "main", "-p"
    )


def test_a_log_is_followed_to_the_end_of_a_pod_that_is_deleted(cluster: Kubectl) -> None:
    cluster.apply(pod("polite", shell("trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.05; done")))
    cluster("wait", "--for=condition=Ready", "pod/polite", "--timeout=30s")
    eventually(lambda: "up" in cluster("logs", "polite"), "it is up")
    following = cluster.start("logs", "-f", "polite")
    try:
        assert following.stdout is not None
        assert following.stdout.readline() == "up\n"
        cluster("delete", "pod", "polite", "--timeout=30s")
        assert following.stdout.read() == "bye\n"
        assert following.wait(10) == 0
    finally:
        following.kill()
        following.communicate()


def test_a_pod_that_crashes_backs_off_and_shows_its_last_log(cluster: Kubectl) -> None:
    cluster.apply(pod("crash", shell("echo run; exit 3")))
    eventually(lambda: reason(cluster, "crash") == "CrashLoopBackOff", "it backs off")
    assert cluster("logs", "crash", "--previous") == "run\n"
    found = status(cluster, "crash")["containerStatuses"][0]
    assert found["lastState"]["terminated"]["exitCode"] == 3
    assert found["restartCount"] >= 1
    assert "Back-off restarting failed container main" in cluster("describe", "pod", "crash")


def test_a_command_that_does_not_exist(cluster: Kubectl) -> None:
    cluster.apply(pod("bad", {"name": "main", "image": "x", "command": ["no-such-command"]}, restartPolicy="Never"))
    eventually(lambda: reason(cluster, "bad") == "StartError", "it has failed")
    ended = status(cluster, "bad")["containerStatuses"][0]["state"]["terminated"]
    assert ended["exitCode"] == 128
    assert ended["message"].startswith('command "no-such-command" cannot be run: no executable file of this name')


def test_a_deployment_serves_and_is_probed(cluster: Kubectl) -> None:
    probe = {"httpGet": {"path": "/", "port": 18473}, "periodSeconds": 1}
    server = {
        "name": "main",
        "image": "x",
        "command": ["python3", "-m", "http.server", "18473"],
        "readinessProbe": probe,
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", server)["spec"]}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    cluster.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    cluster("rollout", "status", "deployment/web", "--timeout=60s")
    cluster("delete", "deployment", "web")
    eventually(lambda: not processes("http.server 18473"), "the server is stopped")


def test_pods_on_simulated_nodes_say_that_they_have_no_logs(cluster: Kubectl) -> None:
    cluster.apply(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shadow"}, "spec": {"containers": [shell("x")]}}
    )
    cluster("wait", "--for=condition=Ready", "pod/shadow", "--timeout=30s")
    assert "is simulated, and nothing is really run there" in cluster.fails("logs", "shadow")


def test_nothing_outlives_the_node_and_pods_come_back(tmp_path: Path) -> None:
    word = f"{os.getpid()}.77"
    with up(tmp_path) as running:
        kubectl = kubectl_of(running, tmp_path)
        running.says("This machine is node")
        kubectl.apply(pod("web", shell(f"echo up; setsid sleep 1{word} & exec sleep 2{word}")))
        kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=30s")
        assert processes(word)

        os.kill(running.child("process_node"), signal.SIGKILL)
        running.says("The process node was killed by SIGKILL; starting it again.")
        eventually(lambda: _restarts(kubectl) == 1, "the pod is restarted")

        os.kill(running.process.pid, signal.SIGKILL)
        eventually(lambda: not processes(word), "nothing is left")
    with up(tmp_path) as running:
        kubectl = kubectl_of(running, tmp_path)
        eventually(lambda: _restarts(kubectl) == 2, "the pod is restarted")
        eventually(lambda: kubectl("logs", "web") == "up\n", "its log is new")
        assert processes(word)
        began = time.monotonic()
        assert running.stop() == 0
        assert time.monotonic() - began < 20
        assert not processes(word)


def _restarts(kubectl: Kubectl) -> int:
    found = status(kubectl, "web")["containerStatuses"][0]
    return int(found["restartCount"]) if "running" in found["state"] else 0


def test_the_example_of_the_documentation_runs(cluster: Kubectl) -> None:
    page = (Path(__file__).parents[3] / "docs" / "process-node.md").read_text(encoding="utf-8")
    cluster("apply", "-f", "-", stdin=page.partition("```yaml\n")[2].partition("```")[0])
    cluster("wait", "--for=condition=Ready", "pod/hello", "--timeout=30s")
    said = f"Good morning from {machine_info().name}\nGood morning\n"
    eventually(lambda: cluster("logs", "hello") == said, "it has said so")
