"""DaemonSets with kubectl: rolled out, updated, looked back on and undone."""

from __future__ import annotations

from typing import Any

from tests.external.kubectl import Kubectl


def daemon_set(image: str = "agent:1") -> dict[str, Any]:
    labels = {"app": "agent"}
    spec = {
        "selector": {"matchLabels": labels},
        # All at once, because what is tested is not how long it takes.
        "updateStrategy": {"rollingUpdate": {"maxUnavailable": "100%"}},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "agent", "image": image}]}},
    }
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}


def images(kubectl: Kubectl) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in kubectl.get("pods")["items"]}


def test_a_daemon_set_is_rolled_out_updated_and_undone(kubectl: Kubectl) -> None:
    kubectl.apply(daemon_set())
    assert "successfully rolled out" in kubectl("rollout", "status", "ds/agent", "--timeout=50s")
    nodes = [pod["spec"]["nodeName"] for pod in kubectl.get("pods")["items"]]
    assert len(nodes) == len(set(nodes)) > 1
    kubectl("set", "image", "ds/agent", "agent=agent:2")
    kubectl("rollout", "status", "ds/agent", "--timeout=50s")
    assert images(kubectl) == {"agent:2"}
    history = kubectl("rollout", "history", "ds/agent")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["1", "2"]
    kubectl("rollout", "undo", "ds/agent")
    kubectl("rollout", "status", "ds/agent", "--timeout=50s")
    assert images(kubectl) == {"agent:1"}
    assert "Created pod: agent-" in kubectl("describe", "ds", "agent")


def test_a_daemon_set_is_deleted_with_its_pods(newest: Kubectl) -> None:
    newest.apply(daemon_set())
    newest("rollout", "status", "ds/agent", "--timeout=50s")
    newest("delete", "ds", "agent", "--cascade=foreground", "--timeout=30s")
    assert newest.get("pods")["items"] == []
    assert newest.get("controllerrevisions")["items"] == []
