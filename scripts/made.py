"""Files of the repository that are made from its code: written, or with --check only compared; and their YAML."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent


class WholeDumper(yaml.SafeDumper):
    """Writes what is shared in full: an object may not refer to its own parts."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def write_or_check(wanted: Mapping[Path, str], command: str) -> int:
    """The exit code: 1 if a file differs and was only compared."""
    check = "--check" in sys.argv[1:]
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        print(f"{path.relative_to(ROOT)} {f'is not what the code says; run {command}' if check else 'written'}")
    return 1 if check and stale else 0
