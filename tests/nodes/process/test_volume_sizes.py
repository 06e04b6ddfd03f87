"""What the volumes of a pod take, how large those in memory are, and what is said of paths that cannot be made."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.volumes import manager
from mooring.nodes.process.volumes.contents import VolumeError
from mooring.nodes.process.volumes.sub_path import open_below, sub_path
from mooring.nodes.process.volumes.usage import storage_usage

MIB = 1 << 20


def test_a_pod_takes_what_its_files_take_and_links_lead_nowhere(tmp_path: Path) -> None:
    disk: Any = SimpleNamespace(
        volume=lambda uid, name: tmp_path / uid / "volumes" / name,
        layer=lambda uid, name: tmp_path / uid / "layers" / name,
        log=lambda uid, name, attempt: tmp_path / uid / "logs" / name / f"{attempt}.log",
    )
    cache, outside = tmp_path / "u" / "volumes" / "cache", tmp_path / "outside"
    files = (cache / "a", cache / "deep" / "b", tmp_path / "u" / "layers" / "main" / "c", outside / "d")
    log = tmp_path / "u" / "logs" / "main" / "0.log"
    for path in (*files, log):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10_000)
    (cache / "again").hardlink_to(cache / "a")
    (cache / "elsewhere").symlink_to(outside)
    blocks = [512 * path.stat().st_blocks for path in (*files, log)]
    link = 512 * (cache / "elsewhere").lstat().st_blocks
    volumes = [{"name": "cache", "emptyDir": {}}, {"name": "gone", "emptyDir": {}}, {"name": "x", "secret": {}}]
    spec = {"volumes": volumes, "containers": [{"name": "main"}], "initContainers": [{"name": "first"}]}
    found = storage_usage(disk, {"metadata": {"uid": "u"}, "spec": spec})
    assert found.volumes == {"cache": blocks[0] + blocks[1] + link, "gone": 0}
    assert found.containers == {"main": blocks[2] + blocks[4], "first": 0}
    bare = storage_usage(disk, {"metadata": {"uid": "v"}, "spec": {"containers": [{"name": "main"}]}})
    assert (bare.volumes, bare.containers) == ({}, {"main": 0})


@pytest.mark.parametrize(
    ("limits", "source", "user", "size"),
    [
        (["64Mi"], {}, 0, None),
        (["64Mi"], {"medium": "Memory"}, 1000, None),
        (["64Mi", "16Mi"], {"medium": "Memory"}, 0, 80 * MIB),
        (["64Mi", None], {"medium": "Memory"}, 0, 1024 * MIB),
        (["64Mi"], {"medium": "Memory", "sizeLimit": "8Mi"}, 0, 8 * MIB),
        (["64Mi"], {"medium": "Memory", "sizeLimit": "1"}, 0, 1),
        (["64Mi"], {"medium": "Memory", "sizeLimit": "65Mi"}, 0, 64 * MIB),
        (["64Mi"], {"medium": "Memory", "sizeLimit": "0"}, 0, 64 * MIB),
    ],
)
def test_a_volume_in_memory_is_as_large_as_its_pod_may_be_at_most(
    limits: list[str | None], source: Object, user: int, size: int | None
) -> None:
    fields = SimpleNamespace(allocatable={"memory": "1Gi"})
    context: Any = SimpleNamespace(user=user, node_fields=fields)
    containers = [
        {"name": str(number), **({"resources": {"limits": {"memory": each}}} if each else {})}
        for number, each in enumerate(limits)
    ]
    assert manager._memory_size(context, {"spec": {"containers": containers}}, source) == size


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def told(folder: Path, part: str, *, make: bool = True) -> str:
    before = open_files()
    with pytest.raises(VolumeError) as problem:
        sub_path(folder, part, make=make, mount="m", container="c")
    # No descriptor is left open, whatever went wrong.
    assert open_files() == before
    return str(problem.value)


def test_a_path_in_a_volume_that_cannot_be_had_is_told_as_a_kubelet_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "volume"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    (folder / "file").write_text("")
    where = 'for volumeMount "m" of container "c"'
    assert told(folder, "/a") == "error SubPath `/a` must not be an absolute path"
    assert told(folder, "a/../b") == "unable to provision SubPath `a/../b`: must not contain '..'"
    assert told(folder, "out") == f"failed to prepare subPath {where}"
    assert told(folder, "gone", make=False) == f"failed to prepare subPath {where}"
    assert told(folder, "file/below") == f"failed to create subPath directory {where}"
    before = open_files()
    assert sub_path(folder, "a/b..c", make=True, mount="m", container="c") == folder / "a" / "b..c"
    assert sub_path(folder, "file", make=False, mount="m", container="c") == folder / "file"
    assert (folder / "a" / "b..c").is_dir()
    for path in ("out", "out/volume"):
        with pytest.raises(OSError, match=r"Too many levels|Not a directory"):
            open_below(folder, folder / path)
    assert open_files() == before

    def refused(*_: object, **__: object) -> int:
        raise OSError

    monkeypatch.setattr("mooring.nodes.process.volumes.sub_path.open_below", refused)
    assert told(folder, "file") == f"failed to prepare subPath {where}"
