"""Drawn objects of a kind with every sort of bound and rule, created and changed: the answers of kube-apiserver 1.35.

`python -m tests.conformance.language.record objects` draws and records them. What differs is in
`differing_objects.txt`, by the number of the request.
"""

from __future__ import annotations

from pathlib import Path

from tests.conformance.language.replaying import hold, replayed

DIFFERING = Path(__file__).with_name("differing_objects.txt")


def test_objects_are_pruned_filled_and_refused_as_recorded() -> None:
    hold(replayed("objects"), DIFFERING)
