"""Helm's command lines: their arguments as Helm is run with them, and their text as a person would type it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.installation import ChartRepository
from mooring.features.installation.helm.value_flags import flatten

__all__ = [
    "add_commands",
    "by_hand",
    "history",
    "reference",
    "rollback",
    "show",
    "shown_command",
    "shown_upgrade",
    "uninstall",
    "upgrade",
    "upgrade_command",
]

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


def shown_command(argv: Sequence[str]) -> str:
    """A command line as text that a shell reads back as the same arguments."""
    return shlex.join(argv)


def upgrade_command(chart: HelmChart, *located: str) -> tuple[str, ...]:
    """`helm upgrade --install` of a chart, by hand. `located` is the chart as Helm finds it: `kaito/workspace`."""
    return ("helm", *_upgrade(chart, located, _value_flags(chart), skip_crds=chart.skip_crds), "--wait")


def by_hand(repository: ChartRepository, charts: Iterable[HelmChart]) -> tuple[str, ...]:
    """What a person types to have the same, where Mooring cannot do it."""
    known = () if repository.is_registry else add_commands(repository)
    commands = (*known, *(upgrade_command(each, *reference(each, repository)) for each in charts))
    return tuple(map(shown_command, commands))


def add_commands(repository: ChartRepository) -> tuple[tuple[str, ...], ...]:
    """What makes the name of a repository known to the Helm of a person. A registry needs none of it."""
    return ("helm", "repo", "add", repository.name, repository.url), ("helm", "repo", "update")


def reference(chart: HelmChart, repository: ChartRepository) -> tuple[str, ...]:
    """A chart as a person names it."""
    if repository.is_registry:
        return _in_registry(chart, repository)
    return (f"{repository.name}/{_plain_name(chart, repository)}",)


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
    if repository.is_registry:
        return _in_registry(chart, repository)
    return (_plain_name(chart, repository), "--repo", repository.url)


def _in_registry(chart: HelmChart, repository: ChartRepository) -> tuple[str, ...]:
    """By its whole address, as `--repo` takes no registry. To this machine Helm 3 speaks HTTP unasked, 4 does not."""
    is_here = urlsplit(repository.url).hostname in _LOOPBACK
    whole = f"{repository.url.rstrip('/')}/{_plain_name(chart, repository)}"
    return (whole, "--plain-http") if is_here else (whole,)


def _plain_name(chart: HelmChart, repository: ChartRepository) -> str:
    return chart.chart.removeprefix(f"{repository.name}/")


def _waiting(seconds: int) -> tuple[str, ...]:
    return ("--wait", "--timeout", f"{seconds}s")
