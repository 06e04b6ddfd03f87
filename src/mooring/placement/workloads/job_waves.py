"""A Job that does not run all of its pods at once: because it may not, or because there is no room for them.

Pods of a Job are alike and end, so one that finds no place now takes that of one which has ended. In how many waves the
Job runs follows from how many pods have a place at once; how long that takes, where pods say how long they run.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

from mooring.kube.durations import parse_duration
from mooring.kube.objects import Object

__all__ = ["JobWaves", "job_waves"]

_DURATION: Final = "mooring.dev/duration"


class JobWaves(NamedTuple):
    pods: int
    # How many run at once, and whether it is room that keeps it from being more.
    at_once: int
    is_crowded: bool
    # How long all of it takes; None where pods do not say how long they run.
    took: timedelta | None

    @property
    def number(self) -> int:
        return -(-self.pods // self.at_once)


def job_waves(spec: Object, landed: int, start_delay: timedelta) -> JobWaves | None:
    """The waves of a Job of which so many pods have a place now; None for one that has no waves.

    A Job without completions ends with its first pod that succeeds, so it has none.
    """
    completions, parallelism = spec.get("completions"), spec.get("parallelism", 1)
    if not isinstance(completions, int) or not isinstance(parallelism, int) or spec.get("suspend"):
        return None
    wanted = min(completions, parallelism)
    at_once = min(wanted, landed)
    if at_once < 1 or completions <= at_once:
        return None
    found = JobWaves(completions, at_once, at_once < wanted, None)
    duration = _duration(spec)
    return found if duration is None else found._replace(took=found.number * (start_delay + duration))


def _duration(spec: Object) -> timedelta | None:
    found: Any = spec
    for key in ("template", "metadata", "annotations", _DURATION):
        found = found.get(key) if isinstance(found, dict) else None
    return parse_duration(found) if isinstance(found, str) else None
