"""The text of Helm's commands as a person would type them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.helm.value_flags import flatten


def shown_command(argv: Sequence[str]) -> str:
    """A command line as text that a shell reads back as the same arguments."""
    return shlex.join(argv)


def upgrade_command(chart: HelmChart, reference: str) -> tuple[str, ...]:
    """`helm upgrade --install` of a chart, by hand. `reference` is the chart as Helm finds it: `kaito/workspace`."""
    return (
        *("helm", "upgrade", "--install", chart.name, reference),
        *("--version", chart.version, "-n", chart.namespace),
        *(("--create-namespace",) if chart.create_namespace else ()),
        *(each for flag in flatten(chart.values or {}) for each in flag),
        *(("--skip-crds",) if chart.skip_crds else ()),
        "--wait",
    )
