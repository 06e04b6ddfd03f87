"""Drawn definitions of custom kinds, and what kube-apiserver 1.35 finds wrong with them.

`python -m tests.conformance.language.record definitions` draws and records them. What differs is in
`differing_definitions.txt`.
"""

from __future__ import annotations

from pathlib import Path

from tests.conformance.language.replaying import hold, refused

DIFFERING = Path(__file__).with_name("differing_definitions.txt")


def test_definitions_are_refused_for_the_recorded_reasons() -> None:
    hold(refused(), DIFFERING)
