"""The files that Kubernetes keeps of every kind in both encodings: ours must read the one as the other."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mooring.apiserver.protobuf import decode
from mooring.apiserver.protobuf.tables import message_of
from mooring.apiserver.protobuf.writing import encode_object
from mooring.registry.resources import builtin_resources

VERSION = "v0.35.8"
FOLDERS = {
    f"k8s.io/api@{VERSION}": "testdata/HEAD",
    f"k8s.io/apiextensions-apiserver@{VERSION}": "pkg/apis/testdata/HEAD",
}
# The module that defines it ships no such files.
WITHOUT_FILES = {("apiregistration.k8s.io/v1", "APIService")}


@pytest.fixture(scope="module")
def folders() -> list[Path]:
    go = shutil.which("go")
    if go is None and not os.environ.get("CI"):
        pytest.skip("needs Go on PATH, then: go mod download " + " ".join(FOLDERS))
    assert go is not None, "in CI this test needs Go on PATH"
    cache = Path(subprocess.check_output((go, "env", "GOMODCACHE"), text=True).strip())
    found = [cache / module / folder for module, folder in FOLDERS.items()]
    if not all(folder.is_dir() for folder in found):
        if not os.environ.get("CI"):
            pytest.skip("needs the Go modules with the golden files: go mod download " + " ".join(FOLDERS))
        subprocess.run((go, "mod", "download", *FOLDERS), check=True, cwd="/")
    return found


def test_every_golden_body_of_a_served_kind_reads_as_its_json(folders: list[Path]) -> None:
    compared: set[tuple[str, str]] = set()
    for file in sorted(file for folder in folders for file in folder.glob("*.pb")):
        wanted: dict[str, Any] = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        kind = wanted.get("apiVersion", ""), wanted.get("kind", "")
        if message_of(*kind) is not None:
            assert decode(file.read_bytes()) == wanted, file.name
            written = encode_object(wanted)
            assert written is not None
            assert decode(written) == wanted, file.name
            compared.add(kind)

    served = {(resource.api_version, resource.kind) for resource in builtin_resources()}
    assert served - WITHOUT_FILES <= compared, "each served kind has a golden file"
