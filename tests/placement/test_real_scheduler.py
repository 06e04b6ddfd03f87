"""What kube-scheduler 1.35 said of drawn pods in drawn clusters: nodes, scores, words of events, victims, devices.

`python -m tests.placement.live.record` asks it again. `known_differences.json` beside the recording has what differs:
the case, and why.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.placement.drawn.differences import differences
from tests.placement.live.record import RECORDING, SEEDS, live_world, recorded
from tests.placement.live.replay import Replay

KNOWN = RECORDING.with_name("known_differences.json")
CHUNKS = 12


def differing(seed: int, case: dict[str, Any]) -> dict[str, list[str]]:
    world = live_world(seed)
    replay = Replay(world, case["refused"])
    found = {}
    for pod in world.waiting:
        name = pod["metadata"]["name"]
        told = dict(case["pods"][name])
        given = replay.answer(pod, told)
        if "refused" in told:
            told["refused"] = True
        if wrong := differences(told, given):
            found[f"{seed} {name}"] = wrong
    return found


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_drawn_pod_is_answered_as_the_real_scheduler_did(chunk: int) -> None:
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    for seed, case in sorted(recorded().items())[chunk::CHUNKS]:
        found = differing(seed, case)
        unknown = {name: wrong for name, wrong in found.items() if name not in known}
        assert not unknown, f"{len(unknown)} pods of world {seed}: {unknown}"
        gone = {name for name in known if name.split()[0] == str(seed)} - found.keys()
        assert not gone, f"no difference any more, to be taken out of {KNOWN.name}: {sorted(gone)}"


def test_the_recording_is_whole() -> None:
    cases = recorded()
    assert list(cases) == list(SEEDS)
    assert sum(len(case["pods"]) for case in cases.values()) > 3000
