"""Asks kubectl what it makes of drawn documents, and writes that down: an object, or nothing where it refuses.

    python -m tests.manifests.record

kubectl works on its input alone here, without a server: it adds a label, which is taken away again.
"""

from __future__ import annotations

import json
import lzma
import subprocess
from pathlib import Path
from typing import Any, Final

from mooring.testing.tools import tool
from tests.manifests.drawn import Drawing

RECORDING: Final = Path(__file__).parents[1] / "data" / "manifests" / "kubectl.jsonl.xz"
SEEDS: Final = range(500)


def made_by_kubectl(text: str) -> Any:
    command = [str(tool("kubectl")), "label", "--local", "-f", "-", "recorded=yes", "-o", "json"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        return None
    found = json.loads(done.stdout)
    del found["metadata"]["labels"]
    return found


def recorded() -> list[Any]:
    return [json.loads(line) for line in lzma.decompress(RECORDING.read_bytes()).splitlines()]


def main() -> None:
    lines = [json.dumps(made_by_kubectl(Drawing(seed).document()), separators=(",", ":")) for seed in SEEDS]
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_bytes(
        lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    )


if __name__ == "__main__":
    main()
