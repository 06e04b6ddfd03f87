"""What every driver counts."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.kube.prometheus import Histogram, Metric, exposition
from mooring.runtime.controller import Controller

RESULTS = ("done", "conflict", "failed", "postponed", "terminal", "unavailable")
# Seconds: reconciles take microseconds in memory and seconds only when something is wrong.
BUCKETS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


class RuntimeMetrics:
    """What every driver counts."""

    def __init__(self, controllers: Iterable[Controller]) -> None:
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
        self.depth = Metric("mooring_queue_depth", "gauge", "Keys in line.", ())
        self.depth.start()

    def text(self) -> str:
        """All of them as a scrape reads them."""
        return exposition((self.reconciles, self.seconds, self.writes, self.relists, self.depth))
