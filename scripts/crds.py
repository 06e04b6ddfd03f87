"""Writes the definitions of our own kinds to config/crd/; with --check it only says whether they differ.

Kinds that only the embedded cluster brings along are not among them: elsewhere they belong to others. `mooring up`
reads all of them, and the webhooks of our features, from JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.catalog import CATALOG
from mooring.supervisor.declared_api import api_text
from mooring.supervisor.own_api import DATA
from scripts.made import ROOT, write_or_check

FOLDER = ROOT / "config" / "crd"


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
    wanted = {FOLDER / name: text for name, text in texts(CATALOG.resources(CATALOG.external)).items()}
    return write_or_check({**wanted, DATA: api_text(CATALOG.features)}, "python -m scripts.crds")


if __name__ == "__main__":
    sys.exit(main())
