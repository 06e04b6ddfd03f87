"""Drawn sequences of writes by several managers, with the objects, managers and conflicts of kube-apiserver 1.35.

`python -m tests.conformance.language.record applies` draws and records them. What differs is in `differing.txt`, by the
number of the request and what it is about.
"""

from __future__ import annotations

from pathlib import Path

from tests.conformance.language.replaying import hold, replayed

DIFFERING = Path(__file__).with_name("differing.txt")


def test_writes_of_several_managers_have_the_recorded_outcome() -> None:
    hold(replayed("applies"), DIFFERING)
