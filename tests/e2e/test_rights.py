"""`mooring run` on a real control plane with the rights of config/rbac and no others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import NamedTuple

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.features.groups.kinds import GROUP_REVISION
from mooring.kube.objects import Object
from mooring.testing.conditions import has_condition
from mooring.testing.controlplane import ControlPlane, write_kubeconfig
from mooring.testing.fixtures import missing
from mooring.testing.groups import leader_worker_set
from mooring.testing.http import Api
from mooring.testing.processes import free_port
from mooring.testing.tools import ToolMissing, tool
from scripts.crds import KUSTOMIZATION
from tests.e2e.account_run import RBAC, USER, AccountRun, Run, account_token, audited_plane
from tests.e2e.account_stories import groups_and_workspaces, hosts_and_pools, serve_a_workspace, workspace_in
from tests.e2e.test_groups import Place
from tests.external.kubectl import Kubectl


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


class ExternalRun(AccountRun):
    """`mooring run` with what config/ has, as kubectl applies it."""

    def __init__(self, plane: ControlPlane, api: Api) -> None:
        kubectl = Kubectl(tool("kubectl"), plane.kubeconfig, plane.folder, "mooring-system")
        kubectl("apply", "--server-side", "-k", str(KUSTOMIZATION.parent))
        self._kubeconfig = plane.folder / "running.kubeconfig"
        write_kubeconfig(self._kubeconfig, "running", plane.url, plane.ca, account_token(api, "mooring"))
        config = yaml.safe_load(self._kubeconfig.read_text(encoding="utf-8"))
        config["contexts"][0]["context"]["namespace"] = "mooring-system"
        self._kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
        super().__init__(plane, api, self._command("--webhook-url", f"https://127.0.0.1:{free_port()}"))

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mooring", "run", "--kubeconfig", str(self._kubeconfig), *arguments]

    @contextmanager
    def another(self, health: str) -> Iterator[Run]:
        """A second process with the controllers alone, which tells its health at an address."""
        names = ",".join(each.name for each in CATALOG.controllers(CATALOG.external))
        command = self._command("--controllers", names, "--no-leader-elect", "--health", health)
        other = Run(command, self.plane.folder / "another.log")
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
    try:
        with audited_plane(tmp_path_factory.mktemp("rights")) as (plane, api):
            running = ExternalRun(plane, api)
            try:
                yield running
            finally:
                running.process.stop()
    except ToolMissing as error:
        missing(error)


@pytest.mark.slow
def test_what_is_declared_is_enough(running: ExternalRun) -> None:
    groups_and_workspaces(running)
    assert running.refused() == []
    assert running.says("may not") == []


@pytest.mark.slow
def test_what_hosts_and_pools_declare_is_enough(running: ExternalRun) -> None:
    hosts_and_pools(running)
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
