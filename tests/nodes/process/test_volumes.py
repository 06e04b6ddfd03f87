"""What volumes hold, and how it gets on disk."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.fields import NodeFields
from mooring.nodes.process.volumes.contents import File, VolumeError, content_of, kind_of, references, token_projections
from mooring.nodes.process.volumes.disk import Disk, host_path, make_empty, place_content
from mooring.nodes.process.volumes.sub_path import open_below, sub_path
from mooring.nodes.process.volumes.tokens import TokenProjection
from tests.nodes.process.life import bound_pod

PLACE = NodeFields("here", "10.0.0.1", {})
OBJECTS: dict[tuple[str, str], Object] = {
    ("ConfigMap", "c"): {
        "metadata": {"name": "c"},
        "data": {"a": "1", "b": "2"},
        "binaryData": {"raw": base64.b64encode(b"\0\1").decode()},
    },
    ("Secret", "s"): {"metadata": {"name": "s"}, "data": {"key": base64.b64encode(b"secret").decode()}},
}


def content(**volume: Any) -> dict[str, File]:
    pod = bound_pod()
    pod["metadata"]["labels"] = {"app": 'a"b'}
    return content_of(pod, {"name": "v", **volume}, lambda kind, name: OBJECTS.get((kind, name)), PLACE)


def test_a_config_map_is_a_file_for_each_key() -> None:
    found = content(configMap={"name": "c", "defaultMode": 0o640})
    assert {name: file.data for name, file in found.items()} == {"a": b"1", "b": b"2", "raw": b"\0\1"}
    assert {file.mode for file in found.values()} == {0o640}


def test_items_choose_paths_and_modes() -> None:
    items = [{"key": "key", "path": "deep/in/it", "mode": 0o400}]
    assert content(secret={"secretName": "s", "items": items}) == {"deep/in/it": File(b"secret", 0o400)}


def test_a_token_is_for_its_group_alone_where_there_is_one() -> None:
    pod, token = bound_pod(), {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607, "audience": "vault"}}
    volume = {"name": "v", "projected": {"sources": [token], "defaultMode": 0o644}}
    (wanted,) = token_projections(volume)
    assert wanted == TokenProjection("vault", 3607)
    assert content_of(pod, volume, lambda *_: None, PLACE, {wanted: "t"}) == {"token": File(b"t", 0o644)}
    pod["spec"]["securityContext"] = {"fsGroup": 7}
    assert content_of(pod, volume, lambda *_: None, PLACE, {wanted: "t"}) == {"token": File(b"t", 0o600)}


def test_a_projected_volume_is_all_its_sources_together() -> None:
    downward = {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}
    sources = [{"configMap": {"name": "c", "items": [{"key": "a", "path": "x"}]}}, {"secret": {"name": "s"}}]
    found = content(projected={"sources": [*sources, {"downwardAPI": downward}]})
    assert {name: file.data for name, file in found.items()} == {"x": b"1", "key": b"secret", "labels": b'app="a\\"b"'}


@pytest.mark.parametrize(
    ("volume", "problem"),
    [
        ({"configMap": {"name": "none"}}, 'configmap "none" not found'),
        ({"secret": {"secretName": "none"}}, 'secret "none" not found'),
        ({"configMap": {"name": "c", "items": [{"key": "z", "path": "z"}]}}, "references non-existent config key: z"),
        ({"projected": {"sources": [{"podCertificate": {}}]}}, "holds no podCertificate"),
    ],
)
def test_what_cannot_be_made_is_named(volume: Object, problem: str) -> None:
    with pytest.raises(VolumeError, match=problem):
        content(**volume)


def test_what_is_optional_may_be_missing() -> None:
    assert content(configMap={"name": "none", "optional": True}) == {}
    assert content(secret={"secretName": "s", "optional": True, "items": [{"key": "z", "path": "z"}]}) == {}


def test_other_kinds_of_volumes_are_refused_with_what_there_is() -> None:
    with pytest.raises(VolumeError, match="nfs volumes are not provided by a process node; use configMap"):
        kind_of({"name": "v", "nfs": {}})


def test_the_objects_that_a_volume_shows_are_known() -> None:
    sources = [{"configMap": {"name": "a"}}, {"secret": {"name": "b"}}]
    assert references({"name": "v", "projected": {"sources": sources}}) == {("ConfigMap", "a"), ("Secret", "b")}
    assert references({"name": "v", "secret": {"secretName": "c"}}) == {("Secret", "c")}


# On disk


def files(**data: bytes) -> dict[str, File]:
    return {name: File(text, 0o644) for name, text in data.items()}


def test_content_changes_in_one_step_and_what_is_gone_goes(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    assert place_content(folder, files(a=b"1", b=b"2"), None)
    assert not place_content(folder, files(a=b"1", b=b"2"), None)
    before = (folder / "..data").readlink()
    assert place_content(folder, files(a=b"3"), None)
    assert (folder / "..data").readlink() != before
    assert (folder / "a").read_bytes() == b"3"
    assert (folder / "a").readlink() == Path("..data/a")
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith("..")) == ["a"]
    assert len(list(folder.iterdir())) == 3


def test_modes_are_kept(tmp_path: Path) -> None:
    place_content(tmp_path / "v", {"deep/x": File(b"", 0o400)}, None)
    assert stat.S_IMODE((tmp_path / "v/deep/x").stat().st_mode) == 0o400


def test_everybody_may_write_to_an_empty_dir(tmp_path: Path) -> None:
    make_empty(tmp_path / "v", None)
    assert stat.S_IMODE((tmp_path / "v").stat().st_mode) == 0o777


def part_of(folder: Path, part: str, *, make: bool = True) -> Path:
    return sub_path(folder, part, make=make, mount="data", container="main")


def test_a_sub_path_is_made_where_it_may_be_and_never_leads_out(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    folder.mkdir()
    assert part_of(folder, "a/b").is_dir()
    (folder / "out").symlink_to(tmp_path)
    (folder / "in").symlink_to("a")
    assert part_of(folder, "in/b") == folder / "a" / "b"
    refused = 'failed to prepare subPath for volumeMount "data" of container "main"'
    for part in ("out", "out/made"):
        with pytest.raises(VolumeError, match=refused):
            part_of(folder, part)
    with pytest.raises(VolumeError, match=refused):
        part_of(folder, "none", make=False)
    with pytest.raises(VolumeError, match=r"unable to provision SubPath `\.\./made`: must not contain '\.\.'"):
        part_of(folder, "../made")
    with pytest.raises(VolumeError, match="error SubPath `/made` must not be an absolute path"):
        part_of(folder, "/made")
    assert not (tmp_path / "made").exists()


def test_a_sub_path_that_has_become_a_link_is_not_opened(tmp_path: Path) -> None:
    found = part_of(tmp_path, "a/b")
    os.close(open_below(tmp_path, found))
    found.rmdir()
    found.symlink_to("/etc")
    with pytest.raises(OSError, match="Too many levels"):
        open_below(tmp_path, found)
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "a").symlink_to("/etc")
    with pytest.raises(OSError, match="Not a directory"):
        open_below(tmp_path, found)


def test_a_host_path_never_leads_to_the_data_folder_and_makes_nothing_there(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "link").symlink_to(data)
    for path in (data, data / "new", tmp_path / "link" / "new"):
        with pytest.raises(VolumeError, match="lies in the data folder of the cluster"):
            host_path({"path": str(path)}, [str(data)])
    assert not list(data.iterdir())
    for process in ("/proc/self", "/proc/1"):
        with pytest.raises(VolumeError, match="leads into a process of this machine"):
            host_path({"path": process})


def test_a_host_path_is_checked_and_made_as_its_type_says(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert host_path({"path": str(tmp_path / "file"), "type": "File"}) == tmp_path / "file"
    assert host_path({"path": str(tmp_path / "new"), "type": "DirectoryOrCreate"}).is_dir()
    assert host_path({"path": str(tmp_path / "made"), "type": "FileOrCreate"}).is_file()
    with pytest.raises(VolumeError, match=r"type check failed: .*/file is not a directory"):
        host_path({"path": str(tmp_path / "file"), "type": "Directory"})
    with pytest.raises(VolumeError, match=r"type check failed: .*/none is not a socket"):
        host_path({"path": str(tmp_path / "none"), "type": "Socket"})


def test_the_folder_keeps_what_pods_need_and_nothing_of_pods_that_are_no_more(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    for uid in ("a", "b"):
        for attempt in range(4):
            path = disk.log(uid, "main", attempt)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    disk.forget_logs("a", "main", 2)
    assert sorted(path.name for path in disk.log("a", "main", 0).parent.iterdir()) == ["2.log", "3.log"]
    disk.keep_only(["a"])
    assert [path.name for path in (tmp_path / "pods").iterdir()] == ["a"]
