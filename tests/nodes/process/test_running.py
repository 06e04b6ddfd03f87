"""Pods as real processes of this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.nodes.process import pod_worker as worker
from mooring.nodes.process.kubelet import EVENT_COMPONENT
from mooring.nodes.process.pod_worker import NoLog
from mooring.nodes.process.proc import MARK, kill_marked, mark_of
from mooring.nodes.process.references import reference_to
from mooring.nodes.process.registration import RegistrationRefused
from mooring.runtime.eventbroadcaster import EventBroadcaster
from mooring.runtime.eventrecorder import EventRecorder
from mooring.testing.conditions import has_condition
from tests.nodes.process.home import LINUX, NODE, WHY_NOT, Home, home, needs_sandbox, play, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


def marked(folder: Path) -> set[int]:
    """The processes of this node that are alive."""
    wanted = f"{MARK}={mark_of(folder)}".encode()
    found = set()
    for path in Path("/proc").iterdir():
        try:
            if path.name.isdigit() and wanted in (path / "environ").read_bytes().split(b"\0"):
                found.add(int(path.name))
        except OSError:
            continue
    return found


@needs_sandbox
def test_a_pod_runs_to_its_end_with_volumes_and_variables(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.create(
            {"metadata": {"name": "settings"}, "data": {"greeting": "hello", "run.sh": "echo script $1"}}, "ConfigMap"
        )
        at.create({"metadata": {"name": "key"}, "data": {"password": "czNjcmV0"}}, "Secret")
        mounts = [
            {"name": "data", "mountPath": "/data/deep"},
            {"name": "settings", "mountPath": "/etc/settings"},
            {"name": "key", "mountPath": "/key/password", "subPath": "password"},
        ]
        script = (
            "echo $(WORD) $PASSWORD $NODE_NAME $(hostname); cat /data/deep/x /key/password; echo;"
            "sh /etc/settings/run.sh 1; echo bye > /dev/termination-log; pwd; exit 3"
        )
        env = [
            {"name": "WORD", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "greeting"}}},
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "key", "key": "password"}}},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ]
        prepare = shell("echo made by init > /data/deep/x", "prep", volumeMounts=mounts[:1])
        at.pod(
            "one",
            shell(script, env=env, volumeMounts=mounts, workingDir="/usr"),
            initContainers=[prepare],
            restartPolicy="Never",
            volumes=[
                {"name": "data", "emptyDir": {}},
                {"name": "settings", "configMap": {"name": "settings"}},
                {"name": "key", "secret": {"secretName": "key"}},
            ],
        )
        await at.phase("one", "Failed")
        assert await at.log("one") == "hello s3cret here one\nmade by init\ns3cret\nscript 1\n/usr\n"
        ended = at.container("one")["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"], ended["message"]) == (3, "Error", "bye\n")
        assert any(each.startswith("ImageIgnored") for each in at.events("one"))

    play(story, tmp_path)
    assert not Path("/data").exists()
    assert not Path("/etc/settings").exists()


@needs_sandbox
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["no-such-command"], 'exec: "no-such-command": executable file not found in $PATH'),
        (["/no/such/file"], 'exec: "/no/such/file": stat /no/such/file: no such file or directory'),
        (["/etc/passwd"], 'exec: "/etc/passwd": permission denied'),
    ],
)
def test_a_command_that_does_not_exist_gives_what_a_kubelet_gives(
    tmp_path: Path, command: list[str], problem: str
) -> None:
    async def story(at: Home) -> None:
        at.pod("bad", {"name": "main", "image": "x", "command": command})
        await at.until(lambda: at.container("bad")["state"]["waiting"]["reason"] == "CrashLoopBackOff", "it backs off")
        last = at.container("bad")["lastState"]["terminated"]
        assert (last["exitCode"], last["reason"]) == (128, "StartError")
        assert last["message"].endswith(problem)
        assert any(each.startswith("Failed: Error: failed to create containerd task") for each in at.events("bad"))

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
def test_a_pod_that_is_deleted_is_asked_first_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        polite = shell("trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.05; done", "polite")
        deaf = shell("trap '' TERM; setsid sleep 4321 & echo up; while true; do sleep 0.05; done", "deaf")
        pod = at.pod("web", polite, deaf)
        await at.phase("web", "Running")
        await at.until(lambda: marked(tmp_path), "processes")
        path, _ = at.agent.log_of("default", "web", "polite", previous=False)
        await at.until(lambda: b"up" in path.read_bytes(), "it is up")
        follow = asyncio.create_task(at.log("web", "polite", follow=True))
        began = time.monotonic()
        at.delete("web", grace=1)
        await at.gone("web")
        assert time.monotonic() - began >= 0.9
        assert (await follow).endswith("bye\n")
        await at.until(lambda: not marked(tmp_path), "nothing is left")
        await at.until(lambda: not (tmp_path / "pods" / pod["metadata"]["uid"]).exists(), "its folder is gone")

    play(story, tmp_path)


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
        assert "MemoryError" in await at.log("alone")

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
        at.pod("root", shell("id -u", securityContext={"runAsNonRoot": True}))
        await at.phase("user", "Succeeded")
        assert await at.log("user") == "1234\n2345\n3456\n"
        await at.until(lambda: at.container("root")["state"]["waiting"]["reason"] == "CreateContainerConfigError")

    play(story, tmp_path)


@needs_sandbox
def test_volumes_that_cannot_be_made_keep_a_pod_waiting_until_they_can(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        mounts = [{"name": "v", "mountPath": "/v"}]
        at.pod(
            "early",
            shell("cat /v/x; sleep 100", volumeMounts=mounts),
            volumes=[{"name": "v", "configMap": {"name": "late"}}],
        )
        claim = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
        at.pod("claim", shell("true", volumeMounts=mounts), volumes=[claim])
        told = 'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "late" not found'
        await at.until(lambda: told in at.events("early"), "it is told")
        await at.until(lambda: any("persistentVolumeClaim volumes are not" in each for each in at.events("claim")))
        assert at.container("claim")["state"]["waiting"]["reason"] == "ContainerCreating"
        at.create({"metadata": {"name": "late"}, "data": {"x": "there"}}, "ConfigMap")
        await at.phase("early", "Running")

    play(story, tmp_path)


@needs_sandbox
def test_the_log_of_the_run_before_can_be_read(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("crash", shell("echo run; exit 2"))
        await at.until(
            lambda: at.container("crash")["state"]["waiting"]["reason"] == "CrashLoopBackOff", "it backs off"
        )
        assert at.container("crash")["restartCount"] == 1
        assert await at.log("crash", previous=True) == "run\n"
        assert await at.log("crash") == "run\n"

    play(story, tmp_path)


@needs_sandbox
def test_hooks_run_after_the_start_and_before_the_stop(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        hooks = {
            "postStart": {"exec": {"command": ["sh", "-c", "echo post > /h/post"]}},
            "preStop": {"exec": {"command": ["sh", "-c", "echo pre > /kept/pre"]}},
        }
        (tmp_path / "kept").mkdir()
        at.pod(
            "hooked",
            shell(
                "sleep 100",
                lifecycle=hooks,
                volumeMounts=[{"name": "h", "mountPath": "/h"}, {"name": "kept", "mountPath": "/kept"}],
            ),
            volumes=[{"name": "h", "emptyDir": {}}, {"name": "kept", "hostPath": {"path": str(tmp_path / "kept")}}],
        )
        await at.until(lambda: at.container("hooked")["ready"], "it is ready")
        uid = at.get("hooked")["metadata"]["uid"]
        assert (tmp_path / "pods" / uid / "volumes" / "h" / "post").read_text() == "post\n"
        at.delete("hooked")
        await at.gone("hooked")
        assert (tmp_path / "kept" / "pre").read_text() == "pre\n"

    play(story, tmp_path)


@needs_sandbox
def test_a_node_that_stops_stops_its_processes_and_the_next_one_starts_them_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with home(tmp_path) as first:
            first.pod("web", shell("echo up; sleep 100"))
            first.pod("gone", shell("sleep 100"))
            await first.phase("web", "Running")
            await first.phase("gone", "Running")
            path, _ = first.agent.log_of("default", "web", "main", previous=False)
            await first.until(lambda: b"up" in path.read_bytes(), "it is up")
        await first.until(lambda: not marked(tmp_path), "nothing is left")
        first.delete("gone", grace=0)
        async with home(tmp_path, before=first) as second:
            await second.until(lambda: second.container("web")["restartCount"] == 1, "it is restarted")
            assert await second.log("web", previous=True) == "up\n"
            assert len(list((tmp_path / "pods").iterdir())) == 1

    asyncio.run(main())


def test_without_a_sandbox_pods_run_without_volumes_and_it_is_said(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("plain", shell("echo $WORD; setsid sleep 4322 & sleep 100", env=[{"name": "WORD", "value": "hi"}]))
        mounts = [{"name": "v", "mountPath": "/v"}]
        at.pod("mounting", shell("true", volumeMounts=mounts), volumes=[{"name": "v", "emptyDir": {}}])
        await at.phase("plain", "Running")
        path, _ = at.agent.log_of("default", "plain", "main", previous=False)
        await at.until(lambda: b"hi" in path.read_bytes(), "it has said so")
        told = "FailedMount: volumes cannot be mounted on node here: there is no bubblewrap"
        await at.until(lambda: told in at.events("mounting"), "it is told")
        at.delete("plain")
        await at.gone("plain")
        await at.until(lambda: not marked(tmp_path), "nothing is left")

    play(story, tmp_path, problem="there is no bubblewrap")


def test_what_a_killed_node_left_behind_is_found_and_nothing_else(tmp_path: Path) -> None:
    async def main() -> None:
        mark = mark_of(tmp_path)
        ours = await asyncio.create_subprocess_exec("sleep", "100", env={**os.environ, MARK: mark})
        other = await asyncio.create_subprocess_exec("sleep", "100", env={**os.environ, MARK: f"{mark}0"})
        try:
            assert kill_marked(mark) == 1
            assert await ours.wait() == -signal.SIGKILL
            assert other.returncode is None
        finally:
            other.kill()
            await other.wait()

    asyncio.run(main())


def test_a_pod_that_was_over_before_is_left_as_it_was(tmp_path: Path) -> None:
    async def main() -> None:
        async with home(tmp_path, problem="none") as first:
            pass
        pod = first.pod("evicted", shell("true"))
        status = {"status": {"phase": "Failed", "reason": "Evicted", "message": "The node had condition"}}
        resource = first.registry.resource("v1", "Pod")
        now = datetime.now(UTC)
        first.registry.patch(resource, "default", "evicted", "merge", status, now=now, subresource="status")
        before = first.get("evicted")["status"]
        async with home(tmp_path, problem="none", before=first) as second:
            second.pod("other", shell("true"), restartPolicy="Never")
            await second.phase("other", "Succeeded")
            assert second.get("evicted")["status"] == before
            second.delete("evicted")
            await second.gone("evicted")
        assert not (tmp_path / "pods" / pod["metadata"]["uid"]).exists()

    asyncio.run(main())


def test_a_simulated_node_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        node = {"metadata": {"name": NODE, "annotations": {"kwok.x-k8s.io/node": "fake"}}}
        at.registry.create(at.registry.resource("v1", "Node"), node, now=datetime.now(UTC))
        with pytest.raises(RegistrationRefused, match="node here is a simulated one"):
            await at.registration.ensure()

    asyncio.run(main())


def test_a_node_that_was_taken_for_dead_says_that_it_lives(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        resource = at.registry.resource("v1", "Node")
        first = await at.registration.ensure()
        assert (await at.registration.ensure())["metadata"] == first["metadata"]
        lost = [{"type": "Ready", "status": "Unknown"}]
        body = {"status": {"conditions": lost}}
        at.registry.patch(resource, "", NODE, "merge", body, now=datetime.now(UTC), subresource="status")
        again = await at.registration.ensure()
        assert has_condition(again, "Ready")
        at.registry.delete(resource, "", NODE, now=datetime.now(UTC))
        assert (await at.registration.ensure())["metadata"]["uid"] != first["metadata"]["uid"]
        lease = at.registry.get(at.registry.resource("coordination.k8s.io/v1", "Lease"), "kube-node-lease", NODE)
        assert lease["spec"]["holderIdentity"] == NODE

    asyncio.run(main())


def test_in_ci_there_is_a_sandbox() -> None:
    if os.environ.get("CI"):
        assert not WHY_NOT


def test_a_status_gets_through_while_others_write_to_the_pod(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("busy", shell("true"), restartPolicy="Never")
        resource = at.registry.resource("v1", "Pod")
        number = 0
        while at.get("busy")["status"].get("phase") != "Succeeded":
            number += 1
            body = {"metadata": {"annotations": {"number": str(number)}}}
            at.registry.patch(resource, "default", "busy", "merge", body, now=datetime.now(UTC))
            await asyncio.sleep(0)
        assert number > 3
        assert at.get("busy")["metadata"]["annotations"] == {"number": str(number)}

    play(story, tmp_path, problem="none")


def test_the_same_thing_said_again_is_counted(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        pod = at.pod("web", shell("true"))
        recorder = EventRecorder(EVENT_COMPONENT, NODE)
        broadcaster = EventBroadcaster(at.transport)
        for _ in range(3):
            about = reference_to(pod, "Pod", "main")
            request = recorder.request(about, "Warning", "BackOff", "again", datetime.now(UTC))
            assert request is not None
            broadcaster.add([request])
        writing = asyncio.create_task(broadcaster.run())
        await broadcaster.finish()
        writing.cancel()
        (event,) = at.registry.list(at.registry.resource("v1", "Event")).items
        assert (event["count"], event["message"]) == (3, "again")
        assert event["involvedObject"]["fieldPath"] == "spec.containers{main}"
        assert event["source"] == {"component": "process-node", "host": NODE}

    asyncio.run(main())


@needs_sandbox
def test_what_changes_in_a_config_map_changes_in_its_volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_REFRESH_SECONDS", 0.05)

    async def story(at: Home) -> None:
        at.create({"metadata": {"name": "settings"}, "data": {"x": "old"}}, "ConfigMap")
        script = "until grep -q new /settings/x; do sleep 0.05; done; echo seen"
        mounts = [{"name": "settings", "mountPath": "/settings"}]
        volume = {"name": "settings", "configMap": {"name": "settings"}}
        at.pod("watching", shell(script, volumeMounts=mounts), volumes=[volume], restartPolicy="Never")
        await at.phase("watching", "Running")
        resource = at.registry.resource("v1", "ConfigMap")
        body = {"data": {"x": "new"}}
        at.registry.patch(resource, "default", "settings", "merge", body, now=datetime.now(UTC))
        await at.phase("watching", "Succeeded")
        assert await at.log("watching") == "seen\n"

    play(story, tmp_path)
