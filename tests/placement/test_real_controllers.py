"""The pods that `explain` takes a workload for are those that the controllers of a real cluster make of it.

`python -m tests.placement.live.record_workloads` asks them again.
"""

from __future__ import annotations

from typing import Any

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.snapshot import VIEWS, Snapshot
from mooring.runtime.settings import DEFAULTS
from mooring.runway.explain.asked_pods.given import GivenList
from mooring.runway.explain.asked_pods.manifest_pods import read_manifest_pods
from mooring.runway.explain.asked_pods.unplaced_pods import UnplacedPod
from tests.placement.drawn.differences import differences
from tests.placement.drawn.pods import PRIORITIES
from tests.placement.live.record_workloads import SEEDS, drawn_workload, normal, recorded


def expanded(workload: Object) -> list[UnplacedPod]:
    snapshot = Snapshot()
    for name, value in PRIORITIES.items():
        known: Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        snapshot.add(convert({**known, "value": value}, VIEWS["scheduling.k8s.io/v1", "PriorityClass"]))
    return read_manifest_pods(snapshot, GivenList("work", [workload]), "", "default", DEFAULTS).pods


def ours(workload: Object) -> list[Object] | None:
    """The pods by our word; None where it is that the API refuses them."""
    try:
        pods = expanded(workload)
    except MooringError:
        return None
    if any(pod.errors for pod in pods):
        return None
    name = workload["metadata"]["name"] + ("-1" if workload["kind"] == "CronJob" else "")
    return [{"name": pod.pod["metadata"]["name"], **normal(pod.pod, name)} for pod in pods]


def matching(real: Object, found: list[Object], number: int) -> Object:
    """The pod of ours that a real one is held to: of the same name where names are not random."""
    by_name = [each for each in found if real["name"] == each["name"] or real["name"].startswith(f"{each['name']}-")]
    # All others are alike.
    made = by_name[0] if by_name else found[number]
    return {**made, "name": real["name"]}


def test_workloads_come_to_the_pods_that_real_controllers_make() -> None:
    seen: set[str] = set()
    for seed, case in recorded().items():
        workload = drawn_workload(seed)
        found = ours(workload)
        seen.add(workload["kind"])
        if "refused" in case:
            assert found is None or not found, f"seed {seed}: {case['refused']}"
            continue
        real: list[Any] = case["pods"]
        assert found is not None, f"seed {seed} is refused"
        job_that_waits = bool(workload["spec"].get("suspend"))
        one_by_one = workload["kind"] == "StatefulSet" and "podManagementPolicy" not in workload["spec"]
        if workload["kind"] != "CronJob" and not job_that_waits:
            assert len(real) == (min(len(found), 1) if one_by_one else len(found)), f"seed {seed}"
        for number, pod in enumerate(real):
            wrong = differences(pod, matching(pod, found, number))
            assert not wrong, f"seed {seed}, {workload['kind']}: {wrong[:4]}"
    assert len(seen) == 6


def test_the_recording_is_whole() -> None:
    assert list(recorded()) == list(SEEDS)
