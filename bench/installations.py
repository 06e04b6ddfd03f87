"""What an installation costs beside Helm itself: CPU time of the controllers process, and of the Helms that it runs."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from mooring.testing.homes import EMBEDDED
from mooring.testing.tools import ToolMissing, tool
from tests.e2e.installations import InstallationSite, controllers_of, site_in

_TICK = os.sysconf("SC_CLK_TCK")
INSTALLATIONS = 5


class InstallationCost(NamedTuple):
    """Seconds of CPU per installation."""

    own: float
    helm: float
    # One `helm upgrade --install --wait` by hand.
    plain: float


def missing() -> str:
    try:
        tool("helm")
    except ToolMissing as error:
        return str(error)
    return ""


def measured(count: int = INSTALLATIONS) -> InstallationCost:
    with TemporaryDirectory() as folder, site_in(EMBEDDED, Path(folder)) as site:
        site.asks("warm")
        site.ended("warm")
        time.sleep(2)
        idle, _ = _spent(site, lambda: time.sleep(5))
        started = time.monotonic()
        own, helm = _spent(site, lambda: _installed(site, count))
        own -= idle / 5 * (time.monotonic() - started)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for number in range(count):
            chart = ("plain-" + str(number), "workspace", "--repo", site.url, "--version", "0.8.0")
            site.helm("upgrade", "--install", *chart, "-n", f"plain-{number}", "--create-namespace", "--wait")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    plain = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return InstallationCost(max(own, 0.0) / count, helm / count, plain / count)


def _installed(site: InstallationSite, count: int) -> None:
    for number in range(count):
        site.asks(f"made-{number}")
        assert site.ended(f"made-{number}")["phase"] == "Installed"


def _spent(site: InstallationSite, work: Callable[[], None]) -> tuple[float, float]:
    """CPU of the controllers process and of the processes that it has waited for."""
    pid = controllers_of(site.home)
    before = _cpu(pid)
    work()
    after = _cpu(pid)
    return after[0] - before[0], after[1] - before[1]


def _cpu(pid: int) -> tuple[float, float]:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    own, children = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return own / _TICK, children / _TICK
