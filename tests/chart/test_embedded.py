"""charts/mooring on the embedded cluster, whose own controllers make pods of its Deployment on simulated nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.builders import node
from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED, Home, whole
from mooring.testing.tools import ToolMissing, tool
from scripts.chart.files import CHART
from tests.chart.helm import NAMESPACE, RELEASE, Helm
from tests.cli.embedded import eventually

pytestmark = pytest.mark.slow
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    try:
        tool("helm")
    except ToolMissing as error:
        missing(error)
    with whole(EMBEDDED, tmp_path, [node("n0")]) as running:
        yield running


def test_helm_installs_upgrades_and_takes_it_away_on_the_embedded_cluster(home: Home) -> None:
    """Definitions and the roles of hosts are there already, and pods that only seem to run could serve no webhooks."""
    helm, off = Helm(home.folder, home.kubeconfig), {"enabled": False}
    chosen = {"crds": off, "webhooks": off, "controllers": ["lws", "lws-groups"]}
    values = helm.values(chosen)
    waiting = ("-n", NAMESPACE, "--wait", "--timeout", "60s")
    said = helm.run("install", RELEASE, CHART, "--create-namespace", *waiting, *values)
    assert f"runs in {NAMESPACE}: lws, lws-groups\n" in said
    assert "Webhooks are off" in said
    with home.api() as api:
        assert api.get(f"{DEPLOYMENTS}/mooring").body["status"]["readyReplicas"] == 2
        values = helm.values({**chosen, "replicas": 1})
        helm.run("upgrade", RELEASE, CHART, *waiting, *values)
        assert api.get(f"{DEPLOYMENTS}/mooring").body["status"]["replicas"] == 1
        helm.run("uninstall", RELEASE, "-n", NAMESPACE)
        assert api.get(f"{DEPLOYMENTS}/mooring").code == 404
        assert api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/mooring:lws").code == 404
        eventually(lambda: not api.get(f"/api/v1/namespaces/{NAMESPACE}/pods").body["items"] or None, "no pods")
