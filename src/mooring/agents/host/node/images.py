"""Images that a host brings along: archives below the download path, imported when containerd starts empty."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Final

from mooring.agents.host.program_output import program_output

__all__ = ["import_images"]

NAMESPACE: Final = "k8s.io"
_IMPORT_SECONDS: Final = 300.0
_log = logging.getLogger("mooring.agent")


async def import_images(socket: Path, folder: Path, search_path: str) -> None:
    """Import every archive. One that cannot be imported is told in the log: a pod that needs it says so too."""
    archives = sorted(folder.glob("*.tar")) if folder.is_dir() else []
    program = shutil.which("ctr", path=search_path)
    if archives and program is None:
        _log.warning("%s holds images, but ctr, which imports them, is not on this machine", folder)
        return
    for archive in archives:
        command = (str(program), "--address", str(socket), "--namespace", NAMESPACE, "images", "import", str(archive))
        done = await program_output(command, _IMPORT_SECONDS)
        if done.code != 0:
            said = "it takes too long" if done.code is None else done.text
            _log.warning("image %s cannot be imported: %s", archive, said)
