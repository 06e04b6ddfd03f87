"""The ConfigMap that the autoscaler keeps: the status of the last loop, and the log of what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from mooring.api.core.views import ConfigMap
from mooring.features.autoscaler.reports.events import STATUS_CONFIG_MAP
from mooring.kube.times import timestamp
from mooring.manifests.emit import to_yaml
from mooring.runtime.decision import Apply
from mooring.runtime.reads import named
from mooring.workloads.kinds import CONFIG_MAP

__all__ = ["STATUS", "logged", "status_write"]

STATUS: Final = named(CONFIG_MAP)
# Older lines are dropped: a ConfigMap holds a megabyte.
_MOST_LINES: Final = 1000
_TIMES: Final = ("time", "lastProbeTime")


def logged(found: ConfigMap | None, lines: Iterable[str], now: datetime) -> str:
    """The log with more lines."""
    old = [] if found is None else found.data.get("log", "").splitlines()
    new = [f"{timestamp(now)} {line}" for line in lines]
    return "".join(f"{line}\n" for line in (*old, *new)[-_MOST_LINES:])


def status_write(
    found: ConfigMap | None, status: Mapping[str, Any], before: Mapping[str, Any], log: str
) -> list[Apply]:
    """Nothing where only the time has moved on."""
    if found is not None and found.data.get("log", "") == log and _without_times(status) == _without_times(before):
        return []
    data = {"status": to_yaml(dict(status)), "log": log}
    namespace, name = STATUS_CONFIG_MAP
    return [Apply(STATUS, {"metadata": {"namespace": namespace, "name": name}, "data": data})]


def _without_times(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {name: _without_times(value) for name, value in part.items() if name not in _TIMES}
    if isinstance(part, list):
        return [_without_times(each) for each in part]
    return part
