"""A small world for the tests of commands: nodes and pods in a snapshot file, manifests beside it, and `explain`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml


def requests(**amounts: Any) -> Object:
    """`requests(cpu=1, gpu=2)` as the resources of a container."""
    names = {"gpu": "nvidia.com/gpu", "storage": "ephemeral-storage"}
    return {"limits": {names.get(name, name): str(amount) for name, amount in amounts.items()}}


class World:
    """What a test says about a cluster, and what a user would type."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.objects: list[Object] = []

    # What there is

    def add(self, *objects: Object) -> World:
        self.objects.extend(objects)
        return self

    def node(self, name: str, *, gpu: int = 0, taint: str = "", cordoned: bool = False, **labels: str) -> World:
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        if gpu:
            amounts["nvidia.com/gpu"] = str(gpu)
        spec: Object = {"unschedulable": True} if cordoned else {}
        if taint:
            key, _, effect = taint.rpartition(":")
            key, _, value = key.partition("=")
            spec["taints"] = [{"key": key, "value": value, "effect": effect}]
        known = {"kubernetes.io/hostname": name}
        known |= {"topology.kubernetes.io/zone" if key == "zone" else key: value for key, value in labels.items()}
        return self.add(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": known},
                "spec": spec,
                "status": {"allocatable": amounts},
            }
        )

    def running(self, name: str, on: str, *, labels: Object | None = None, **spec: Any) -> World:
        pod = self.pod(name, labels=labels, **spec)
        pod["spec"]["nodeName"] = on
        pod["status"] = {"phase": "Running"}
        return self.add(pod)

    @staticmethod
    def pod(name: str, *, resources: Object | None = None, labels: Object | None = None, **spec: Any) -> Object:
        container = {"name": "main", "image": "registry.example.com/app:1", "resources": resources or {}}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": labels or {"app": name}},
            "spec": {"containers": [container], **spec},
        }

    def workload(self, kind: str, name: str, resources: Object | None = None, **spec: Any) -> Object:
        template = self.pod("x", resources=resources, labels={"app": name}, **spec.pop("pod", {}))
        template = {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}
        group = "batch/v1" if kind == "Job" else "apps/v1"
        found = {"template": template, **spec}
        if kind == "Job":
            template["spec"]["restartPolicy"] = "Never"
        else:
            found["selector"] = {"matchLabels": {"app": name}}
        return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": found}

    # What a user does

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def manifest(self, *objects: Object, name: str = "pod.yaml") -> str:
        return self.write(name, "---\n".join(map(to_yaml, objects)))

    def snapshot(self) -> str:
        return self.write("cluster.yaml", to_yaml({"apiVersion": "v1", "kind": "List", "items": self.objects}))

    def explain(self, *arguments: str | Object, stdin: str | None = None) -> Result:
        """`mooring explain` in this process. Objects are written to a file first."""
        return CliRunner().invoke(cli, ["explain", *self._arguments(arguments)], input=stdin)

    def answer(self, *arguments: str | Object) -> Any:
        return json.loads(self.explain(*arguments, "-o", "json").stdout)

    def run(self, *arguments: str | Object) -> subprocess.CompletedProcess[str]:
        """The real command in a process of its own."""
        command = [sys.executable, "-m", "mooring", "explain", *self._arguments(arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=60)

    def _arguments(self, arguments: tuple[str | Object, ...]) -> list[str]:
        objects = [a for a in arguments if isinstance(a, dict)]
        plain = [a for a in arguments if isinstance(a, str)]
        if objects:
            plain += ["-f", self.manifest(*objects)]
        return plain if "--snapshot" in plain else [*plain, "--snapshot", self.snapshot()]
