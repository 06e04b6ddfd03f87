"""Which of Kubernetes' conformance tests are run, which are not and why, and which of them CI runs.

`run.txt` has those that pass on a real control plane with simulated nodes, `quick.txt` the part of it that CI runs,
`left_out.yaml` all others, each under the reason why it cannot pass there.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent


def run() -> list[str]:
    return _lines("run.txt")


def quick() -> list[str]:
    return _lines("quick.txt")


def left_out() -> dict[str, list[str]]:
    """The names by their reasons."""
    found: dict[str, list[str]] = yaml.safe_load((FOLDER / "left_out.yaml").read_text(encoding="utf-8"))
    return found


def known_to(binary: Path) -> list[str]:
    """Every conformance test that the binary has."""
    told = subprocess.run([binary, "--list-conformance-tests"], check=True, capture_output=True, text=True)
    return [each["codename"] for each in yaml.safe_load(told.stdout)]


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()
