"""Loading a large snapshot, and explaining a pod in it: time and memory, each in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.fleet import write

NODES, PODS = 5_000, 50_000


def prepare(folder: Path, form: str) -> Path:
    """The snapshot file, made once per checkout."""
    path = folder / f"fleet-{NODES}-{PODS}.{form}"
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


def hopeless_pod() -> dict[str, Any]:
    """A pod that every node refuses, and for several reasons, so that advice has the most to look at."""
    resources = {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"nvidia.com/gpu": "16"}}
    spec = {
        "containers": [{"name": "main", "image": "reg/llm:v1", "resources": resources}],
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HMB3"},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "llm"}},
            }
        ],
    }
    meta = {"name": "llm", "namespace": "default", "labels": {"app": "llm"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def main(path: str) -> None:
    import msgspec

    from mooring.api.core.defaults import default_pod
    from mooring.api.core.types import Pod
    from mooring.cli.snapshot import load_snapshot
    from mooring.placement.advise import advise
    from mooring.placement.engine import Engine

    started = time.perf_counter()
    cluster = load_snapshot([path]).cluster
    loaded = time.perf_counter() - started
    engine = Engine(cluster)
    defaulted = default_pod(hopeless_pod())
    pod = cluster.compiler.compile(msgspec.convert(defaulted, Pod))
    engine.explain(pod)
    started = time.perf_counter()
    explanation = engine.explain(pod)
    explained = time.perf_counter() - started
    started = time.perf_counter()
    advise(engine, explanation, defaulted)
    advised = time.perf_counter() - started
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    print(json.dumps({"load": loaded, "explain": explained, "advise": advised, "peak": peak}))


if __name__ == "__main__":
    main(sys.argv[1])
