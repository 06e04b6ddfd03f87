"""Writes first_objects.yaml anew: what a real API server has made by the time that it is ready.

python -m tests.registry.first_objects
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import yaml

from mooring.kube.objects import Object
from mooring.testing.homes import REAL, api_only

FILE = Path(__file__).parent / "first_objects.yaml"
# Where they are listed, by their kinds. Rights and priorities of requests come from elsewhere.
KINDS = {
    ("v1", "Namespace"): "/api/v1/namespaces",
    ("v1", "ConfigMap"): "/api/v1/configmaps",
    ("v1", "Service"): "/api/v1/services",
    ("networking.k8s.io/v1", "ServiceCIDR"): "/apis/networking.k8s.io/v1/servicecidrs",
    ("scheduling.k8s.io/v1", "PriorityClass"): "/apis/scheduling.k8s.io/v1/priorityclasses",
}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")
_ADDRESS = re.compile(r"10\.\d+\.\d+\.\d+(/\d+)?")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, api_only(REAL, Path(folder)) as home:
        api = home.api()
        lists = {kind: api.get(path).body["items"] for kind, path in KINDS.items()}
    objects = [
        settled({**obj, "apiVersion": kind[0], "kind": kind[1]}) for kind, items in lists.items() for obj in items
    ]
    text = yaml.safe_dump_all(objects, sort_keys=True, width=110)
    FILE.write_text(f"# What kube-apiserver begins with; recorded by first_objects.py.\n{text}", encoding="utf-8")


def settled(value: Any, within: str = "") -> Any:
    """Without what is another one each time: identities, moments, addresses, ports and certificates."""
    if isinstance(value, dict):
        rest = {key: each for key, each in value.items() if key not in ("uid", "resourceVersion")}
        return {key: settled(each, key) for key, each in rest.items()}
    if isinstance(value, list):
        return [settled(each, within) for each in value]
    if within == "targetPort":
        return "<port>"
    if within == "client-ca-file":
        return "<authority>"
    return _ADDRESS.sub("<address>", _MOMENT.sub("<moment>", value)) if isinstance(value, str) else value


def recorded() -> list[Object]:
    return list(yaml.safe_load_all(FILE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
