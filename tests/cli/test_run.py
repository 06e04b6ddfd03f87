"""`mooring run`: controllers on an external cluster, and the warnings about conflicting controllers."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from click.testing import CliRunner, Result

from mooring.catalog import CATALOG
from mooring.cli.main import cli
from mooring.cli.run import listing
from mooring.net.certificates import ensure_certificates
from mooring.testing.conditions import has_condition
from mooring.testing.http import Api
from mooring.workloads.kinds import POD
from tests.apiserver.webhooks.foreign import foreign_webhook
from tests.cli.embedded import PATIENCE, eventually
from tests.cli.served import ServedCluster, served

SIMULATED = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "sim", "annotations": {"kwok.x-k8s.io/node": "fake"}},
}
OWN = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "own"}}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["run", *arguments])


class MooringRun:
    """The command in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mooring", "run", *arguments], stderr=subprocess.PIPE, text=True
        )
        self.lines: list[Any] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(json.loads(line) if line.startswith("{") else {"message": line})

    def says(self, text: str) -> str:
        def look() -> str | None:
            return next((line["message"] for line in list(self.lines) if text in line["message"]), None)

        return eventually(look, f"{text} in {self.lines}")

    def health(self, path: str) -> tuple[int, str]:
        address = self.says("health is served on ").removeprefix("health is served on ")
        try:
            with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def mooring_run(*arguments: str) -> Iterator[MooringRun]:
    running = MooringRun(*arguments)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()
        running._reader.join()
        assert running.process.stderr is not None
        running.process.stderr.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ServedCluster]:
    with served(tmp_path) as cluster:
        yield cluster


@pytest.fixture
def api(cluster: ServedCluster) -> Iterator[Api]:
    with Api(cluster.url) as api:
        yield api


def is_ready(api: Api, node: str) -> bool:
    return has_condition(api.get(f"/api/v1/nodes/{node}").body, "Ready")


# Choosing


def test_all_controllers_are_listed_with_a_line_each() -> None:
    result = invoke("--list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    names = [name for name in CATALOG.controller_names if name not in CATALOG.embedded_only]
    assert [line[2:].split()[0] for line in lines[: len(names)]] == names
    assert all(line.endswith(".") for line in lines[: len(names)])
    assert [line[2:].split()[0] for line in lines if line.startswith("*")][: len(CATALOG.external)] == list(
        CATALOG.external
    )


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (None, ["* nodes      Simulated nodes become ready, keep a Lease, and run pods."]),
        (56, ["* nodes      Simulated nodes become ready, keep a Lease,", "             and run pods."]),
        (44, ["* nodes", "    Simulated nodes become ready, keep a", "    Lease, and run pods."]),
    ],
)
def test_a_list_is_wrapped_beside_the_names_and_in_a_narrow_window_below_them(
    columns: int | None, expected: list[str]
) -> None:
    lines = {"nodes": "Simulated nodes become ready, keep a Lease, and run pods.", "scheduler": "Places."}
    assert list(listing(lines, ["nodes"], columns))[: len(expected)] == expected


def test_every_controller_is_known_by_name() -> None:
    assert [controller.name for controller in CATALOG.controllers()] == list(CATALOG.controller_names)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--controllers", "statfulset"), '--controllers: there is no controller "statfulset"; there are deployment, '),
        (("--controllers", "-*"), "--controllers -* leaves none; mooring run --list names them all"),
        (("--health", "nowhere"), '--health "nowhere" is not HOST:PORT'),
        (("--kubeconfig", "absent"), "absent: "),
        (("--leader-elect-lease-duration", "500ms"), "--leader-elect-lease-duration must be 1s or more"),
        (("--leader-elect-renew-deadline", "15s"), "--leader-elect-renew-deadline must be less than "),
        (("--leader-elect-retry-period", "9s"), "--leader-elect-retry-period must be more than 0 and, times 1.2, less"),
        (("--leader-elect-retry-period", "0s"), "--leader-elect-retry-period must be more than 0 and, times 1.2, less"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], problem: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {problem}")
    assert len(result.stderr.splitlines()) == 1


# Running


def test_simulated_nodes_come_alive_and_real_ones_are_left_alone(cluster: ServedCluster, api: Api) -> None:
    for node in (SIMULATED, OWN):
        assert api.post("/api/v1/nodes", node).code == 201
    before = api.get("/api/v1/nodes/own").body
    with mooring_run("--kubeconfig", cluster.kubeconfig(), "--health", "127.0.0.1:0") as running:
        running.says(" on http://")
        eventually(lambda: is_ready(api, "sim") or None, "a node that is ready")
        assert running.health("/readyz") == (200, "ok\n")
        assert "mooring_reconcile_total" in running.health("/metrics")[1]
        assert api.get("/api/v1/nodes/own").body == before
        lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/mooring"
        assert api.get(lease).body["spec"]["holderIdentity"]
        assert running.stop() == 0
        # Let go, so that the next one need not wait.
        assert not api.get(lease).body["spec"]["holderIdentity"]


def test_without_an_election_there_is_no_lease_and_ctrl_c_ends_it_too(cluster: ServedCluster, api: Api) -> None:
    assert api.post("/api/v1/nodes", SIMULATED).code == 201
    with mooring_run("--kubeconfig", cluster.kubeconfig(), "--no-leader-elect") as running:
        eventually(lambda: is_ready(api, "sim") or None, "a node that is ready")
        assert running.stop(signal.SIGINT) == 0
    assert api.get("/apis/coordination.k8s.io/v1/namespaces/default/leases/mooring").code == 404


def test_one_of_two_replicas_stands_by_and_is_well(cluster: ServedCluster, api: Api) -> None:
    arguments = ("--kubeconfig", cluster.kubeconfig(), "--health", "127.0.0.1:0")
    with mooring_run(*arguments) as first:
        first.says(" leads")
        with mooring_run(*arguments) as second:
            assert second.health("/readyz") == (200, "ok\n")
            assert not [line for line in second.lines if " leads" in line["message"]]
            assert first.stop() == 0
            second.says(" leads")
            assert second.stop() == 0


def test_rights_that_are_too_narrow_are_told_by_kind_and_verb(cluster: ServedCluster, api: Api) -> None:
    cluster.front.forbidden = {"pods"}
    arguments = ("--kubeconfig", cluster.kubeconfig(), "--no-leader-elect", "--health", "127.0.0.1:0")
    with mooring_run(*arguments) as running:
        said = running.says("v1/Pod cannot be read")
        needing = [each.name for each in CATALOG.controllers(CATALOG.external) if POD in each.kinds]
        assert needing[:3] == ["nodes", "lws", "lws-groups"]
        assert said == (
            "v1/Pod cannot be read: it may not be listed and watched: "
            f'pods is forbidden: User "ada" cannot list resource "pods" ({", ".join(needing)} cannot do without)'
        )
        code, text = running.health("/readyz")
        assert (code, "v1/Pod may not be listed and watched" in text) == (503, True)
        assert running.stop() == 0


def test_credentials_that_are_refused_end_it(cluster: ServedCluster) -> None:
    cluster.front.expired = True
    with mooring_run("--kubeconfig", cluster.kubeconfig()) as running:
        assert running.process.wait(30) == 1
        assert running.says("error: ").startswith(
            f"error: {cluster.url} does not accept these credentials (Unauthorized); they may have expired: "
        )
        assert len(running.lines) == 1


def kubeconfig(folder: Path, server: str, authority: bytes) -> str:
    """A file of JSON, which is YAML too."""
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(authority).decode()}
    config = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": {"token": "nonsense"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)


def test_a_server_of_another_authority_and_one_that_is_not_there_end_it(tmp_path: Path) -> None:
    other = ensure_certificates(tmp_path / "other", ("localhost",), now=datetime.now(UTC)).authority.read_bytes()
    with (
        foreign_webhook(tmp_path) as server,
        mooring_run("--kubeconfig", kubeconfig(tmp_path, server.url, other)) as running,
    ):
        assert running.process.wait(30) == 1
        assert running.says("error: ").startswith(
            f"error: {server.url} cannot be trusted: its certificate is signed by an unknown authority"
        )
        assert len(running.lines) == 1
    with mooring_run(
        "--kubeconfig", kubeconfig(tmp_path, "https://127.0.0.1:9", other), "--controllers", "nodes"
    ) as run:
        assert run.process.wait(30) == 1
        assert run.says("error: ").strip() == (
            "error: https://127.0.0.1:9 cannot be reached: connection refused; "
            "see that it runs and that the address in the kubeconfig is right"
        )
        assert len(run.lines) == 1


# Others who do the same


def test_it_does_not_start_beside_mooring_up_unless_it_is_named(cluster: ServedCluster, api: Api) -> None:
    """The bindings that `mooring up` writes for the controllers that it runs tell which these are."""
    labels = {"app.kubernetes.io/managed-by": "mooring-up"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"}
    for name in ("nodes", "lws", "job"):
        binding = {"metadata": {"name": f"mooring-up:{name}", "labels": labels}, "roleRef": role}
        assert api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding).code == 201
    arguments = ("--kubeconfig", cluster.kubeconfig(), "--no-leader-elect")
    with mooring_run(*arguments) as running:
        assert running.process.wait(30) == 1
        assert running.says("error: ") == (
            "error: mooring up runs nodes, lws in this cluster already; choose others with --controllers, "
            "or start it with mooring up --controllers -nodes,-lws\n"
        )
    with mooring_run(*arguments, "--controllers", "nodes") as running:
        assert running.says("mooring up runs nodes in this cluster already")
        assert running.stop() == 0


def test_a_built_in_controller_is_warned_about(cluster: ServedCluster, api: Api) -> None:
    with mooring_run(
        "--kubeconfig", cluster.kubeconfig(), "--no-leader-elect", "--controllers", "nodes,scheduler"
    ) as running:
        assert running.says("kube-scheduler") == (
            "where kube-scheduler runs, it does that work: scheduler; be sure that it does not run in this cluster"
        )
        assert running.stop() == 0


def test_one_that_is_at_work_already_is_named(cluster: ServedCluster, api: Api) -> None:
    renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "cp-1_x", "leaseDurationSeconds": 600, "renewTime": renewed}
    lease = {"metadata": {"name": "kube-controller-manager"}, "spec": spec}
    assert api.post("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease).code == 201
    with mooring_run(
        "--kubeconfig", cluster.kubeconfig(), "--no-leader-elect", "--controllers", "job,job-orphans"
    ) as running:
        assert running.says("kube-controller-manager") == (
            "kube-controller-manager runs in this cluster (cp-1_x) and does the work of job, job-orphans; "
            "the two will work against each other"
        )
        assert running.stop() == 0


def manager(name: str, namespace: str, replicas: int = 1) -> dict[str, Any]:
    labels = {"control-plane": name}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "manager", "image": "upstream"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pods}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_it_does_not_start_beside_the_controllers_of_cluster_api_unless_they_are_named(
    cluster: ServedCluster, api: Api
) -> None:
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    assert api.post(deployments, manager("capi-controller-manager", "default")).code == 201
    assert api.post(deployments, manager("byoh-controller-manager", "default", replicas=0)).code == 201
    said = (
        "Deployment default/capi-controller-manager runs in this cluster and does the work of cluster, "
        "machinedeployment, machineset, machine; leave them out with "
        "--controllers -cluster,-machinedeployment,-machineset,-machine"
    )
    arguments = ("--kubeconfig", cluster.kubeconfig(), "--no-leader-elect")
    with mooring_run(*arguments) as running:
        assert running.process.wait(30) == 1
        assert running.says("error: ") == f"error: {said}\n"
    with mooring_run(*arguments, "--controllers", "cluster,nodes") as running:
        assert running.says("does the work of cluster").startswith("Deployment default/capi-controller-manager")
        assert running.stop() == 0


def test_a_controller_with_a_lease_of_its_own_waits_for_it_and_the_others_go_on(
    cluster: ServedCluster, api: Api
) -> None:
    renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "upstream", "leaseDurationSeconds": 600, "renewTime": renewed}
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    assert api.post(leases, {"metadata": {"name": "cluster-autoscaler"}, "spec": spec}).code == 201
    assert api.post("/api/v1/nodes", SIMULATED).code == 201
    with mooring_run("--kubeconfig", cluster.kubeconfig(), "--controllers", "nodes,cluster-autoscaler") as running:
        eventually(lambda: is_ready(api, "sim") or None, "a node that is ready")
        assert [line["lease"] for line in running.lines if " leads" in line["message"]] == ["default/mooring"]
        assert running.stop() == 0
    assert api.get(f"{leases}/cluster-autoscaler").body["spec"]["holderIdentity"] == "upstream"
