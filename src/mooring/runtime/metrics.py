"""What every driver counts."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.kube.prometheus import Histogram, Metric, exposition
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import ControllerMetric, Durations, Sample

RESULTS = ("done", "conflict", "failed", "postponed", "terminal", "unavailable")
# Seconds: reconciles take microseconds in memory and seconds only when something is wrong.
BUCKETS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


class RuntimeMetrics:
    """What every driver counts."""

    def __init__(self, controllers: Iterable[Controller]) -> None:
        controllers = tuple(controllers)
        names = [controller.name for controller in controllers]
        self.reconciles = Metric(
            "mooring_reconcile_total", "counter", "Runs of a controller by result.", ("controller", "result")
        )
        self.reconciles.start(names, RESULTS)
        self.seconds = Histogram(
            "mooring_reconcile_seconds", "How long a run took to decide.", ("controller",), BUCKETS
        )
        self.writes = Metric("mooring_writes_total", "counter", "Requests sent by verb.", ("controller", "verb"))
        self.writes.start(names, ("apply", "bind", "create", "delete", "evict", "patch"))
        self.relists = Metric("mooring_relists_total", "counter", "Whole lists taken of a kind.", ("kind",))
        declared = dict.fromkeys(metric for controller in controllers for metric in controller.metrics)
        self._own = {each: _metric(each) for each in declared}
        for each, metric in self._own.items():
            if not each.labels:
                metric.start()
        self.depth = Metric("mooring_queue_depth", "gauge", "Keys in the queue.", ())
        self.depth.start()

    @property
    def all(self) -> tuple[Metric, ...]:
        return (self.reconciles, self.seconds, self.writes, self.relists, self.depth, *self._own.values())

    def text(self) -> str:
        """All of them as a scrape reads them."""
        return exposition(self.all)

    def take(self, samples: Iterable[Sample], *, done: bool) -> None:
        """Take in what a decision publishes; its counters only if what it tells of was done."""
        for metric, labels, value in samples:
            own = self._own[metric]
            if metric.kind == "gauge":
                own.set(*labels, value=value)
            elif done and isinstance(own, Histogram):
                own.observe(*labels, value=value)
            elif done:
                own.add(*labels, amount=value)

    def own(self, metric: ControllerMetric, *labels: str) -> float:
        """The value of a metric that a controller declares."""
        return self._own[metric].value(*labels)


def _metric(declared: ControllerMetric) -> Metric:
    if isinstance(declared, Durations):
        return Histogram(declared.name, declared.help, declared.labels, declared.bounds)
    return Metric(declared.name, declared.kind, declared.help, declared.labels)
