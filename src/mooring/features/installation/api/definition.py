"""Installation as a custom resource. `config/crd/` holds the definition that comes out of it."""

from __future__ import annotations

from typing import Final

from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.features.installation.api.installation import Installation
from mooring.features.installation.api.names import GROUP

INSTALLATIONS: Final = CustomResource(
    GROUP,
    "Installation",
    "installations",
    versions=(
        Version(
            "v1alpha1",
            Installation,
            columns=(
                PrinterColumn("Phase", "string", ".status.phase"),
                PrinterColumn("Version", "string", ".status.releases[0].version"),
                PrinterColumn("Message", "string", ".status.message"),
                AGE,
            ),
        ),
    ),
    short_names=("inst",),
    scope="Cluster",
)
