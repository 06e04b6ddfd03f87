"""Numbers that controllers publish: declared on the controller, and returned in decisions.

    RESTARTS = Counter("mooring_group_restarts_total", "Groups restarted as a whole.", ("reason",))

    Decision(..., metrics=(RESTARTS.add("PodFailed"),))

Counters and durations are counted once the writes of a decision went well, so that a retry does not count twice.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from mooring.kube.errors import MooringError


@dataclass(frozen=True, eq=False)
class ControllerMetric:
    """A name in Prometheus' manner, what it means, and the names of its labels. Compared by identity."""

    kind: ClassVar[Literal["counter", "gauge", "histogram"]]
    name: str
    help: str
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind == "counter" and not self.name.endswith("_total"):
            raise MooringError(f"counter {self.name} must end in _total")

    def _sample(self, labels: tuple[str, ...], value: float) -> Sample:
        if len(labels) != len(self.labels):
            raise MooringError(f"metric {self.name} has the labels {', '.join(self.labels) or '(none)'}, not {labels}")
        return Sample(self, labels, value)


class Sample(NamedTuple):
    metric: ControllerMetric
    labels: tuple[str, ...]
    value: float


def check_samples(controller: str, declared: Container[ControllerMetric], samples: Iterable[Sample]) -> None:
    for sample in samples:
        if sample.metric not in declared:
            raise MooringError(f"{controller} counts {sample.metric.name}, which it does not declare")


class Counter(ControllerMetric):
    kind = "counter"

    def add(self, *labels: str, amount: float = 1.0) -> Sample:
        return self._sample(labels, amount)


class Gauge(ControllerMetric):
    kind = "gauge"

    def set(self, *labels: str, value: float) -> Sample:
        return self._sample(labels, value)


@dataclass(frozen=True, eq=False)
class Durations(ControllerMetric):
    """A histogram of seconds, with the upper bounds of its buckets."""

    kind = "histogram"
    bounds: tuple[float, ...] = ()

    def observe(self, *labels: str, seconds: float) -> Sample:
        return self._sample(labels, seconds)
