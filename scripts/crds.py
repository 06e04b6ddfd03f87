"""Writes the definitions of our own kinds to config/crd/; with --check it only says whether they differ.

Kinds that only the embedded cluster brings along are not among them: elsewhere they belong to others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.catalog import CATALOG
from scripts.made import ROOT, WholeDumper, write_or_check

FOLDER = ROOT / "config" / "crd"


def texts(resources: Iterable[CustomResource]) -> dict[str, str]:
    """What every file must hold, by its name."""
    return {
        f"{each.group}_{each.plural}.yaml": "---\n"
        + yaml.dump(definition(each), Dumper=WholeDumper, sort_keys=False, width=118)
        for each in resources
    }


def main() -> int:
    wanted = {FOLDER / name: text for name, text in texts(CATALOG.resources(CATALOG.external)).items()}
    return write_or_check(wanted, "python -m scripts.crds")


if __name__ == "__main__":
    sys.exit(main())
