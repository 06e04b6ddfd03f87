"""`mooring up` as a user types it: it starts, says where it is, can be used at once, and stops when told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.kube.errors import MooringError
from mooring.testing.conditions import has_condition
from tests.cli.embedded import Up, eventually, up

NODES = "/api/v1/nodes"
MAPS = "/api/v1/namespaces/default/configmaps"


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def create_map(running: Up, name: str) -> None:
    assert running.post(MAPS, {"metadata": {"name": name}}) == 201


def mooring(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mooring", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def test_it_says_where_the_api_is_and_the_kubeconfig_works(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        url = running.says("Mooring is ready. The API is at https://127.0.0.1:").rpartition(" ")[2]
        assert running.says("export KUBECONFIG=").strip() == f"export KUBECONFIG={tmp_path}/.mooring/kubeconfig"
        assert url in running.kubeconfig.read_text()
        assert "default" in running.names("/api/v1/namespaces")
        assert running.stop() == 0


def test_the_default_fleet_becomes_ready_and_runs_pods(tmp_path: Path) -> None:
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
    with up(tmp_path, "--ephemeral", "--controllers=-process-node") as running:
        running.says("5 nodes of the default fleet")
        assert running.names(NODES) == ["cpu-1", "cpu-2", "gpu-1", "gpu-2", "spot-1"]
        assert running.post("/api/v1/namespaces/default/pods", pod) == 201

        def phase() -> bool:
            return bool(running.get("/api/v1/namespaces/default/pods/web")["status"].get("phase") == "Running")

        eventually(phase, "the pod runs")


def test_nobody_gets_in_without_a_token(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        running.ready()
        for wrong, code, reason in (("", 403, "Forbidden"), ("nonsense", 401, "Unauthorized")):
            answer = running.get(NODES, token=wrong)
            assert (answer["kind"], answer["code"], answer["reason"]) == ("Status", code, reason)


def test_secrets_are_for_their_owner_only(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        token = str(running.ready().kubeconfig.read_text().rpartition("token: ")[2].strip())
        folder = tmp_path / ".mooring"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for path in (running.kubeconfig, folder / "tokens", *(folder / "tls").rglob("*")):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
        assert token not in (folder / "tokens").read_text()
        assert token not in "".join(path.read_text() for path in (folder / "logs").iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_is_clean_and_leaves_no_process(tmp_path: Path, number: int) -> None:
    with up(tmp_path, "--ephemeral") as running:
        running.ready()
        children = [running.child("server"), running.child("controllers")]
        assert running.stop(number) == 0
        assert "error" not in running.output
        for pid in children:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this machine is a node on Linux only")
def test_containers_have_their_signals_though_it_was_started_to_survive_its_terminal(tmp_path: Path) -> None:
    survived = (signal.SIGHUP, signal.SIGQUIT)
    before = [signal.signal(number, signal.SIG_IGN) for number in survived]
    try:
        running = Up(tmp_path, "--ephemeral")
    finally:
        for number, handler in zip(survived, before, strict=True):
            signal.signal(number, handler)
    try:
        node = Path(f"/proc/{running.ready().child('process_node')}/status")

        def handled() -> bool:
            """Such a signal neither ends the node nor is ignored by what it starts."""
            (caught,) = [line.split()[1] for line in node.read_text().splitlines() if line.startswith("SigCgt:")]
            return all(int(caught, 16) >> number - 1 & 1 for number in survived)

        eventually(handled, "the node handles what it was told to ignore")
    finally:
        running.stop()


def test_a_second_stop_at_once_is_fine_too(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        running.ready()
        running.process.send_signal(signal.SIGINT)
        assert running.stop(signal.SIGINT) == 0


def test_a_stop_before_it_is_ready_is_clean(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        eventually(lambda: (tmp_path / ".mooring" / "tokens").exists(), "it has begun")
        assert running.stop(signal.SIGINT) == 0


def test_data_survive_a_restart(tmp_path: Path) -> None:
    with up(tmp_path) as running:
        running.says("5 nodes of the default fleet")
        create_map(running, "kept")
        assert running.stop() == 0
    with up(tmp_path) as running:
        running.says("5 nodes from before")
        assert "kept" in running.names(MAPS)
        before = running.kubeconfig.read_text()
        port = running.says("Mooring is ready").rpartition(":")[2]
        assert running.stop() == 0
    with (tmp_path / ".mooring" / "tokens").open("a") as tokens:
        tokens.write(f"ada {'0' * 64} ml\n")
    # The same address, token and authority: nothing to write anew.
    with up(tmp_path, "--bind", f"127.0.0.1:{port}") as running:
        assert running.ready().kubeconfig.read_text() == before
        told = running.says("Tokens made by an older version")
        assert told.endswith("may do everything: ada. To end one: mooring token revoke ada")


def test_an_ephemeral_cluster_starts_empty(tmp_path: Path) -> None:
    for _ in range(2):
        with up(tmp_path, "--ephemeral") as running:
            assert "gone" not in running.ready().names(MAPS)
            create_map(running, "gone")
            assert running.stop() == 0
    assert not (tmp_path / ".mooring" / "data").exists()


def test_what_its_user_wrote_into_the_kubeconfig_stays(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        path = running.ready().kubeconfig
        running.stop()
    path.write_text(path.read_text().replace("cluster: mooring\n", "cluster: mooring\n    namespace: ml\n"))
    with up(tmp_path, "--ephemeral") as running:
        assert "namespace: ml" in running.ready().kubeconfig.read_text()
        assert "default" in running.names("/api/v1/namespaces")


def test_a_lost_kubeconfig_is_made_again_and_the_old_token_is_worth_nothing(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        path = running.ready().kubeconfig
        old = path.read_text().rpartition("token: ")[2].strip()
        running.stop()
    path.unlink()
    with up(tmp_path, "--ephemeral") as running:
        assert "default" in running.ready().names("/api/v1/namespaces")
        assert running.get(NODES, token=old)["code"] == 401


def test_a_token_made_while_it_runs_is_good_at_once(tmp_path: Path) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    with up(tmp_path, "--ephemeral") as running:
        running.ready()
        made = mooring(tmp_path, "token", "create", "ada", "--role", "view", "--group", "ml", "--group", "gpu:users")
        assert (made.returncode, made.stderr) == (0, "")
        with running.client(made.stdout.strip()) as client:
            answer = client.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", json=review).json()
        assert answer["status"]["userInfo"]["username"] == "ada"
        assert answer["status"]["userInfo"]["groups"] == ["ml", "gpu:users", "system:authenticated"]


@pytest.mark.skipif(not _has_ipv6(), reason="needs IPv6 on the loopback interface")
def test_the_certificate_covers_the_address_it_is_bound_to(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral", "--bind", "[::1]:0") as running:
        assert running.says("The API is at https://[::1]:")
        assert "default" in running.names("/api/v1/namespaces")


def test_being_reachable_from_elsewhere_is_said(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral", "--bind", "0.0.0.0:0") as running:
        assert running.says("other machines can reach it")
        assert "default" in running.names("/api/v1/namespaces")


def test_controllers_can_be_left_out(tmp_path: Path) -> None:
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
    with up(tmp_path, "--ephemeral", "--controllers", "-scheduler") as running:
        running.says("5 nodes of the default fleet")
        assert running.post("/api/v1/namespaces/default/pods", pod) == 201
        ready = running.get("/api/v1/nodes/cpu-1")

        def is_ready() -> bool:
            return has_condition(running.get("/api/v1/nodes/cpu-1"), "Ready")

        eventually(is_ready, f"the node is ready: {ready}")
        assert "nodeName" not in running.get("/api/v1/namespaces/default/pods/web")["spec"]


def test_every_name_of_a_controller_is_known() -> None:
    from mooring.catalog import CATALOG

    assert tuple(controller.name for controller in CATALOG.controllers()) == CATALOG.controller_names


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("job,scheduler", {"job", "scheduler"}),
        ("*,-job", None),
        ("-job", None),
        ("-*", set()),
        ("-*,job", {"job"}),
        (" job , ", {"job"}),
    ],
)
def test_controllers_are_chosen_by_name(text: str, chosen: set[str] | None) -> None:
    from mooring.catalog import CATALOG
    from mooring.supervisor.selection import select_controllers

    assert set(select_controllers(text)) == ({*CATALOG.names} - {"job"} if chosen is None else chosen)


def test_gates_are_read_as_kubernetes_writes_them() -> None:
    from mooring.supervisor.configuration import parse_gates

    known = {"Ferry": False, "Tug": True}
    assert parse_gates(["Ferry=true,Tug=False"], known) == {"Ferry": True, "Tug": False}
    assert parse_gates([], known) == {}
    with pytest.raises(MooringError, match='"Ferry" must be Ferry=true or Ferry=false'):
        parse_gates(["Ferry"], known)
    with pytest.raises(MooringError, match='there is no gate "Oar"; there are Ferry, Tug'):
        parse_gates(["Oar=true"], known)


def test_an_api_without_any_controller_is_one_too(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral", "--controllers=-*") as running:
        running.says("5 nodes of the default fleet")
        assert "conditions" not in running.get("/api/v1/nodes/cpu-1")["status"]
        assert running.stop() == 0


def test_the_audit_log_goes_on_over_restarts_and_renames(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"

    def created(file: Path) -> list[str]:
        events = [json.loads(line) for line in file.read_text().splitlines()]
        assert {event["level"] for event in events} == {"Metadata"}
        mine = [event for event in events if (event["verb"], event["requestURI"]) == ("create", MAPS)]
        assert {event["user"]["username"] for event in mine} <= {"mooring-admin"}
        return [event["objectRef"]["name"] for event in mine]

    with up(tmp_path, "--controllers", "scheduler", "--audit-log", "audit.log") as running:
        running.ready()
        create_map(running, "one")
        os.kill(running.child("server"), signal.SIGTERM)
        running.says("The API server answers again.")
        assert created(log) == ["one"]
        log.rename(tmp_path / "old.log")
        create_map(running, "two")
        assert running.stop() == 0
    assert created(tmp_path / "old.log") == ["one"]
    assert created(log) == ["two"]
