"""Which scenes are worth playing: those in which something is proposed that can be pasted.

Asked of a snapshot in this process, before anything is applied; whether it holds is for the cluster to say.
"""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from tests.e2e.advice.broken import BrokenScene, broken_scene

MOST_ATTEMPTS = 20
CONTENTS: Object = {
    "apiVersion": "mooring.dev/v1",
    "kind": "SnapshotContents",
    "metadata": {"name": "contents"},
    "kinds": [
        "CSIDriver",
        "CSINode",
        "CSIStorageCapacity",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "VolumeAttachment",
    ],
}


def worthwhile_scene(seed: int, folder: Path) -> BrokenScene:
    """The first scene of a seed that is worth playing, or the last that was looked at."""
    scene = broken_scene(seed)
    for attempt in range(1, MOST_ATTEMPTS):
        if _is_worthwhile(scene, folder):
            break
        scene = broken_scene(seed, attempt)
    return scene


def _is_worthwhile(scene: BrokenScene, folder: Path) -> bool:
    cluster, work = folder / "cluster.yaml", folder / "work.yaml"
    objects = [CONTENTS, *scene.nodes, *scene.storage, *scene.residents]
    cluster.write_text("---\n".join(map(to_yaml, objects)), encoding="utf-8")
    work.write_text(to_yaml(scene.workload), encoding="utf-8")
    asked = ["explain", "-f", str(work), "--snapshot", str(cluster), "-o", "json"]
    answer = json.loads(CliRunner().invoke(cli, asked).stdout)
    return any(can_be_pasted(advice) for pod in answer.get("pods", [answer]) for advice in pod.get("advice", ()))


def can_be_pasted(advice: Object) -> bool:
    """Whether there is a command, or nothing to do but to add nodes."""
    return advice["command"] is not None or all(edit["op"] == "addNode" for edit in advice["edits"])
