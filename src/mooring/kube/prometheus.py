"""Counters, gauges and histograms in Prometheus' text form.

Every series that can be known beforehand exists from the start with the value 0, so that a dashboard never has gaps and
a rate is right from the first scrape.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import product

__all__ = ["Histogram", "Metric", "exposition"]


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

    def clear(self) -> None:
        """Forget all series: for gauges that are counted afresh at every scrape."""
        self._values.clear()

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0.0)

    def lines(self) -> Iterable[str]:
        for values, number in sorted(self._values.items()):
            yield f"{self.name}{_braces(self._labels, values)} {number:.15g}"


class Histogram(Metric):
    """Counts of values up to each of the bounds, with their number and sum."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        super().__init__(name, "histogram", help_text, labels)
        self._bounds = tuple(bounds)
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, *labels: str, value: float) -> None:
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._counts[labels] = [0] * (len(self._bounds) + 1)
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterable[str]:
        for values, counts in sorted(self._counts.items()):
            total = 0
            for number, bound in enumerate((*map(str, self._bounds), "+Inf")):
                total += counts[number]
                yield f"{self.name}_bucket{_braces((*self._labels, 'le'), (*values, bound))} {total}"
            yield f"{self.name}_sum{_braces(self._labels, values)} {self._sums[values]:g}"
            yield f"{self.name}_count{_braces(self._labels, values)} {total}"


def exposition(metrics: Iterable[Metric]) -> str:
    """Metrics as a scrape reads them, each series once: what several metrics of one name have counted is added up."""
    named: dict[str, list[Metric]] = {}
    for metric in metrics:
        named.setdefault(metric.name, []).append(metric)
    lines = []
    for name, (first, *others) in named.items():
        lines += [f"# HELP {name} {first.help}", f"# TYPE {name} {first.kind}", *_added(first, others)]
    return "\n".join(lines) + "\n"


def _added(first: Metric, others: Sequence[Metric]) -> Iterable[str]:
    if not others:
        return first.lines()
    series: dict[str, float] = {}
    for metric in (first, *others):
        for line in metric.lines():
            name, _, number = line.rpartition(" ")
            series[name] = series.get(name, 0.0) + float(number)
    return [f"{name} {number:.15g}" for name, number in series.items()]


def _braces(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
