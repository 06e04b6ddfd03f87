"""Counters, gauges and histograms in Prometheus' text form, and the ones that every driver keeps.

Every series exists from the start with the value 0, so that a dashboard never has gaps and a rate is right from the
first scrape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import product

from mooring.runtime.controller import Controller

RESULTS = ("done", "conflict", "failed", "terminal", "unavailable")
# Seconds: reconciles take microseconds in memory and seconds only when something is wrong.
BUCKETS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metric:
    """One name with its label names; a value per combination of label values."""

    def __init__(self, name: str, kind: str, help_text: str, labels: Sequence[str]) -> None:
        self.name, self.kind, self.help = name, kind, help_text
        self._labels = tuple(labels)
        self._values: dict[tuple[str, ...], float] = {}

    def start(self, *values: Iterable[str]) -> None:
        """Make a series of value 0 for every combination."""
        for combination in product(*values):
            self._values.setdefault(combination, 0.0)

    def add(self, *labels: str, amount: float = 1.0) -> None:
        self._values[labels] = self._values.get(labels, 0.0) + amount

    def set(self, *labels: str, value: float) -> None:
        self._values[labels] = value

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0.0)

    def lines(self) -> Iterable[str]:
        for values, number in sorted(self._values.items()):
            yield f"{self.name}{_braces(self._labels, values)} {number:g}"


class Histogram(Metric):
    def __init__(self, name: str, help_text: str, labels: Sequence[str]) -> None:
        super().__init__(name, "histogram", help_text, labels)
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, *labels: str, value: float) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(BUCKETS) + 1))
        counts[bisect_left(BUCKETS, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterable[str]:
        for values, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                yield f"{self.name}_bucket{_braces((*self._labels, 'le'), (*values, bound))} {total}"
            yield f"{self.name}_sum{_braces(self._labels, values)} {self._sums[values]:g}"
            yield f"{self.name}_count{_braces(self._labels, values)} {total}"


class RuntimeMetrics:
    """What every driver counts."""

    def __init__(self, controllers: Iterable[Controller]) -> None:
        names = [controller.name for controller in controllers]
        self.reconciles = Metric(
            "mooring_reconcile_total", "counter", "Runs of a controller by result.", ("controller", "result")
        )
        self.reconciles.start(names, RESULTS)
        self.seconds = Histogram("mooring_reconcile_seconds", "How long a run took to decide.", ("controller",))
        self.writes = Metric("mooring_writes_total", "counter", "Requests sent by verb.", ("controller", "verb"))
        self.writes.start(names, ("apply", "bind", "create", "delete", "patch"))
        self.relists = Metric("mooring_relists_total", "counter", "Whole lists taken of a kind.", ("kind",))
        self.depth = Metric("mooring_queue_depth", "gauge", "Keys in line.", ())
        self.depth.start()

    def text(self) -> str:
        """All of them as a scrape reads them."""
        lines = []
        for metric in (self.reconciles, self.seconds, self.writes, self.relists, self.depth):
            lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        return "\n".join(lines) + "\n"


def _braces(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
