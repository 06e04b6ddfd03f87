"""A chart repository on the loopback address, with small charts that stand in for those of real products.

`helm package` and `helm repo index` of the real Helm make it. The charts have the names and versions of the real ones,
and bring a Deployment, its settings and a definition.
"""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import yaml

from mooring.testing.tools import tool

__all__ = ["chart_repository", "helm"]

_DEPLOYMENT: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app.kubernetes.io/name: {{ .Chart.Name }}}
spec:
  replicas: {{ .Values.replicaCount }}
  selector: {matchLabels: {app.kubernetes.io/instance: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app.kubernetes.io/instance: {{ .Release.Name }}}}
    spec:
      containers:
      - {name: manager, image: "registry.example.com/{{ .Chart.Name }}:{{ .Chart.AppVersion }}"}
"""
_SETTINGS: Final = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings}
data: {gates: {{ .Values.featureGates | toJson | quote }}, version: {{ .Chart.Version | quote }}}
"""
# No node has this label, so it never becomes ready.
_NOWHERE: Final = "      nodeSelector: {example.com/nowhere: 'yes'}\n"
# The API server takes no such name.
_REFUSED: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name}\n"
_CRD: Final[Mapping[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "standins.charts.example.com"},
    "spec": {
        "group": "charts.example.com",
        "names": {"kind": "StandIn", "plural": "standins", "singular": "standin", "listKind": "StandInList"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}
_WORKSPACE: Final = {"templates/deployment.yaml": _DEPLOYMENT, "templates/settings.yaml": _SETTINGS}
# By chart and version. `workspace` is called like KAITO's, `gpu-operator` like NVIDIA's.
CHARTS: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("workspace", "0.6.0"): _WORKSPACE,
    ("workspace", "0.8.0"): {**_WORKSPACE, "crds/standins.yaml": yaml.safe_dump(dict(_CRD))},
    ("gpu-operator", "v25.10.1"): _WORKSPACE,
    ("slow", "1.0.0"): {"templates/deployment.yaml": _DEPLOYMENT + _NOWHERE},
    ("broken", "1.0.0"): {"templates/settings.yaml": _REFUSED},
}
_VALUES: Final = {"replicaCount": 1, "featureGates": {"vLLM": True, "disableNodeAutoProvisioning": False}}


def helm(*arguments: str, kubeconfig: Path | None = None, folder: Path) -> subprocess.CompletedProcess[str]:
    """Helm as a person runs it; `folder` has its caches."""
    homes = {f"HELM_{name}_HOME": str(folder / "helm" / name) for name in ("CACHE", "CONFIG", "DATA")}
    environment = {**os.environ, **homes, **({} if kubeconfig is None else {"KUBECONFIG": str(kubeconfig)})}
    return subprocess.run([str(tool("helm")), *arguments], env=environment, capture_output=True, text=True, check=False)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        """Nothing."""


@contextmanager
def chart_repository(folder: Path) -> Iterator[str]:
    """The address of a repository with all stand-in charts."""
    served = folder / "served"
    served.mkdir(parents=True)
    for (name, version), files in CHARTS.items():
        chart = folder / f"{name}-{version}" / name
        described = {"apiVersion": "v2", "name": name, "version": version, "appVersion": version}
        texts = {"Chart.yaml": yaml.safe_dump(described), "values.yaml": yaml.safe_dump(_VALUES), **files}
        for path, text in texts.items():
            (chart / path).parent.mkdir(parents=True, exist_ok=True)
            (chart / path).write_text(text, encoding="utf-8")
        done = helm("package", str(chart), "--destination", str(served), folder=folder)
        assert done.returncode == 0, done.stderr
    done = helm("repo", "index", str(served), folder=folder)
    assert done.returncode == 0, done.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(served)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
