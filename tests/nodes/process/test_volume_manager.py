"""Volumes: a pod waits for them, and their content follows the API."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.nodes.process.pods import worker
from tests.nodes.process.home import LINUX, WHY_NOT, Home, needs_sandbox, play, shell
from tests.nodes.process.marked import marked

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


@needs_sandbox
def test_volumes_that_cannot_be_made_keep_a_pod_waiting_until_they_can(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        mounts = [{"name": "v", "mountPath": "/v"}]
        at.pod(
            "early",
            shell("cat /v/x; sleep 100", volumeMounts=mounts),
            volumes=[{"name": "v", "configMap": {"name": "late"}}],
        )
        share = {"name": "v", "nfs": {"server": "files", "path": "/"}}
        at.pod("share", shell("true", volumeMounts=mounts), volumes=[share])
        told = 'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "late" not found'
        await at.until(lambda: told in at.events("early"), "it is told")
        await at.until(lambda: any("nfs volumes are not" in each for each in at.events("share")))
        assert at.container("share")["state"]["waiting"]["reason"] == "ContainerCreating"
        at.create({"metadata": {"name": "late"}, "data": {"x": "there"}}, "ConfigMap")
        await at.phase("early", "Running")

    play(story, tmp_path)


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


def test_in_ci_there_is_a_sandbox() -> None:
    if os.environ.get("CI"):
        assert not WHY_NOT


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
