"""The start of a container: its command, and the user it runs as."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mooring.nodes.process.pods.worker import NoLog
from tests.nodes.process.home import LINUX, Home, needs_sandbox, play, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


@needs_sandbox
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (
            ["no-such-command"],
            'command "no-such-command" cannot be run: no executable file of this name is in the PATH',
        ),
        (["/no/such/file"], 'command "/no/such/file" cannot be run: this machine has no such file'),
        (["/etc/passwd"], 'command "/etc/passwd" cannot be run: the file is not executable'),
    ],
)
def test_a_command_that_cannot_be_run_says_why_with_the_reason_that_a_kubelet_gives(
    tmp_path: Path, command: list[str], problem: str
) -> None:
    async def story(at: Home) -> None:
        at.pod("bad", {"name": "main", "image": "x", "command": command})
        await at.until(lambda: at.container("bad")["state"]["waiting"]["reason"] == "CrashLoopBackOff", "it backs off")
        last = at.container("bad")["lastState"]["terminated"]
        assert (last["exitCode"], last["reason"]) == (128, "StartError")
        assert last["message"].startswith(problem)
        assert any(each.startswith(f"Failed: Error: {problem}") for each in at.events("bad"))

    play(story, tmp_path)


@needs_sandbox
def test_a_container_without_a_command_says_that_images_are_ignored(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("bad", {"name": "main", "image": "nginx"})
        waiting = await at.until(lambda: at.container("bad")["state"]["waiting"])
        await at.until(lambda: at.container("bad")["state"]["waiting"]["reason"] == "CreateContainerError")
        waiting = at.container("bad")["state"]["waiting"]
        assert "no command specified" in waiting["message"]
        with pytest.raises(NoLog, match='container "main" in pod "bad" is waiting to start: CreateContainerError'):
            await at.log("bad")

    play(story, tmp_path)


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as others")
def test_users_and_groups_of_the_security_context_are_kept_to(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        mounts = [{"name": "data", "mountPath": "/data"}]
        at.pod(
            "user",
            shell("id -u; id -g; touch /data/x && stat -c %g /data/x", volumeMounts=mounts),
            securityContext={"runAsUser": 1234, "runAsGroup": 2345, "fsGroup": 3456},
            volumes=[{"name": "data", "emptyDir": {}}],
            restartPolicy="Never",
        )
        at.pod("root", shell("id -u", securityContext={"runAsNonRoot": True, "runAsUser": 0}))
        await at.phase("user", "Succeeded")
        assert await at.log("user") == "1234\n2345\n3456\n"
        await at.until(lambda: at.container("root")["state"]["waiting"]["reason"] == "CreateContainerConfigError")

    play(story, tmp_path)


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as others")
def test_who_must_not_be_root_is_nobody_and_has_the_python_that_runs_the_node(tmp_path: Path) -> None:
    """Also where that Python lies in the home of root, of which nothing else is seen."""

    async def story(at: Home) -> None:
        script = "import nbclient, os, sys; print(os.getuid(), os.getgid(), sys.prefix, os.access('/root', os.W_OK))"
        confined = {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        container = {"name": "main", "image": "x", "command": ["python3", "-c", script], "securityContext": confined}
        at.pod("modest", container, restartPolicy="Never")
        await at.until(lambda: at.get("modest")["status"]["phase"] in ("Succeeded", "Failed"))
        assert await at.log("modest") == f"65534 65534 {sys.prefix} False\n"

    play(story, tmp_path)
