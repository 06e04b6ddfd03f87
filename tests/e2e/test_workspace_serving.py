"""A Workspace that really serves: its pod runs on this machine, and a server of the standard library is the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mooring.nodes.process.machine_info import machine_info
from mooring.testing.processes import free_port
from tests.cli.embedded import Up, eventually, up
from tests.features.workspaces.objects import workspace
from tests.nodes.process.home import needs_sandbox
from tests.nodes.process.test_kubectl import TOLERATION, kubectl_of

pytestmark = [pytest.mark.slow, needs_sandbox]


def test_a_template_runs_on_the_node_that_was_labelled_and_answers(tmp_path: Path) -> None:
    port, site = free_port(), tmp_path / "site"
    site.mkdir()
    (site / "v1").write_text("hello from the model")
    (site / "metrics").write_text('vllm:num_requests_running{model_name="{chat}"} 3.0\n')
    container = {
        "name": "model",
        "image": "model",
        "command": ["python3", "-m", "http.server", str(port), "-d", str(site)],
        "ports": [{"containerPort": port}],
        "readinessProbe": {"httpGet": {"path": "/v1", "port": port}, "periodSeconds": 1},
    }
    made = workspace(image="model")
    made["inference"]["template"]["spec"] = {"containers": [container], "tolerations": [TOLERATION]}
    with up(tmp_path, "--ephemeral", "--ui-port", "0") as running:
        running.says(f"This machine is node {machine_info().name}")
        kubectl = kubectl_of(running, tmp_path)
        refused = kubectl.fails("apply", "-f", "-", stdin=json.dumps(made))
        assert "0 nodes match the label selector, 1 are required (count is 1)" in refused
        kubectl("label", "node", machine_info().name, "pool=gpu-a")
        kubectl.apply(made)
        kubectl("wait", "--for=condition=WorkspaceSucceeded", "workspace/chat", "--timeout=30s")
        path = f"/api/v1/namespaces/default/pods/chat-0:{port}/proxy/v1"
        assert kubectl("get", "--raw", path) == "hello from the model"
        assert _metrics(running) == [
            {"name": "vllm:num_requests_running", "value": 3.0, "labels": {"model_name": "{chat}", "pod": "chat-0"}}
        ]
        (row,) = kubectl("get", "workspaces", "--no-headers").splitlines()
        assert row.split()[1:6] == ["True", "True", "True", "1", "Ready"]
        kubectl("delete", "workspace", "chat")
        eventually(lambda: "chat-0" not in kubectl("get", "pods", "--no-headers"), "its pod goes with it")
        assert machine_info().name in kubectl("get", "nodes", "-l", "pool=gpu-a", "-o", "name")
        assert running.stop() == 0


def _metrics(running: Up) -> Any:
    """As the page asks."""
    root, _, token = running.says("page  ").partition("page")[2].strip().partition("/#token=")
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{root}/api/deployments/chat/metrics?namespace=default", headers=headers)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["available"], "error" in told) == (True, False), told
    return told["metrics"]
