"""Writes the definitions of our own kinds to config/crd/; with --check it only says whether they differ.

config/kustomization.yaml names them, and the access rules beside them, for `kubectl apply -k config`.
Kinds that only the embedded cluster brings along are not among them: elsewhere they belong to others. `mooring up`
reads all of them, and the webhooks of our features, from JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import yaml

from mooring.api.crds.resource import CustomResource, definition
from mooring.catalog import CATALOG
from mooring.supervisor.declared_api import api_text
from mooring.supervisor.own_api import DATA
from scripts import rbac
from scripts.made import ROOT, WholeDumper, write_or_check

FOLDER = ROOT / "config" / "crd"
KUSTOMIZATION = ROOT / "config" / "kustomization.yaml"
COMMAND = "python -m scripts.crds"


def texts(resources: Iterable[CustomResource]) -> dict[str, str]:
    """What every file must hold, by its name."""
    return {
        f"{each.group}_{each.plural}.yaml": "---\n"
        + yaml.dump(definition(each), Dumper=WholeDumper, sort_keys=False, width=118)
        for each in resources
    }


def kustomization_text() -> str:
    """Everything that an administrator applies, in the order of the folders."""
    definitions = [f"crd/{name}" for name in sorted(texts(CATALOG.resources(CATALOG.external)))]
    listed = {"resources": [*definitions, *(f"rbac/{name}" for name in rbac.texts())]}
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return f"# Made by {COMMAND}.\n" + yaml.safe_dump({**kind, **listed}, sort_keys=False)


def main() -> int:
    wanted = {FOLDER / name: text for name, text in texts(CATALOG.resources(CATALOG.external)).items()}
    made = {KUSTOMIZATION: kustomization_text(), DATA: api_text(CATALOG.features)}
    return write_or_check({**wanted, **made}, COMMAND)


if __name__ == "__main__":
    sys.exit(main())
