"""Notebook jobs on `mooring up`: what people apply, and what they see of it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from mooring.kube.objects import Object
from mooring.nodes.process.machine_info import machine_info
from mooring.testing.http import Answer, Api
from tests.cli.embedded import Up, up

JOBS = "/apis/mlops.mlops.dev/v1alpha1/namespaces/default/notebookvalidationjobs"
CORE = "/api/v1/namespaces/default"
NODE = f"/api/v1/nodes/{machine_info().name}"
TOLERATION = {"key": "mooring.dev/process", "operator": "Exists"}
HERE = {"mooring.dev/process": "true"}
PATIENCE_SECONDS = 60.0
FINAL = ("Succeeded", "Failed")


def notebook(*cells: str, outputs: Sequence[str | None] = (), kernel: str = "python3") -> str:
    """A notebook of code cells; `outputs` are what they printed when it was saved."""
    made = []
    for number, source in enumerate(cells):
        said = outputs[number] if number < len(outputs) else None
        kept = [] if said is None else [{"output_type": "stream", "name": "stdout", "text": said}]
        cell = {"cell_type": "code", "id": f"c{number}", "source": source, "metadata": {}, "outputs": kept}
        made.append({**cell, "execution_count": None})
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made})


def source(url: str, path: str, *, ref: str = "main", secret: str = "") -> Object:
    git = {"url": url, "ref": ref, **({"credentialsSecret": secret} if secret else {})}
    return {"git": git, "path": path}


def job(name: str, notebook: Object, *, pod: Object | None = None, **spec: Any) -> Object:
    """A job for this machine's node, unless `pod` says otherwise."""
    config = {"containerImage": "any", "tolerations": [TOLERATION], "nodeSelector": HERE, **(pod or {})}
    return {
        "apiVersion": "mlops.mlops.dev/v1alpha1",
        "kind": "NotebookValidationJob",
        "metadata": {"name": name},
        "spec": {"notebook": notebook, "podConfig": config, **spec},
    }


class NotebookSite:
    """One `mooring up` whose process node is ready, and verbs to speak of jobs on it."""

    def __init__(self, running: Up, api: Api) -> None:
        self.running, self.api = running, api

    # Acting

    def apply(self, *jobs: Object) -> None:
        for each in jobs:
            answer = self.api.post(JOBS, each)
            assert answer.code == 201, answer.body

    def refused(self, made: Object) -> Answer:
        answer = self.api.post(JOBS, made)
        assert answer.code == 422, answer.body
        return answer

    def secret(self, name: str, **data: str) -> None:
        body = {"metadata": {"name": name}, "stringData": {key.replace("_", "-"): text for key, text in data.items()}}
        assert self.api.post(f"{CORE}/secrets", body).code == 201

    def label_node(self, **labels: str | None) -> None:
        assert self.api.patch(NODE, "merge", {"metadata": {"labels": labels}}).code == 200

    def taint_node(self, *taints: Object) -> None:
        """Beside those that it has."""
        kept = self.api.get(NODE).body["spec"].get("taints") or []
        assert self.api.patch(NODE, "merge", {"spec": {"taints": [*kept, *taints]}}).code == 200

    def delete(self, name: str) -> None:
        assert self.api.delete(f"{JOBS}/{name}").code == 200

    # Looking

    def get(self, name: str) -> Object:
        answer = self.api.get(f"{JOBS}/{name}")
        assert answer.code == 200, answer.body
        found: Object = answer.body
        return found

    def status(self, name: str) -> Object:
        return self.get(name).get("status") or {}

    def jobs(self) -> list[Object]:
        found: list[Object] = self.api.get(JOBS).body["items"]
        return found

    def pods(self, name: str) -> list[Object]:
        chosen = f"notebookvalidationjob={name}"
        found: list[Object] = self.api.get(f"{CORE}/pods", labelSelector=chosen).body["items"]
        return found

    def condition(self, name: str, kind: str) -> Object:
        conditions = self.status(name).get("conditions") or []
        return next((each for each in conditions if each["type"] == kind), {})

    def finished(self, name: str) -> Object:
        """Its status once it has ended."""
        self.until(lambda: self.status(name).get("phase") in FINAL, f"{name} ends", lambda: self.status(name))
        return self.status(name)

    def everything(self) -> bytes:
        """All that the API shows but Secrets, and the logs of every container."""
        lists = [self.api.get(f"{CORE}/{kind}").body for kind in ("pods", "configmaps", "events")]
        found = json.dumps([*lists, self.jobs()])
        for pod in self.api.get(f"{CORE}/pods").body["items"]:
            for part in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
                path = f"{CORE}/pods/{pod['metadata']['name']}/log"
                found += str(self.api.get(path, container=part["name"]).body)
        return (found + self.running.output).encode()

    def until(self, look: Callable[[], Any], what: str, seen: Callable[[], Any] = lambda: "") -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not look():
            assert time.monotonic() < end, f"not within {PATIENCE_SECONDS:.0f} s: {what}; {seen()}"
            time.sleep(0.05)


@contextmanager
def notebook_site(folder: Path, *arguments: str) -> Iterator[NotebookSite]:
    with up(folder, *arguments) as running:
        running.says(f"This machine is node {machine_info().name}")
        config = yaml.safe_load(running.kubeconfig.read_text(encoding="utf-8"))
        (cluster,), (user,) = config["clusters"], config["users"]
        authority = folder / "authority.crt"
        authority.write_bytes(base64.b64decode(cluster["cluster"]["certificate-authority-data"]))
        with Api(cluster["cluster"]["server"], user["user"]["token"], authority) as api:
            yield NotebookSite(running, api)
        assert running.stop() == 0
