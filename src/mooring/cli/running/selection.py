"""Which controllers run: `--controllers` in words. The names are kept here so that nobody must import them to check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mooring.cli.errors import InputError

__all__ = ["CONTROLLERS", "select_controllers"]

CONTROLLERS: Final = (
    "deployment",
    "replicaset",
    "statefulset",
    "claims",
    "job",
    "job-orphans",
    "disruption",
    "endpoints",
    "endpointslices",
    "scheduler",
    "nodes",
    "node-ipam",
    "node-lifecycle",
    "node-outages",
    "taint-eviction",
    "pod-gc",
    "garbage-collector",
    "namespace",
)
"""Every built-in controller, in the order of the crew."""


def select_controllers(text: str, usual: Sequence[str] = CONTROLLERS) -> tuple[str, ...]:
    """`a,b` runs these, `-c` the usual ones but that one, `*` all; later words count more than earlier ones."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError(
            f"--controllers names none; there are {', '.join(CONTROLLERS)}, * for all and -NAME for all but one"
        )
    chosen = set(usual) if words[0].startswith("-") else set()
    for word in words:
        names = _names(word.removeprefix("-"))
        chosen = chosen - names if word.startswith("-") else chosen | names
    return tuple(name for name in CONTROLLERS if name in chosen)


def _names(word: str) -> set[str]:
    if word == "*":
        return set(CONTROLLERS)
    if word in CONTROLLERS:
        return {word}
    raise InputError(f'--controllers: there is no controller "{word}"; there are {", ".join(CONTROLLERS)}')
