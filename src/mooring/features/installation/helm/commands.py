"""Helm's command lines: their arguments as Helm is run with them, and their text as a person would type it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.installation import ChartRepository
from mooring.features.installation.helm.value_flags import flatten

__all__ = [
    "by_hand",
    "history",
    "rollback",
    "show",
    "shown_command",
    "shown_upgrade",
    "uninstall",
    "upgrade",
    "upgrade_command",
]


def shown_command(argv: Sequence[str]) -> str:
    """A command line as text that a shell reads back as the same arguments."""
    return shlex.join(argv)


def upgrade_command(chart: HelmChart, reference: str) -> tuple[str, ...]:
    """`helm upgrade --install` of a chart, by hand. `reference` is the chart as Helm finds it: `kaito/workspace`."""
    return ("helm", *_upgrade(chart, (reference,), _value_flags(chart), skip_crds=chart.skip_crds), "--wait")


def by_hand(repository: ChartRepository, charts: Iterable[HelmChart]) -> tuple[str, ...]:
    """What a person types to have the same, where Mooring cannot do it."""
    commands = [
        ("helm", "repo", "add", repository.name, repository.url),
        ("helm", "repo", "update"),
        *(upgrade_command(each, f"{repository.name}/{_plain_name(each, repository)}") for each in charts),
    ]
    return tuple(map(shown_command, commands))


def upgrade(chart: HelmChart, repository: ChartRepository, seconds: int, *, skip_crds: bool) -> tuple[str, ...]:
    """The arguments that install a chart, or upgrade its release, and wait until it is ready; values are in a file."""
    return (*_upgrade(chart, _located(chart, repository), (), skip_crds=skip_crds), *_waiting(seconds))


def shown_upgrade(chart: HelmChart, repository: ChartRepository, seconds: int, *, skip_crds: bool) -> str:
    """The same for people, with the values as flags."""
    arguments = _upgrade(chart, _located(chart, repository), _value_flags(chart), skip_crds=skip_crds)
    return shown_command(("helm", *arguments, *_waiting(seconds)))


def show(what: str, chart: HelmChart, repository: ChartRepository) -> tuple[str, ...]:
    """The arguments that print a part of a chart: `chart`, `crds`."""
    return ("show", what, *_located(chart, repository), "--version", chart.version)


def history(release: str, namespace: str) -> tuple[str, ...]:
    return ("history", release, "-n", namespace, "--max", "20", "-o", "json")


def rollback(release: str, namespace: str, revision: int, seconds: int) -> tuple[str, ...]:
    return ("rollback", release, str(revision), "-n", namespace, *_waiting(seconds))


def uninstall(release: str, namespace: str, seconds: int) -> tuple[str, ...]:
    """What it brought is gone when it ends, with all that belonged to it."""
    return ("uninstall", release, "-n", namespace, "--ignore-not-found", "--cascade", "foreground", *_waiting(seconds))


def _upgrade(chart: HelmChart, located: Sequence[str], values: Sequence[str], *, skip_crds: bool) -> tuple[str, ...]:
    return (
        *("upgrade", "--install", chart.name, *located, "--version", chart.version, "-n", chart.namespace),
        *(("--create-namespace",) if chart.create_namespace else ()),
        *values,
        *(("--skip-crds",) if skip_crds else ()),
    )


def _value_flags(chart: HelmChart) -> tuple[str, ...]:
    return tuple(each for flag in flatten(chart.values or {}) for each in flag)


def _located(chart: HelmChart, repository: ChartRepository) -> tuple[str, ...]:
    """By the address, not by a name that `helm repo add` would have to know."""
    return (_plain_name(chart, repository), "--repo", repository.url)


def _plain_name(chart: HelmChart, repository: ChartRepository) -> str:
    return chart.chart.removeprefix(f"{repository.name}/")


def _waiting(seconds: int) -> tuple[str, ...]:
    return ("--wait", "--timeout", f"{seconds}s")
