"""What Mooring's controllers come to is what those of a real control plane came to, case by case and step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.builtin.controllers import control_plane
from mooring.runtime.controller import Controller
from tests.builtin.settled import answers
from tests.builtin.settled.cases import DRAWN, Case, cases
from tests.builtin.settled.clusters import Simulated
from tests.builtin.settled.nodes import NODES
from tests.builtin.settled.playing import do
from tests.builtin.settled.snapshot import snapshot

# Cases that are known to come to something else, with why.
KNOWN = Path(__file__).parent / "known.txt"
# These need no node that is alive, which nobody plays here.
_LEFT_OUT = ("node-lifecycle", "node-outages", "taint-eviction", "scheduler", "node-ipam", "horizontal-pod-autoscaler")


def known() -> dict[str, str]:
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def controllers() -> tuple[Controller, ...]:
    return tuple(each for each in control_plane() if each.name not in _LEFT_OUT)


def difference(case: Case, real: answers.Answer) -> str:
    """The first step after which things are not as they were in the real one; empty where there is none."""
    cluster = Simulated(controllers(), NODES)
    cluster.settle()
    names: dict[str, str] = {}
    for number, (step, (refusal, wanted)) in enumerate(zip(case.steps, real, strict=True)):
        refused = do(cluster, step)
        cluster.settle()
        found = snapshot(cluster, names)
        lines = [f"refused: {refused!r}, really: {refusal!r}"] if refused != refusal else []
        lines += [f"- {line}" for line in wanted if line not in found]
        # Real events get lost under load.
        lines += [f"+ {line}" for line in found if line not in wanted and not line.startswith("Event ")]
        if lines:
            return "\n".join([f"{case.name}, step {number}: {step}", *lines])
    return ""


@pytest.mark.parametrize("subject", DRAWN)
def test_it_comes_to_what_real_controllers_come_to(subject: str) -> None:
    real, differs = answers.read(), known()
    found = {case.name: difference(case, real[case.name]) for case in cases(subject)}
    wrong = [text for name, text in found.items() if text and name not in differs]
    assert not wrong, "\n\n".join(wrong[:3])
    mended = [name for name, text in found.items() if not text and name in differs]
    assert not mended, f"these are as in the real one now: {mended}"


def test_the_known_differences_are_few() -> None:
    assert len(known()) <= 2
