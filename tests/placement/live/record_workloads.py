"""Has real controllers make the pods of drawn workloads, and writes down what these pods are.

    python -m tests.placement.live.record_workloads

Random parts of names are cut off, and the hash of a template is called so. A workload that the API refuses is noted as
that; a CronJob is run by hand, as `kubectl create job --from` does.
"""

from __future__ import annotations

import json
import lzma
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from mooring.kube.objects import Object
from mooring.testing.controlplane import ControlPlane
from mooring.testing.http import Api
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.nodes import draw_nodes
from tests.placement.drawn.pods import PRIORITIES, WAITING, draw_pod
from tests.placement.drawn.workloads import KINDS, draw_workload
from tests.placement.live.scheduler import FLAGS

RECORDING: Final = Path(__file__).parents[2] / "data" / "placement" / "workloads.jsonl.xz"
SEEDS: Final = range(20_000, 20_140)
# What differs from cluster to cluster, and what only the API server knows.
_LEFT_OUT: Final = ("serviceAccountName", "serviceAccount", "nodeName")
_HASHES: Final = ("pod-template-hash", "controller-revision-hash", "pod-template-generation")
_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_UIDS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")


def drawn_workload(seed: int) -> Object:
    dice = Dice(seed)
    nodes = draw_nodes(dice)
    pod = draw_pod(dice, "unused", nodes, dice.some(WAITING, 0, 2))
    # A class that is there, and nothing of which the API server would say that it is not.
    pod["spec"].pop("runtimeClassName", None)
    pod["spec"].pop("overhead", None)
    kinds = [kind for kind in KINDS if kind != "DaemonSet"]
    workload = draw_workload(dice, pod, f"work-{seed}", kinds[seed % len(kinds)])
    workload["metadata"]["namespace"] = pod["metadata"]["namespace"]
    return workload


def normal(pod: Object, workload: str) -> Object:
    """A pod without what is random in it."""
    metadata, spec = pod["metadata"], pod["spec"]
    labels = {key: "hash" if key in _HASHES else value for key, value in metadata.get("labels", {}).items()}
    for key in _UIDS:
        labels.pop(key, None)
    (owner,) = metadata.get("ownerReferences") or [None]
    # Nobody is less important than others unless it is said.
    usual = {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
    found: Object = {"labels": labels, "spec": usual | {key: spec[key] for key in spec if key not in _LEFT_OUT}}
    if owner is not None:
        told = {key: owner.get(key) for key in ("apiVersion", "kind", "controller", "blockOwnerDeletion")}
        found["owner"] = {**told, "isDirect": owner["name"] == workload}
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key != _INDEX}
    if annotations:
        found["annotations"] = annotations
    if owner is not None and owner["kind"] == "Job":
        # A pod with an index is told it in ways that matter to itself alone.
        found["spec"].pop("hostname", None)
        found["spec"]["containers"] = [
            {key: each[key] for key in each if key != "env"} for each in found["spec"]["containers"]
        ]
    return found


class Controllers:
    def __init__(self, api: Api) -> None:
        self.api = api

    def make(self, workload: Object) -> Any:
        kind, metadata = workload["kind"], workload["metadata"]
        path = self._path(workload)
        refused = self.api.post(path, workload)
        if refused.code != 201:
            return {"refused": str(refused.body["message"])}
        name = metadata["name"]
        if kind == "CronJob":
            name = f"{name}-1"
            job: Object = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {**metadata, "name": name}}
            job["spec"] = refused.body["spec"]["jobTemplate"]["spec"]
            made = self.api.post(path.replace("cronjobs", "jobs"), job)
            assert made.code == 201, made.body
        pods = self._settled(f"/api/v1/namespaces/{metadata['namespace']}/pods", name)
        shown = [{"name": pod["metadata"]["name"], **normal(pod, name)} for pod in pods]
        return {"pods": sorted(shown, key=lambda pod: pod["name"])}

    def _path(self, workload: Object) -> str:
        group, kind = workload["apiVersion"], workload["kind"]
        root = f"/apis/{group}" if "/" in group else f"/api/{group}"
        return f"{root}/namespaces/{workload['metadata']['namespace']}/{kind.lower()}s"

    def _settled(self, path: str, name: str) -> list[Object]:
        """The pods of a workload, once no more have come for a while; the first may take longer."""
        found: list[Object] = []
        since = time.monotonic()
        while time.monotonic() - since < (2 if found else 6):
            time.sleep(0.1)
            pods = self.api.get(path).body["items"]
            now = [each for each in pods if each["metadata"]["name"].startswith(f"{name}-")]
            if len(now) != len(found):
                found, since = now, time.monotonic()
        return found


def recorded() -> dict[int, Any]:
    cases = [json.loads(line) for line in lzma.decompress(RECORDING.read_bytes()).splitlines()]
    return {case["seed"]: case for case in cases}


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        ControlPlane(Path(folder), ["kube-controller-manager"], flags=FLAGS) as plane,
        Api(plane.url, plane.token, plane.ca) as api,
    ):
        for namespace in ("shop", "lab"):
            api.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for name, value in PRIORITIES.items():
            api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        controllers = Controllers(api)
        lines = []
        for seed in SEEDS:
            lines.append(json.dumps({"seed": seed, **controllers.make(drawn_workload(seed))}, separators=(",", ":")))
            print(seed, lines[-1][:100], flush=True)
    RECORDING.write_bytes(
        lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    )


if __name__ == "__main__":
    main()
