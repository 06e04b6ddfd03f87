"""Normalisers: what differs from run to run by nature is replaced by its name, on both sides alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mooring.notebook_runner.settings import ComparisonRules

__all__ = ["normalizer_of", "without_ansi"]

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UUID: Final = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_ADDRESS: Final = re.compile(r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{6,16}(?![0-9A-Za-z])")
# Absolute paths of at least two parts; the last part, which the notebook's author chose, is kept.
_PATH: Final = re.compile(r"(?<![\w/.:~-])(?:~|[A-Za-z]:)?(?:[/\\][\w.@+~-]+)+[/\\](?=[\w.@+~-])")
# A cell's code has a file name with the process id of the kernel in it; warnings print it.
_KERNEL_FILE: Final = re.compile(r"(?:[/\\][\w.@+~-]+)*[/\\]ipykernel_[0-9]+[/\\][0-9]+\.py")
_CARRIAGE_RETURN: Final = re.compile(r"[^\n]*\r(?!\n|$)")

_ZONE: Final = r"(?:\s?(?:Z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2}))?"
_CLOCK: Final = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\s?[AaPp][Mm])?"
_UNIT: Final = r"(?:ns|us|µs|μs|ms|s|secs?|seconds?|mins?|minutes?|m|h|hours?)"
_SPAN: Final = rf"(?:[0-9]+(?:\.[0-9]+)?\s?{_UNIT}\s?)+"
# Each matches whole tokens only: digits inside a longer number are no timestamp.
TIMESTAMPS: Final = (
    rf"(?<![\w.])[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_CLOCK}{_ZONE}(?![\w.]*[0-9])",
    rf"(?<![\w.])[0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{4}}(?:,?\s{_CLOCK}{_ZONE})?(?![\w.]*[0-9])",
    rf"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,?\s+\w+\s+[0-9]{{1,2}},?\s+{_CLOCK}{_ZONE}\s+[0-9]{{4}}\b",
    # A duration is one only where the text says that it is: 1.5s alone may be a result.
    rf"(?i:\b(?:execution time|duration|elapsed(?: time)?|wall time|cpu times?)\s*[:=]\s*){_SPAN}(?!\w)",
    rf"(?i:\bCPU times: ).*?total: {_SPAN}(?!\w)",
    # Seconds or milliseconds since 1970, between 2014 and 2034.
    r"(?<![\w.,+-])(?:1[4-9][0-9]{8}|20[0-3][0-9]{7})(?:[0-9]{3})?(?![\w]|[.,][0-9])",
)


def without_ansi(text: str) -> str:
    """Colours and other orders to a terminal left out."""
    return _ANSI.sub("", text)


def normalizer_of(rules: ComparisonRules) -> Callable[[str], str]:
    """What `rules` do to a text, in a fixed order. Applied twice, it does no more than once."""
    if rules.strategy == "exact":
        return _unchanged
    steps: list[tuple[re.Pattern[str], str]] = [(_CARRIAGE_RETURN, ""), (_KERNEL_FILE, "<cell>")]
    if "ansi" in rules.normalizers:
        steps.insert(0, (_ANSI, ""))
    if rules.ignore_timestamps or "timestamps" in rules.normalizers:
        steps += [(re.compile(pattern), "<timestamp>") for pattern in (*rules.timestamp_patterns, *TIMESTAMPS)]
    if "uuids" in rules.normalizers:
        steps.append((_UUID, "<uuid>"))
    if "addresses" in rules.normalizers:
        steps.append((_ADDRESS, "<address>"))
    if "paths" in rules.normalizers:
        steps.append((_PATH, "<path>/"))

    def normalized(text: str) -> str:
        for pattern, name in steps:
            text = pattern.sub(name, text)
        return text

    return normalized


def _unchanged(text: str) -> str:
    return text
