"""`mooring run` on a real control plane with the rights of config/rbac and no others.

The API server also asks what OwnerReferencesPermissionEnforcement asks for, which some distributions have on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.client.rest_mapper import RestMapper
from mooring.features.groups.kinds import GROUP_REVISION
from mooring.features.hosts.api.names import AGENT, API_VERSION, UNREGISTERING
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.conditions import has_condition
from mooring.testing.controlplane import EXTRAS, ControlPlane, write_kubeconfig
from mooring.testing.fixtures import missing
from mooring.testing.groups import leader_worker_set
from mooring.testing.homes import GATES, home_in, simulated
from mooring.testing.hosts import byo_host
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import ToolMissing
from mooring.testing.workspaces import workspace
from scripts.rbac import FOLDER
from tests.e2e.test_groups import PATIENCE, Place
from tests.realnode.pools import cluster_objects, pool_objects

WORKSPACES = "/apis/kaito.sh/v1beta1/namespaces/{}/workspaces"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
USER = "system:serviceaccount:mooring-system:mooring"
# Every request of the service account, and how it was answered.
AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}],
}


class Right(NamedTuple):
    """A verb on a resource that only one of the roles grants."""

    group: str
    resource: str
    verb: str
    # The same as it is told.
    said: str


# One for each controller that a LeaderWorkerSet on simulated nodes cannot do without.
TAKEN = {
    "nodes": Right("", "pods/status", "patch", "patch pods/status"),
    "lws": Right("leaderworkerset.x-k8s.io", "leaderworkersets/status", "patch", "patch leaderworkersets/status"),
    "lws-groups": Right("", "pods/finalizers", "update", "update pods/finalizers"),
    "workspaces": Right("kaito.sh", "workspaces/status", "patch", "patch workspaces/status"),
}


# Reads that are taken from all roles at once, and the controllers that cannot do without the kind.
UNREAD = {
    Right("coordination.k8s.io", "leases", "list", "coordination.k8s.io/v1/Lease"): "nodes",
    Right(
        "policy", "poddisruptionbudgets", "watch", "policy/v1/PodDisruptionBudget"
    ): "lws, workspaces, notebook-validation",
    Right("apps", "controllerrevisions", "list", GROUP_REVISION.described): "lws, lws-groups",
}


class Run:
    """One `mooring run` and what it says."""

    def __init__(self, kubeconfig: Path, log: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "mooring", "run", "--kubeconfig", str(kubeconfig), *arguments]
        self.process = ProgramProcess(command, log)

    def says(self, text: str) -> list[Any]:
        lines = self.process.log.read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if text in line["message"]]


class ExternalRun(Run):
    """`mooring run` as the service account."""

    def __init__(self, plane: ControlPlane, api: Api) -> None:
        self.api, self._folder = api, plane.folder
        self.home = home_in(plane)
        for definition in CATALOG.definitions(CATALOG.external):
            self.apply(definition)
        # In the order in which kubectl reads them.
        for path in sorted(FOLDER.glob("*.yaml")):
            for obj in yaml.safe_load_all(path.read_text(encoding="utf-8")):
                self.apply(obj)
        account = "/api/v1/namespaces/mooring-system/serviceaccounts/mooring/token"
        token = api.post(account, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        self._kubeconfig = kubeconfig = plane.folder / "running.kubeconfig"
        write_kubeconfig(kubeconfig, "running", plane.url, plane.ca, token.body["status"]["token"])
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        config["contexts"][0]["context"]["namespace"] = "mooring-system"
        kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
        webhooks = f"https://127.0.0.1:{free_port()}"
        super().__init__(kubeconfig, plane.folder / "running.log", "--webhook-url", webhooks)
        self.process.wait_until(self._registered, PATIENCE)

    def apply(self, obj: Object) -> None:
        place = RestMapper().find(obj["apiVersion"], obj["kind"])
        assert place is not None
        path = place.object(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        answer = self.api.patch(path, "apply", obj, fieldManager="test", force="true")
        assert answer.code in (200, 201), answer.body

    def _registered(self) -> bool:
        path = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/mooring"
        return all(self.api.get(path.format(phase)).code == 200 for phase in ("mutating", "validating"))

    def refused(self) -> list[str]:
        """The requests that the API server did not allow."""
        lines = (self._folder / "audit.log").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        assert found, "nothing was audited"
        return [f"{each['verb']} {each['requestURI']}" for each in found if each["responseStatus"]["code"] == 403]

    @contextmanager
    def another(self, health: str) -> Iterator[Run]:
        """A second process with the controllers alone, which tells its health at an address."""
        names = ",".join(each.name for each in CATALOG.controllers(CATALOG.external))
        arguments = ("--controllers", names, "--no-leader-elect", "--health", health)
        other = Run(self._kubeconfig, self._folder / "another.log", *arguments)
        try:
            yield other
        finally:
            other.process.stop()

    def may(self, right: Right, namespace: str) -> bool:
        resource, _, subresource = right.resource.partition("/")
        asked = {"group": right.group, "resource": resource, "subresource": subresource, "verb": right.verb}
        review = {"spec": {"user": USER, "resourceAttributes": {**asked, "namespace": namespace}}}
        answer = self.api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer.body["status"]["allowed"])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExternalRun]:
    folder: Path = tmp_path_factory.mktemp("rights")
    (folder / "audit.yaml").write_text(yaml.safe_dump(AUDIT), encoding="utf-8")
    flags = [
        f"--audit-policy-file={folder / 'audit.yaml'}",
        f"--audit-log-path={folder / 'audit.log'}",
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ]
    try:
        with (
            ControlPlane(folder, EXTRAS, gates=GATES, flags=flags) as plane,
            Api(plane.url, plane.token, plane.ca) as api,
        ):
            for number in range(2):
                assert api.post("/api/v1/nodes", simulated(node(f"n{number}"))).code == 201
            running = ExternalRun(plane, api)
            try:
                yield running
            finally:
                running.process.stop()
    except ToolMissing as error:
        missing(error)


@pytest.mark.slow
def test_what_is_declared_is_enough(running: ExternalRun) -> None:
    """A set comes, rolls to a new revision, shrinks and loses a worker, a Workspace comes and goes, and nothing that is
    asked for is refused.
    """
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
    assert running.refused() == []
    assert running.says("may not") == []


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


@pytest.mark.slow
def test_what_hosts_and_pools_declare_is_enough(running: ExternalRun) -> None:
    """A pool claims a host whose agent is played here, and lets it go: nothing that is asked for is refused.

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
    assert running.refused() == []
    assert running.says("may not") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKEN)
def test_a_controller_says_which_right_it_lacks_and_the_others_go_on(running: ExternalRun, name: str) -> None:
    right, place = TAKEN[name], Place(running.api, f"without-{name}")
    path = f"{RBAC}/clusterroles/mooring:{name}"
    role = running.api.get(path).body
    rules = without(role["rules"], right)
    assert rules != role["rules"]
    assert running.api.patch(path, "merge", {"rules": rules}).code == 200
    place.wait(lambda: not running.may(right, place.name))
    try:
        place.create(leader_worker_set(replicas=1, size=2))
        serve_a_workspace(place)
        said = f"controller {name} may not {right.said} in namespace {place.name}; config/rbac grants it"
        place.wait(lambda: bool(running.says(said)))
        assert {line["controller"] for line in running.says(f"in namespace {place.name};")} == {name}
        if name == "workspaces":
            place.wait(place.available)
            assert "status" not in (workspace_in(place) or {})
        else:
            assert place.conditions().get("Available") != "True"
        if name != "nodes":
            container = {"name": "main", "image": "registry.example.com/serve:1"}
            place.create({"kind": "Pod", "metadata": {"name": "alone"}, "spec": {"containers": [container]}})
            place.wait(lambda: place.pods()["alone"]["status"].get("phase") == "Running")
        else:
            place.wait(lambda: {"serve-0", "serve-0-1"} <= place.pods().keys())
    finally:
        assert running.api.patch(path, "merge", {"rules": role["rules"]}).code == 200
    place.wait(place.available)
    place.wait(lambda: has_condition(workspace_in(place), "WorkspaceSucceeded"))


@pytest.mark.slow
def test_a_kind_that_may_not_be_read_is_named_with_the_controllers_that_need_it(running: ExternalRun) -> None:
    """A process that starts without some rights to read is not ready, says why, and goes on when it gets them."""
    roles = f"{RBAC}/clusterroles"
    before = [running.api.get(f"{roles}/mooring:{each.name}").body for each in CATALOG.controllers(CATALOG.external)]
    for role in before:
        rules = role["rules"]
        for right in UNREAD:
            rules = without(rules, right)
        if rules != role["rules"]:
            assert running.api.patch(f"{roles}/{role['metadata']['name']}", "merge", {"rules": rules}).code == 200
    place = Place(running.api, "unread")
    place.wait(lambda: not any(running.may(right, place.name) for right in UNREAD))
    address = f"127.0.0.1:{free_port()}"
    with running.another(address) as other, Api(f"http://{address}") as health:
        try:
            place.wait(lambda: all(other.says(f"{right.said} cannot be read") for right in UNREAD))
            for right, controllers in UNREAD.items():
                line = other.says(f"{right.said} cannot be read")[0]
                assert line["message"].endswith(f"({controllers} cannot do without)")
                assert f'cannot {right.verb} resource "{right.resource}"' in line["message"]
            place.wait(lambda: all(right.said in health.get("/readyz").body for right in UNREAD))
            assert health.get("/readyz").code == 503
        finally:
            for role in before:
                body = {"rules": role["rules"]}
                assert running.api.patch(f"{roles}/{role['metadata']['name']}", "merge", body).code == 200
        place.wait(lambda: health.get("/readyz").code == 200)


def without(rules: list[Object], right: Right) -> list[Object]:
    """The rules with one verb on one resource taken away."""
    left = []
    for rule in deepcopy(rules):
        if rule["apiGroups"] == [right.group] and right.resource in rule["resources"] and right.verb in rule["verbs"]:
            rule["resources"].remove(right.resource)
            rest = [verb for verb in rule["verbs"] if verb != right.verb]
            if rest:
                left.append({**rule, "resources": [right.resource], "verbs": rest})
        if rule["resources"]:
            left.append(rule)
    return left
