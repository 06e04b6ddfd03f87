"""What users do on a real control plane beside which `mooring run` runs as a service account: all that it needs rights
for.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mooring.features.hosts.api.names import AGENT, API_VERSION, UNREGISTERING
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.conditions import has_condition
from mooring.testing.groups import leader_worker_set
from mooring.testing.hosts import byo_host
from mooring.testing.workspaces import workspace
from tests.e2e.account_run import RBAC, AccountRun
from tests.e2e.test_groups import Place
from tests.realnode.pools import cluster_objects, pool_objects

WORKSPACES = "/apis/kaito.sh/v1beta1/namespaces/{}/workspaces"


def groups_and_workspaces(running: AccountRun) -> None:
    """A set comes, rolls to a new revision, shrinks and loses a worker; a Workspace comes and goes."""
    place = Place(running.api, "enough")
    place.create(leader_worker_set(replicas=2, size=2))
    place.wait(place.available)
    container = {"name": "main", "image": "registry.example.com/serve:2"}
    place.change({"spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [container]}}}}})
    place.wait(place.available)
    place.change({"spec": {"replicas": 1}})
    place.wait(lambda: place.available() and sorted(place.pods()) == ["serve-0", "serve-0-1"])
    before = place.pods()["serve-0"]["metadata"]["uid"]
    place.api.delete(f"{place.path('Pod')}/serve-0-1")
    place.wait(lambda: place.pods().get("serve-0", {}).get("metadata", {}).get("uid", before) != before)
    place.wait(place.available)
    serve_a_workspace(place)
    place.wait(lambda: has_condition(workspace_in(place), "WorkspaceSucceeded"))
    assert place.api.delete(f"{WORKSPACES.format(place.name)}/llm").code == 200
    place.wait(lambda: workspace_in(place) is None)


def serve_a_workspace(place: Place) -> None:
    """One whose configuration the webhook reads by name."""
    config = {"metadata": {"name": "arguments"}, "data": {"inference_config.yaml": "vllm: {}"}}
    assert place.api.post(f"/api/v1/namespaces/{place.name}/configmaps", config).code == 201
    made = workspace(labels={}, namespace=place.name, inference={"config": "arguments"})
    answer = place.api.post(WORKSPACES.format(place.name), made)
    assert answer.code == 201, answer.body


def workspace_in(place: Place) -> Object | None:
    answer = place.api.get(f"{WORKSPACES.format(place.name)}/llm")
    return answer.body if answer.code == 200 else None


def hosts_and_pools(running: AccountRun) -> None:
    """A pool claims a host whose agent is played here, and lets it go.

    The agent's Role is among it: an account may give away only rights that it has itself.
    """
    place = Place(running.api, "default-hosts")
    host = byo_host("node10", namespace=place.name, labels={"purpose": "worker"}, annotations={AGENT: "1"})
    for obj in (*cluster_objects(running.home), *pool_objects("workers", 1, "worker")):
        plural = f"{obj['kind'].lower()}s"
        path = f"/apis/{obj['apiVersion']}/namespaces/{place.name}/{plural}"
        answer = running.api.post(path, obj)
        assert answer.code == 201, answer.body
    hosts = f"/apis/{API_VERSION}/namespaces/{place.name}/byohosts"
    assert running.api.post(hosts, host).code == 201
    own, role = f"{hosts}/node10", f"{RBAC}/namespaces/{place.name}/roles/byoh-host-node10"

    def told(**status: Any) -> None:
        beat = {"lastHeartbeatTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), **status}
        assert running.api.patch(f"{own}/status", "merge", {"status": beat}).code == 200

    told()
    place.wait(lambda: "secrets" in str(running.api.get(role).body))
    joined = node("node10")
    joined["spec"]["providerID"] = "byoh://node10"
    assert running.api.post("/api/v1/nodes", joined).code == 201
    told(
        conditions=[
            {"type": "K8sNodeBootstrapSucceeded", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        ]
    )
    machines = f"/apis/cluster.x-k8s.io/v1beta2/namespaces/{place.name}"
    place.wait(
        lambda: "node10" in str(running.api.get(f"{machines}/machines").body["items"][0]["status"].get("nodeRef"))
    )
    pool = f"{machines}/machinedeployments/workers"
    assert running.api.patch(pool, "merge", {"spec": {"replicas": 0}}).code == 200
    place.wait(lambda: UNREGISTERING in running.api.get(own).body["metadata"]["annotations"])
    clean = {"type": "HostClean", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    told(machineRef=None, conditions=[clean])
    place.wait(lambda: not running.api.get(f"{machines}/machines").body["items"])
    place.wait(lambda: running.api.get("/api/v1/nodes/node10").code == 404)
