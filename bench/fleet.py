"""Generates a believable cluster as `kubectl get nodes,pods,... -A -o yaml` prints it.

Load time and memory depend on what the file is like: how many replicas share a template, how much of each object is
status and volumes that placement never reads. So the fleet has a few hundred workloads of uneven size, complete pods
as an API server returns them, and nodes with conditions and image lists; pods are bound within capacity. The same seed
gives the same bytes.

    python -m bench.fleet --nodes 5000 --pods 50000 --format yaml --out cluster.yaml
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.fleet_nodes import SHAPES, fleet_node, node
from bench.fleet_owners import controller, service
from bench.fleet_pods import fill, pod
from bench.fleet_workloads import TEAMS, workloads
from mooring.kube.objects import Object
from mooring.manifests.blocks import BlockReader
from mooring.manifests.emit import to_yaml


def fleet(nodes: int, pods: int, seed: int = 1) -> Iterator[str]:
    """The items of the List, as YAML documents."""
    yield from (to_yaml(item) for item in fixed_objects())
    for text, _ in rendered(nodes, pods, seed):
        yield text


def fixed_objects() -> Iterator[Object]:
    for team in (*TEAMS, "default", "kube-system"):
        labels = {"kubernetes.io/metadata.name": team}
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": team, "labels": labels, "uid": "00000000-0000-4000-8000-" + team.encode().hex()[:12]},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }


def rendered(nodes: int, pods: int, seed: int) -> Iterator[tuple[str, str]]:
    """Every node, owner, service and pod as (text, kind); pods are their workload's text, filled in."""
    rng = random.Random(seed)
    fleet_nodes = [fleet_node(i, nodes) for i in range(nodes)]
    for number, host in enumerate(fleet_nodes):
        yield to_yaml(node(host, number, rng)), "Node"
    by_pool = {shape.pool: [m for m in fleet_nodes if m.shape is shape] for shape in SHAPES}
    cursor = dict.fromkeys(by_pool, 0)
    for workload in workloads(pods, rng, {pool for pool, hosts in by_pool.items() if hosts}):
        owner = controller(workload)
        yield to_yaml(owner), owner["kind"]
        yield to_yaml(service(workload)), "Service"
        template = to_yaml(pod(workload))
        pending = to_yaml(pod(workload, bound=False))
        for replica in range(workload.replicas):
            hosts = by_pool[workload.pool]
            for step in range(len(hosts)):
                host = hosts[(cursor[workload.pool] + step) % len(hosts)]
                if host.take(workload):
                    cursor[workload.pool] = (cursor[workload.pool] + step + 1) % len(hosts)
                    yield fill(template, workload, replica, host.name, rng), "Pod"
                    break
            else:
                yield fill(pending, workload, replica, "", rng), "Pod"


def write(out: Path, nodes: int, pods: int, seed: int, form: str) -> None:
    with out.open("w", encoding="utf-8") as file:
        if form == "yaml":
            file.write("apiVersion: v1\nitems:\n")
            for text in fleet(nodes, pods, seed):
                file.write("- " + text.replace("\n", "\n  ").rstrip(" "))
            file.write('kind: List\nmetadata:\n  resourceVersion: ""\n')
            return
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        separator, reader = "", BlockReader()
        for text in fleet(nodes, pods, seed):
            body = json.dumps(reader.mapping(text.removesuffix("\n"), 0), indent=4)
            file.write(separator + "        " + body.replace("\n", "\n        "))
            separator = ",\n"
        file.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Generate a cluster snapshot of any size.")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(argv)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write(options.out, options.nodes, options.pods, options.seed, options.format)


if __name__ == "__main__":
    main(sys.argv[1:])
