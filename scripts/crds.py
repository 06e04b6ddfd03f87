"""Writes the definitions of our own kinds to config/crd/; with --check it only says whether they differ."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.catalog import CATALOG

FOLDER = Path(__file__).parent.parent / "config" / "crd"


class _Plain(yaml.SafeDumper):
    """Writes what is shared in full: a definition may not refer to its own parts."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def texts(resources: Iterable[CustomResource]) -> dict[str, str]:
    """What every file must hold, by its name."""
    return {
        f"{each.group}_{each.plural}.yaml": "---\n"
        + yaml.dump(definition(each), Dumper=_Plain, sort_keys=False, width=118)
        for each in resources
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = []
    for name, text in texts(CATALOG.resources()).items():
        path = FOLDER / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"config/crd/{name} {'is not what the types say; run python -m scripts.crds' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
