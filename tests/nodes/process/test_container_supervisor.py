"""A running container: its probes, hooks and memory limit."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.nodes.process.home import LINUX, Home, needs_sandbox, play, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


@needs_sandbox
def test_probes_decide_over_readiness_and_life(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            soon = {"periodSeconds": 1, "failureThreshold": 1, "timeoutSeconds": 15}
            at.pod(
                "web",
                shell(
                    "rm -f /flags/bad; sleep 100",
                    startupProbe={"tcpSocket": {"port": port}, **soon},
                    readinessProbe={"exec": {"command": ["test", "-e", "/flags/ready"]}, **soon},
                    livenessProbe={"exec": {"command": ["test", "!", "-e", "/flags/bad"]}, **soon},
                    volumeMounts=[{"name": "flags", "mountPath": "/flags"}],
                ),
                volumes=[{"name": "flags", "emptyDir": {}}],
            )
            await at.until(lambda: at.container("web")["started"], "it has started")
            told = "Unhealthy: Readiness probe failed: "
            await at.until(lambda: told in at.events("web"), "it is not ready")
            assert not at.container("web")["ready"]
            flags = tmp_path / "pods" / at.get("web")["metadata"]["uid"] / "volumes" / "flags"
            (flags / "ready").touch()
            await at.until(lambda: at.container("web")["ready"], "it is ready")
            (flags / "bad").touch()
            await at.until(lambda: at.container("web")["restartCount"] == 1, "it is restarted")
        assert "Killing: Container main failed liveness probe, will be restarted" in at.events("web")

    play(story, tmp_path)


@needs_sandbox
def test_more_memory_than_the_limit_ends_a_container(tmp_path: Path) -> None:
    script = (
        "import os,time\nfor _ in range(4):\n  if os.fork() == 0: x = bytearray(30<<20); time.sleep(60)\ntime.sleep(60)"
    )

    async def story(at: Home) -> None:
        limits = {"limits": {"memory": "80Mi"}}
        together = {"name": "main", "image": "x", "command": ["python3", "-c", script], "resources": limits}
        alone = {**together, "command": ["python3", "-c", "bytearray(200 << 20)"]}
        at.pod("together", together, restartPolicy="Never")
        at.pod("alone", alone, restartPolicy="Never")
        await at.phase("together", "Failed")
        ended = at.container("together")["state"]["terminated"]
        assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
        await at.phase("alone", "Failed")
        if at.agent.isolation.control_groups.limits("memory"):
            ended = at.container("alone")["state"]["terminated"]
            assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
        else:
            assert "MemoryError" in await at.log("alone")

    play(story, tmp_path)


@needs_sandbox
def test_hooks_run_after_the_start_and_before_the_stop(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = tmp_path_factory.mktemp("kept")

    async def story(at: Home) -> None:
        hooks = {
            "postStart": {"exec": {"command": ["sh", "-c", "echo post > /h/post"]}},
            "preStop": {"exec": {"command": ["sh", "-c", "echo pre > /kept/pre"]}},
        }
        at.pod(
            "hooked",
            shell(
                "sleep 100",
                lifecycle=hooks,
                volumeMounts=[{"name": "h", "mountPath": "/h"}, {"name": "kept", "mountPath": "/kept"}],
            ),
            volumes=[{"name": "h", "emptyDir": {}}, {"name": "kept", "hostPath": {"path": str(kept)}}],
        )
        await at.until(lambda: at.container("hooked")["ready"], "it is ready")
        uid = at.get("hooked")["metadata"]["uid"]
        assert (tmp_path / "pods" / uid / "volumes" / "h" / "post").read_text() == "post\n"
        at.delete("hooked")
        await at.gone("hooked")
        assert (kept / "pre").read_text() == "pre\n"

    play(story, tmp_path)
