"""All files of the chart that are made, by their paths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import mooring
from scripts.chart.crds import definition_texts
from scripts.chart.names import names_text
from scripts.chart.roles import roles_text, users_text
from scripts.chart.schema import schema_text
from scripts.made import ROOT

CHART: Final = ROOT / "charts" / "mooring"
COMMAND: Final = "python -m scripts.chart"

_CHART_YAML: Final = """\
# Made by {command}: the versions follow the program's.
apiVersion: v2
name: mooring
description: Lands AI workloads on the nodes people already own
type: application
version: {version}
appVersion: "{program}"
kubeVersion: ">= 1.33.0-0"
"""


def texts() -> dict[Path, str]:
    templates = CHART / "templates"
    return {
        CHART / "Chart.yaml": _CHART_YAML.format(
            command=COMMAND, version=chart_version(mooring.__version__), program=mooring.__version__
        ),
        CHART / "values.schema.json": schema_text(),
        templates / "_names.tpl": names_text(COMMAND),
        templates / "rbac" / "roles.yaml": roles_text(COMMAND),
        templates / "rbac" / "users.yaml": users_text(COMMAND),
        **{templates / "crds" / name: text for name, text in definition_texts(COMMAND).items()},
    }


def chart_version(program: str) -> str:
    """A version of a Python program as Helm writes it: 0.1.0.dev0 is 0.1.0-dev.0."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)(?:\.?(dev|a|b|rc)(\d+))?", program)
    if found is None:
        raise ValueError(f"{program} cannot be the version of a chart")
    release, stage, number = found.groups()
    return f"{release}-{stage}.{number}" if stage else release
