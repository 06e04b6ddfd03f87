"""Processes of `mooring up` die: it says so and carries on, or it is gone and takes the others along."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.embedded import Up, eventually, gone, up

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(("module", "name"), [("server", "API server"), ("controllers", "controllers process")])
def test_a_killed_process_is_said_and_comes_back(tmp_path: Path, module: str, name: str) -> None:
    with up(tmp_path) as running:
        running.says("5 nodes of the default fleet")
        assert running.post(MAPS, {"metadata": {"name": "kept"}}) == 201
        pid = running.child(module)
        os.kill(pid, signal.SIGKILL)
        running.says(f"The {name} was killed by SIGKILL; starting")
        # A connection now waits in the backlog of the socket, and is not refused.
        assert "kept" in running.names(MAPS)
        assert running.child(module) != pid
        assert running.stop() == 0


def test_the_controllers_go_on_after_the_server_was_killed(tmp_path: Path) -> None:
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
    with up(tmp_path) as running:
        running.says("5 nodes of the default fleet")
        os.kill(running.child("server"), signal.SIGKILL)
        running.says("The API server answers again.")
        assert running.post("/api/v1/namespaces/default/pods", pod) == 201
        eventually(lambda: _phase(running) == "Running", "the pod runs")


@pytest.mark.slow
def test_a_server_that_hangs_is_noticed_and_started_again(tmp_path: Path) -> None:
    with up(tmp_path) as running:
        running.says("5 nodes of the default fleet")
        assert running.post(MAPS, {"metadata": {"name": "kept"}}) == 201
        pid = running.child("server")
        os.kill(pid, signal.SIGSTOP)
        running.says("The API server is there but does not answer; it is killed.", patience=60)
        running.says("The API server was killed by SIGKILL; starting it again.")
        running.says("The API server answers again.")
        assert "kept" in running.names(MAPS)
        assert running.stop() == 0


def test_an_ephemeral_server_comes_back_empty_but_with_its_nodes(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral", "--controllers=-process-node") as running:
        running.says("5 nodes of the default fleet")
        for name in ("lost", "missed"):
            assert running.post(MAPS, {"metadata": {"name": name}}) == 201
        listed = running.get(f"{MAPS}?limit=1")["metadata"]
        os.kill(running.child("server"), signal.SIGKILL)
        running.says("The API server was killed by SIGKILL")
        eventually(lambda: len(running.names("/api/v1/nodes")) == 5, "the nodes are back")
        assert "lost" not in running.names(MAPS)
        # What a client has from before is expired, whatever it asks with it: so it lists again.
        revision = listed["resourceVersion"]
        for query in (
            f"watch=true&resourceVersion={revision}",
            f"resourceVersion={revision}&resourceVersionMatch=Exact",
            f"limit=1&continue={listed['continue']}",
        ):
            answer = running.get(f"{MAPS}?{query}")
            status = answer.get("object", answer)
            assert (status["code"], status["reason"]) == (410, "Expired"), query
        assert int(running.get(f"{MAPS}?resourceVersion={revision}")["metadata"]["resourceVersion"]) > int(revision)


def test_nothing_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        running.ready()
        children = [running.child("server"), running.child("controllers")]
        running.process.kill()
        for pid in children:
            eventually(lambda pid=pid: gone(pid), f"process {pid} is gone", patience=8)  # type: ignore[misc]


def test_a_start_right_after_a_parent_was_killed_waits_for_its_processes(tmp_path: Path) -> None:
    with up(tmp_path) as first:
        first.ready()
        assert first.post(MAPS, {"metadata": {"name": "kept"}}) == 201
        first.process.kill()
        with up(tmp_path) as second:
            assert "kept" in second.ready().names(MAPS)
            assert second.stop() == 0


def _phase(running: Up) -> str:
    return str(running.get("/api/v1/namespaces/default/pods/web")["status"].get("phase"))
