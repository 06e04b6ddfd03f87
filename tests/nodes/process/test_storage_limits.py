"""What a pod writes counts: emptyDirs, its own layer, and what is kept in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mooring.nodes.process.containers.sandbox.mount_table import mount_points
from mooring.nodes.process.pods import worker
from mooring.nodes.process.pods.storage_limits import StorageUsage, exceeded_limit, limits_storage
from tests.nodes.process.home import LINUX, Home, needs_sandbox, play, shell
from tests.nodes.process.life import bound_pod, container

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")
MIB = 1 << 20


def limited(size: str, name: str = "main") -> Any:
    return container(name, resources={"limits": {"ephemeral-storage": size}})


def test_each_limit_has_the_words_of_the_kubelet() -> None:
    volumes = [{"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}, {"name": "free", "emptyDir": {}}]
    pod = bound_pod(limited("4Mi"), limited("2Mi", "other"), volumes=volumes)
    assert limits_storage(pod)
    assert not limits_storage(bound_pod(container(), volumes=volumes[1:]))
    assert exceeded_limit(pod, StorageUsage({"data": MIB}, {"main": 4 * MIB})) == ""
    over = exceeded_limit(pod, StorageUsage({"data": MIB + 1}, {}))
    assert over == 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". '
    over = exceeded_limit(pod, StorageUsage({"free": 3 * MIB}, {"main": 4 * MIB}))
    assert over == "Pod ephemeral local storage usage exceeds the total limit of containers 6Mi. "
    over = exceeded_limit(pod, StorageUsage({}, {"other": 2 * MIB + 1}))
    assert over == 'Container other exceeded its local ephemeral storage limit "2Mi". '
    in_memory = bound_pod(limited("1Mi"), volumes=[{"name": "data", "emptyDir": {"medium": "Memory"}}])
    assert exceeded_limit(in_memory, StorageUsage({"data": 9 * MIB}, {})) == ""


@needs_sandbox
def test_a_pod_that_writes_too_much_is_evicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "STORAGE_SECONDS", 0.1)

    async def story(at: Home) -> None:
        fill = "head -c 3000000 /dev/zero > {}; sleep 1000"
        mounts = [{"name": "data", "mountPath": "/data"}]
        volumes = [{"name": "data", "emptyDir": {"sizeLimit": "2Mi"}}]
        at.pod("volume", shell(fill.format("/data/x"), volumeMounts=mounts), volumes=volumes)
        at.pod("layer", shell(fill.format("/tmp/written-by-layer"), resources={"limits": {"ephemeral-storage": "2Mi"}}))
        for name, message in (
            ("volume", 'Usage of EmptyDir volume "data" exceeds the limit "2Mi". '),
            ("layer", "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. "),
        ):
            status = (await at.phase(name, "Failed"))["status"]
            assert (status["reason"], status["message"]) == ("Evicted", message)
            assert f"Evicted: {message}" in at.events(name)

    play(story, tmp_path)


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount memory")
def test_an_empty_dir_in_memory_has_its_size_and_leaves_no_mount_behind(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        volumes = [{"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}]
        mounts = [{"name": "data", "mountPath": "/data"}]
        fill = "head -c 3000000 /dev/zero > /data/x 2>/dev/null; stat -c %s /data/x; head -c 9M /dev/zero > /dev/shm/x"
        resources = {"limits": {"memory": "8Mi"}}
        small = shell(f"{fill} 2>/dev/null; stat -c %s /dev/shm/x", volumeMounts=mounts, resources=resources)
        at.pod("small", small, volumes=volumes, restartPolicy="Never")
        at.pod("kept", shell("sleep 1000", volumeMounts=mounts), volumes=volumes)
        await at.until(lambda: at.get("small")["status"]["phase"] in ("Succeeded", "Failed"), "it ends")
        assert (await at.log("small")).startswith(f"{MIB}\n")
        await at.phase("kept", "Running")
        at.delete("small")
        await at.gone("small")

    play(story, tmp_path)
    assert not [each for each in mount_points() if each.path.startswith(str(tmp_path))]
