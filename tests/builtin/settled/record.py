"""Writes tests/data/controllers.jsonl.xz anew from a real control plane, after cases were added or changed.

python -m tests.builtin.settled.record              every case
python -m tests.builtin.settled.record jobs         only these

All cases are played side by side, a namespace each, and each step waits until everything has come to rest.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from mooring.kube.objects import Object
from mooring.testing.controlplane import ControlPlane
from mooring.testing.homes import GATES, home_in
from mooring.testing.http import Api
from tests.builtin.settled import answers
from tests.builtin.settled.cases import DRAWN, Case, cases
from tests.builtin.settled.clusters import Real, RealPlane
from tests.builtin.settled.nodes import NODES, ready
from tests.builtin.settled.playing import do
from tests.builtin.settled.snapshot import snapshot


def record(api: Api, chosen: list[Case]) -> dict[str, answers.Answer]:
    for node in NODES:
        ready(api, node)
    plane = RealPlane(api)
    places = {case.name: _place(plane, case.name) for case in chosen}
    found: dict[str, answers.Answer] = {case.name: [] for case in chosen}
    names: dict[str, dict[str, str]] = {case.name: {} for case in chosen}
    plane.settle()
    for number in range(max(len(case.steps) for case in chosen)):
        playing = [case for case in chosen if number < len(case.steps)]
        refused = {case.name: do(places[case.name], case.steps[number]) for case in playing}
        for node in NODES:
            ready(api, node)
        plane.settle()
        for case in playing:
            found[case.name].append((refused[case.name], snapshot(places[case.name], names[case.name])))
        print(f"step {number + 1} of {len(playing)} cases", flush=True)
    return found


def _place(plane: RealPlane, name: str) -> Real:
    made: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    assert plane.api.post("/api/v1/namespaces", made).code == 201, name
    return Real(plane, name)


def main() -> None:
    subjects = sys.argv[1:] or list(DRAWN)
    chosen = [case for subject in subjects for case in cases(subject)]
    with tempfile.TemporaryDirectory() as folder:
        plane = ControlPlane(Path(folder), ("kube-controller-manager",), gates=GATES)
        with plane, home_in(plane).api() as api:
            found = record(api, chosen)
    known = answers.read() if answers.PATH.exists() and sys.argv[1:] else {}
    answers.write({**known, **found})


if __name__ == "__main__":
    main()
