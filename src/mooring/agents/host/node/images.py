"""Images that a host brings along: archives below the download path, imported when containerd starts empty."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path
from typing import Final

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
        process = await asyncio.create_subprocess_exec(
            *(str(program), "--address", str(socket), "--namespace", NAMESPACE, "images", "import", str(archive)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(_IMPORT_SECONDS):
                output, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            output = b"it takes too long"
        if process.returncode:
            _log.warning("image %s cannot be imported: %s", archive, output.decode(errors="replace").strip())
