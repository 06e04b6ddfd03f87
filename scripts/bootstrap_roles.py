"""Writes the roles and bindings that a cluster has from the start, as a real kube-apiserver creates them.

The server of the test tools is started and asked. To follow another Kubernetes version:

    python -m scripts.bootstrap_roles
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mooring.apiserver.authorization.bootstrap import BOOTSTRAPPING, LINES
from mooring.kube.objects import Object
from mooring.testing.controlplane import ControlPlane
from mooring.testing.tools import tool
from scripts.made import write_or_check

_KINDS: Final = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
# kube-apiserver creates them after it says that it is ready.
_CREATION_SECONDS: Final = 5.0


def lines(obj: Object) -> Iterator[str]:
    metadata = obj["metadata"]
    yield f"{obj['kind']} {'/'.join(filter(None, (metadata.get('namespace', ''), metadata['name'])))}"
    for label in metadata["labels"]:
        if label != BOOTSTRAPPING:
            yield f"  label {label}"
    for selector in obj.get("aggregationRule", {}).get("clusterRoleSelectors", ()):
        for label in selector["matchLabels"]:
            yield f"  aggregate {label}"
    for rule in obj.get("rules") or ():
        verbs = ",".join(rule["verbs"])
        if "nonResourceURLs" in rule:
            yield f"  urls {verbs} {','.join(rule['nonResourceURLs'])}"
        else:
            groups = ",".join(group or "core" for group in rule["apiGroups"])
            parts = (verbs, groups, ",".join(rule["resources"]), ",".join(rule.get("resourceNames", ())))
            yield f"  rule {' '.join(parts).rstrip()}"
    if "roleRef" in obj:
        yield f"  to {obj['roleRef']['kind']} {obj['roleRef']['name']}"
    for subject in obj.get("subjects", ()):
        yield f"  of {subject['kind']} {'/'.join(filter(None, (subject.get('namespace', ''), subject['name'])))}"


def text(plane: ControlPlane) -> str:
    made = ["# What kube-apiserver 1.35 creates at its start; made by scripts/bootstrap_roles.py."]
    for kind in _KINDS:
        command = [str(tool("kubectl")), "--kubeconfig", str(plane.kubeconfig), "get", kind, "-A", "-o", "json"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for obj in found["items"]:
            made += lines(obj)
    return "\n".join(made) + "\n"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        time.sleep(_CREATION_SECONDS)
        return write_or_check({LINES: text(plane)}, "python -m scripts.bootstrap_roles")


if __name__ == "__main__":
    sys.exit(main())
