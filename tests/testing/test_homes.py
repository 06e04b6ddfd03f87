"""Both homes of the `cluster` fixture are whole: what is applied there is carried out by controllers."""

from __future__ import annotations

import time

import pytest

from mooring.testing.homes import Home
from mooring.testing.http import Api

SECONDS = 60
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "registry.example/app:1"}]},
        },
    },
}


@pytest.mark.slow
def test_a_deployment_gets_its_pods_in_both_homes(cluster: Home) -> None:
    with cluster.api() as api:
        assert api.post("/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT).code == 201
        deadline = time.monotonic() + SECONDS
        while len(pods(api)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert len(pods(api)) == 2


def pods(api: Api) -> list[object]:
    return list(api.get("/api/v1/namespaces/default/pods", labelSelector="app=web").body["items"])
