"""The node's folder: volumes, logs and messages of each pod under the pod's uid, and local PersistentVolumes.

Content from the API is written beside what is there and takes its place in one step, as a kubelet does it: `..data` is
a link to the current version, and what a program sees are links through it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.containers.sandbox.layers import mount_tmpfs, unmount_below
from mooring.nodes.process.volumes.contents import File, VolumeError

__all__ = ["Disk", "host_path", "make_empty", "place_content"]


_DATA: Final = "..data"


@dataclass(frozen=True, slots=True)
class Disk:
    root: Path

    def pod(self, uid: str) -> Path:
        return self.root / "pods" / uid

    def volume(self, uid: str, name: str) -> Path:
        return self.pod(uid) / "volumes" / name

    @property
    def local_volumes(self) -> Path:
        """Where the folders of local PersistentVolumes lie, which outlive pods."""
        return self.root / "volumes"

    def local_volume(self, name: str) -> Path:
        return self.local_volumes / name

    def log(self, uid: str, container: str, attempt: int) -> Path:
        return self.pod(uid) / "logs" / container / f"{attempt}.log"

    def message(self, uid: str, container: str) -> Path:
        """Where a container leaves its last words."""
        return self.pod(uid) / "messages" / container

    def layer(self, uid: str, container: str) -> Path:
        """Where the files lie that a container writes outside of its volumes."""
        return self.pod(uid) / "layers" / container

    def forget_logs(self, uid: str, container: str, before: int) -> None:
        """Remove the logs of runs older than this one."""
        folder = self.pod(uid) / "logs" / container
        with suppress(OSError):
            for path in folder.iterdir():
                number = path.name.partition(".")[0]
                if number.isdecimal() and int(number) < before:
                    path.unlink()

    def remove(self, uid: str) -> None:
        unmount_below(self.pod(uid))
        shutil.rmtree(self.pod(uid), ignore_errors=True)

    def keep_only(self, uids: Iterable[str]) -> None:
        """Remove what belongs to pods that are no more."""
        known = set(uids)
        with suppress(OSError):
            for path in (self.root / "pods").iterdir():
                if path.name not in known:
                    self.remove(path.name)


def make_empty(folder: Path, group: int | None, *, in_memory: int | None = None) -> None:
    """An emptyDir: everybody may write there. `in_memory` is its size in bytes where it is not on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    if in_memory is not None and not folder.is_mount():
        mount_tmpfs(folder, in_memory)
    folder.chmod(0o777)
    if group is not None:
        _share(folder, group)


def place_content(folder: Path, files: Mapping[str, File], group: int | None) -> bool:
    """Have exactly these files in the folder; whether anything changed."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    current = folder / _DATA
    if current.exists() and _read(current) == {path: file.data for path, file in files.items()}:
        return False
    fresh = Path(tempfile.mkdtemp(prefix="..", dir=folder))
    fresh.chmod(0o755)
    for path, file in files.items():
        target = fresh / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
        target.chmod(file.mode)
        if group is not None:
            os.chown(target, -1, group)
            target.chmod(file.mode | 0o440)
    before = current.resolve() if current.exists() else None
    link = folder / "..data_tmp"
    link.symlink_to(fresh.name)
    link.replace(current)
    _link_all(folder, {path.partition("/")[0] for path in files})
    if before is not None:
        shutil.rmtree(before, ignore_errors=True)
    return True


def _link_all(folder: Path, names: set[str]) -> None:
    for name in names:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"{_DATA}/{name}")
    for path in folder.iterdir():
        if not path.name.startswith("..") and path.name not in names:
            path.unlink()


def _read(folder: Path) -> dict[str, bytes]:
    base = folder.resolve()
    return {str(path.relative_to(base)): path.read_bytes() for path in base.rglob("*") if path.is_file()}


def _share(folder: Path, group: int) -> None:
    os.chown(folder, -1, group)
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_ISGID | 0o770)


_CHECKS: Final = {
    "Directory": (stat.S_ISDIR, "directory"),
    "File": (stat.S_ISREG, "file"),
    "Socket": (stat.S_ISSOCK, "socket"),
    "CharDevice": (stat.S_ISCHR, "character device"),
    "BlockDevice": (stat.S_ISBLK, "block device"),
}


def host_path(source: Object, hidden: Iterable[str] = (), procs: Iterable[str] = ("/proc",)) -> Path:
    """The file or folder of a hostPath volume by its real path, made where its type says so.

    `hidden` are folders that no pod sees, `procs` where processes are listed. Nothing is made before that is checked.
    """
    kind = source.get("type") or ""
    try:
        path = Path(source["path"]).resolve()
    except OSError as error:
        raise VolumeError(f"hostPath {source['path']} cannot be used: {error.strerror}") from None
    if any(path.is_relative_to(folder) for folder in hidden):
        raise VolumeError(
            f"hostPath {source['path']} lies in the data folder of the cluster, which pods do not see; use another path"
        )
    if any(re.match(rf"{re.escape(place)}/[0-9]", str(path)) for place in procs):
        raise VolumeError(f"hostPath {source['path']} leads into a process of this machine, which pods do not see")
    try:
        if kind in ("", "DirectoryOrCreate") and not path.exists():
            path.mkdir(mode=0o755, parents=True)
        if kind == "FileOrCreate" and not path.exists():
            path.touch(mode=0o644)
        found = path.stat().st_mode
    except FileNotFoundError:
        word = _CHECKS[kind][1] if kind in _CHECKS else "file"
        raise VolumeError(f"hostPath type check failed: {path} is not a {word}") from None
    except OSError as error:
        raise VolumeError(f"hostPath {path} cannot be used: {error.strerror}") from None
    check, word = _CHECKS.get(kind.removesuffix("OrCreate"), (None, ""))
    if check is not None and not check(found):
        raise VolumeError(f"hostPath type check failed: {path} is not a {word}")
    return path
