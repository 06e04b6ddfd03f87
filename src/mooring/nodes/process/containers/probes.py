"""A probe's timing, and its verdict: how many results in a row make a container ready, or fail it."""

from __future__ import annotations

from typing import NamedTuple

from mooring.kube.objects import Object

__all__ = ["ProbeTiming", "ProbeVerdict"]


class ProbeTiming(NamedTuple):
    """The numbers of a probe, with the API's defaults."""

    delay: float
    period: float
    timeout: float
    successes: int
    failures: int

    @classmethod
    def of(cls, probe: Object) -> ProbeTiming:
        return cls(
            float(probe.get("initialDelaySeconds") or 0),
            float(probe.get("periodSeconds") or 10),
            float(probe.get("timeoutSeconds") or 1),
            int(probe.get("successThreshold") or 1),
            int(probe.get("failureThreshold") or 3),
        )


class ProbeVerdict(NamedTuple):
    """What the answers up to now amount to. `good` changes only when enough of them in a row say otherwise."""

    good: bool
    last: bool | None = None
    streak: int = 0

    def after(self, answer: bool, timing: ProbeTiming) -> ProbeVerdict:
        streak = self.streak + 1 if answer == self.last else 1
        enough = streak >= (timing.successes if answer else timing.failures)
        return ProbeVerdict(answer if enough else self.good, answer, streak)
