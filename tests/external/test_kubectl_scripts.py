"""Functions of kubectl's own test scripts against the embedded cluster: quick ones, of many kinds and verbs.

All of them, in both homes, run with `sh scripts/conformance.sh kubectl`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.homes import EMBEDDED, Home
from tests.conformance.kubectl_scripts.clusters import started
from tests.conformance.kubectl_scripts.functions import copy_scripts, passes
from tests.external.conftest import required

TAIL = 3_000


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("kubectl", "kubectl-scripts"):
        required(name)
    folder = tmp_path_factory.mktemp("kubectl") / "scripts"
    copy_scripts(folder)
    return folder


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """The embedded cluster in the shape that the scripts expect."""
    with started(EMBEDDED, tmp_path_factory.mktemp("upstream") / "home") as home:
        yield home


@pytest.mark.parametrize(
    "function",
    [
        "run_assert_categories_tests",
        "run_crd_deletion_recreation_tests",
        "run_create_job_tests",
        "run_deprecated_api_tests",
        "run_impersonation_tests",
        "run_kubectl_auth_whoami_tests",
        "run_kubectl_create_kustomization_directory_tests",
        "run_kubectl_debug_baseline_tests",
        "run_lists_tests",
        "run_retrieve_multiple_tests",
        "run_stateful_set_tests",
        "run_storage_class_tests",
    ],
)
def test_a_function_of_kubectls_own_scripts_passes(
    function: str, scripts: Path, upstream: Home, tmp_path: Path
) -> None:
    log = tmp_path / "function.log"
    assert passes(function, upstream, scripts, log), log.read_text(encoding="utf-8", errors="replace")[-TAIL:]
