"""The real scheduler as a peer: its framework, built from its Go modules and run on the same machine.

The first run builds it, which takes minutes, into the user's cache folder. Without Go the peer column stays empty.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "peer"


def build() -> Path | None:
    if shutil.which("go") is None:
        print("no Go here: the real scheduler is not measured beside Mooring", file=sys.stderr)
        return None
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mooring"
    binary = cache / "peer"
    newest = max(path.stat().st_mtime for path in SOURCE.iterdir())
    if not binary.exists() or binary.stat().st_mtime < newest:
        print("building the real scheduler, once, for some minutes ...", file=sys.stderr)
        cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["go", "build", "-o", str(binary), "."], cwd=SOURCE, check=False)
        if done.returncode:
            return None
    return binary


def pods_per_second(binary: Path, load: str, nodes: int) -> float:
    done = subprocess.run([str(binary), str(nodes), load], capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["podsPerSecond"])
