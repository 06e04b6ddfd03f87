"""Loading a large snapshot, and explaining a pod in it: time and memory, each in a process of its own."""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench import fleet
from bench.fleet import write

NODES, PODS = 5_000, 50_000


def prepare(folder: Path, form: str) -> Path:
    """The snapshot file, made once for every state of its generator."""
    made_by = hashlib.blake2b(Path(fleet.__file__).read_bytes(), digest_size=4).hexdigest()
    path = folder / f"fleet-{NODES}-{PODS}-{made_by}.{form}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".part")
        write(half, NODES, PODS, 1, form)
        half.rename(path)
    return path


def measured(path: Path) -> dict[str, float]:
    """Load and ask in a fresh process, so that memory is that of the work alone."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.snapshots", str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def hopeless_pods() -> list[dict[str, Any]]:
    """Pods that every node refuses, each for something else: the slowest of them counts."""

    def pod(requests: dict[str, str], limits: dict[str, str], **spec: Any) -> dict[str, Any]:
        resources = {"requests": requests, "limits": limits}
        meta = {"name": "llm", "namespace": "default", "labels": {"app": "llm"}}
        container = {"name": "main", "image": "reg/llm:v1", "resources": resources}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], **spec}}

    everyone = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {}, "namespaceSelector": {}}
    avoids = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [everyone]}}
    small = {"cpu": "1", "memory": "1Gi"}
    return [
        pod(small, {}, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HMB3"}),
        pod(small, {"nvidia.com/gpu": "8"}),
        pod({"cpu": "400", "memory": "1Gi"}, {}),
        pod(small, {}, affinity=avoids),
        pod({"cpu": "400", "memory": "1Gi"}, {"nvidia.com/gpu": "16"}, nodeSelector={"pool": "gpus", "tier": "x"}),
    ]


def main(path: str) -> None:
    import msgspec

    from mooring.api.core.defaults.pods import default_pod
    from mooring.api.core.types import Pod
    from mooring.cli.sources.snapshot_source import load_snapshot
    from mooring.placement.advise import Asked, advise
    from mooring.placement.engine import Engine

    started = time.perf_counter()
    cluster = load_snapshot([path]).cluster
    loaded = time.perf_counter() - started
    engine = Engine(cluster)
    explained = single = together = 0.0
    for hopeless in hopeless_pods():
        defaulted = default_pod(hopeless)
        pod = cluster.compiler.compile(msgspec.convert(defaulted, Pod))
        engine.explain(pod)
        started = time.perf_counter()
        explanation = engine.explain(pod)
        explained = max(explained, time.perf_counter() - started)
        assert not explanation.feasible.size
        started = time.perf_counter()
        advise(engine, Asked(explanation, defaulted), most_changes=1)
        single = max(single, time.perf_counter() - started)
        started = time.perf_counter()
        advise(engine, Asked(explanation, defaulted))
        together = max(together, time.perf_counter() - started)
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    print(json.dumps({"load": loaded, "explain": explained, "advise": single, "together": together, "peak": peak}))


if __name__ == "__main__":
    main(sys.argv[1])
