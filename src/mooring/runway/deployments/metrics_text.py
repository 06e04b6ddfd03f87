"""Reads Prometheus' text form: the samples that a model server answers with.

Values of labels may hold anything, braces and commas included, so lines are read from left to right and not cut at
characters. What is no such text is refused with its line: half a scrape would look like a whole one.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from mooring.kube.errors import MooringError

__all__ = ["MetricSample", "read_samples"]

_NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL: Final = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,?)')
# A value, and after it a timestamp, or an exemplar of OpenMetrics; neither is of use here.
_VALUE: Final = re.compile(r"\s+([^\s_]+)(?:\s+-?[0-9.]+)?(?:\s+#.*)?\s*")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPED: Final = {"n": "\n"}
_MOST_SHOWN: Final = 80


class MetricSample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float

    @property
    def number(self) -> float | str:
        """The value as JSON can have it: what is no number is in Prometheus' own words."""
        if math.isfinite(self.value):
            return self.value
        return "NaN" if math.isnan(self.value) else "+Inf" if self.value > 0 else "-Inf"

    @property
    def line(self) -> str:
        """As Prometheus writes it."""
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in self.labels.items())
        return f"{self.name}{{{labels}}} {self.number}" if labels else f"{self.name} {self.number}"


def read_samples(text: str) -> list[MetricSample]:
    """Raises MooringError with the first line that is none of the format."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            sample = _sample(stripped)
            if sample is None:
                raise MooringError(f"line {number} is no metric in Prometheus' text form: {stripped[:_MOST_SHOWN]}")
            found.append(sample)
    return found


def _sample(line: str) -> MetricSample | None:
    name = _NAME.match(line)
    if name is None:
        return None
    labels: dict[str, str] = {}
    at = name.end()
    if line[at:].lstrip().startswith("{"):
        end = _labels(line, line.index("{", at) + 1, labels)
        if end is None:
            return None
        at = end
    # A closing brace needs no space before the value.
    value = _VALUE.fullmatch(" " + line[at:] if line[at - 1] == "}" else line[at:])
    if value is None:
        return None
    try:
        return MetricSample(name[0], labels, float(value[1]))
    except ValueError:
        return None


def _labels(line: str, at: int, labels: dict[str, str]) -> int | None:
    """Fill in labels up to the closing brace, and give what comes after it; None where there is none."""
    while (label := _LABEL.match(line, at)) is not None:
        labels[label[1]] = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), label[2])
        at = label.end()
        if not label[3]:
            break
    rest = line[at:].lstrip()
    return len(line) - len(rest) + 1 if rest.startswith("}") else None


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
