"""The processes that a node has started, found by the mark in their environment."""

from __future__ import annotations

from pathlib import Path

from mooring.nodes.process.containers.proc import MARK, mark_of


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
