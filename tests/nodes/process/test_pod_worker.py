"""Pods run as processes, from their start to their removal."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.nodes.process.home import LINUX, Home, home, needs_sandbox, play, shell
from tests.nodes.process.marked import marked

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


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


def test_whoever_watches_sees_how_a_deleted_pod_ended(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("web", shell("trap 'exit 3' TERM; echo up; while true; do sleep 0.05; done"))
        await at.phase("web", "Running")
        path, _ = at.agent.log_of("default", "web", "main", previous=False)
        await at.until(lambda: b"up" in path.read_bytes(), "it is up")
        pods = at.registry.resource("v1", "Pod")
        watch = at.registry.watch(pods, resource_version=at.get("web")["metadata"]["resourceVersion"])
        at.delete("web")
        await at.gone("web")
        last = watch.poll()[-1]
        (ended,) = last.object["status"]["containerStatuses"]
        assert (last.type, last.object["status"]["phase"]) == ("DELETED", "Failed")
        assert ended["state"]["terminated"]["exitCode"] == 3

    play(story, tmp_path, problem="none")


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
