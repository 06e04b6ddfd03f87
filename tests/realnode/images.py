"""Images that are made here and pulled from nowhere: one static busybox, with another name and command each."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["APP", "PAUSE", "write_archive"]

PAUSE = "mooring.test/pause:1"
APP = "mooring.test/app:1"
_APPLETS = ("sh", "sleep", "cat", "echo", "nc", "ls", "id", "hostname", "httpd", "mkdir", "true")
# A pause container waits for a signal; an app says hello, counts, and serves a page.
_COMMANDS: Mapping[str, Sequence[str]] = {
    PAUSE: ("/bin/sleep", "2147483647"),
    APP: (
        *("/bin/sh", "-c"),
        "echo hello from $(hostname); mkdir -p /www; echo page of $(hostname) > /www/index.html; "
        "httpd -p 8080 -h /www; while true; do echo tick; sleep 1; done",
    ),
}


def write_archive(path: Path) -> None:
    """A docker archive with both images, as `ctr images import` reads it."""
    layer = _layer()
    manifest = []
    with tarfile.open(path, "w") as archive:
        _add(archive, "layer.tar", layer)
        for index, (name, command) in enumerate(_COMMANDS.items()):
            config = {
                "architecture": "amd64",
                "os": "linux",
                "config": {"Env": ["PATH=/bin"], "Cmd": list(command)},
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
            }
            _add(archive, f"config-{index}.json", json.dumps(config).encode())
            manifest.append({"Config": f"config-{index}.json", "RepoTags": [name], "Layers": ["layer.tar"]})
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def _layer() -> bytes:
    busybox = shutil.which("busybox")
    assert busybox is not None
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as layer:
        for folder in ("bin", "etc", "tmp"):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o777 if folder == "tmp" else 0o755
            layer.addfile(info)
        _add(layer, "bin/busybox", Path(busybox).read_bytes(), 0o755)
        for name in _APPLETS:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname, link.mode = tarfile.SYMTYPE, "busybox", 0o777
            layer.addfile(link)
    return data.getvalue()


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    archive.addfile(info, io.BytesIO(data))
