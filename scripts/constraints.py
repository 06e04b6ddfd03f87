"""Prints the versions of uv.lock as pip constraints, so that a set-up without uv installs what one with uv does."""

import tomllib
from pathlib import Path

LOCK = Path(__file__).parent.parent / "uv.lock"


def constraints(lock: str) -> list[str]:
    """One line per locked package; one that differs between Pythons keeps its markers."""
    lines = []
    for package in tomllib.loads(lock)["package"]:
        if "registry" not in package["source"]:
            continue
        line = f"{package['name']}=={package['version']}"
        if markers := package.get("resolution-markers"):
            line += " ; " + " or ".join(f"({marker})" for marker in markers)
        lines.append(line)
    return lines


if __name__ == "__main__":
    print("\n".join(constraints(LOCK.read_text(encoding="utf-8"))))
