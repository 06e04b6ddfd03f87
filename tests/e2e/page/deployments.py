"""Deployments that hold GPUs, for whoever looks at the page."""

from __future__ import annotations

from typing import Any

__all__ = ["SERVING", "deployment"]

SERVING = "/apis/apps/v1/namespaces/serving/deployments"


def deployment(name: str, gpus: int, replicas: int = 1, **pod: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "example/server:1", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    spec = {"containers": [container], "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}], **pod}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }
