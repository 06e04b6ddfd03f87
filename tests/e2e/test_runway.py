"""Models deployed from a shell, on the embedded cluster and on a real control plane with `mooring run` beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES, REAL, Home, simulated
from mooring.testing.http import Api
from mooring.testing.tools import ToolMissing
from tests.cli.embedded import eventually
from tests.e2e.workspaces import beside, control_plane, embedded
from tests.runway.clusters import gpu_node

pytestmark = pytest.mark.slow


class Shell:
    """A user of one cluster. Its provider is named: on a real cluster another one is the default."""

    def __init__(self, home: Home, api: Api) -> None:
        self._home, self.api = home, api

    def mooring(self, *words: str) -> Result:
        return CliRunner().invoke(cli, [*words, "--kubeconfig", str(self._home.kubeconfig)])

    def deploy(self, *words: str) -> Result:
        return self.mooring("deploy", *words, "--provider", "mooring")

    def told(self, *words: str) -> Any:
        done = self.mooring(*words, "-o", "json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    def is_tainted(self, node: str) -> bool:
        return bool(self.api.get(f"/api/v1/nodes/{node}").body["spec"].get("taints"))

    def has_service(self, name: str) -> bool:
        return self.api.get(f"/api/v1/namespaces/default/services/{name}").code == 200


@pytest.fixture(scope="module", params=HOMES)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Two nodes with eight GPUs each."""
    folder = tmp_path_factory.mktemp(f"{request.param}-runway")
    try:
        if request.param == REAL:
            with control_plane(folder) as plane, beside(plane, "brought") as home:
                yield from _with_nodes(home)
        else:
            with embedded(folder, "brought") as home:
                yield from _with_nodes(home)
    except ToolMissing as error:
        missing(error)


def _with_nodes(home: Home) -> Iterator[Shell]:
    with home.api() as api:
        shell = Shell(home, api)
        for name in ("h-1", "h-2"):
            assert api.post("/api/v1/nodes", simulated(gpu_node(name))).code == 201
        # A node that has become ready keeps the taint of one that is not for a moment.
        eventually(lambda: not any(map(shell.is_tainted, ("h-1", "h-2"))), "both nodes take pods")
        assert shell.told("capacity")["gpus"]["free"] == 16
        yield shell


def test_a_model_is_deployed_lands_and_answers_and_the_next_that_does_not_fit_says_why(shell: Shell) -> None:
    done = shell.deploy("phi-4", "--wait", "--timeout", "60s")
    assert done.exit_code == 0, done.stderr
    assert "workspace.kaito.sh/phi-4 created" in done.stdout
    assert "phi-4 answers at phi-4-vllm:8000 in namespace default" in done.stdout
    shown = shell.told("deployments", "show", "phi-4")
    assert (shown["phase"], shown["replicas"]["ready"]) == ("Running", 1)
    (pod,) = shown["pods"]
    foreseen = done.stdout.partition("would be scheduled: phi-4-0 on ")[2].splitlines()[0]
    assert {pod["node"], foreseen} <= {"h-1", "h-2"}
    assert shell.told("capacity")["gpus"]["free"] == 15

    # Seven GPUs are free on one node and eight on the other, so that the second of two has no place.
    full = shell.deploy("llama-3.3-70b-instruct", "--name", "llama", "--gpus", "8", "--replicas", "2")
    assert full.exit_code == 2, full.stdout
    assert "1 of 2 pods can be scheduled; llama-1: 0/" in full.stdout
    assert "Insufficient nvidia.com/gpu" in full.stdout
    assert "what would help:" in full.stdout

    def waits() -> Any:
        found = shell.told("deployments", "show", "llama")
        return found if any(each.get("reason") == "Unschedulable" for each in found["pods"]) else None

    stuck = eventually(waits, "the second pod waits")
    assert stuck["message"].startswith("pod llama-1: Unschedulable: 0/")
    assert [each["name"] for each in shell.told("deployments")["deployments"]] == ["llama", "phi-4"]

    for name in ("phi-4", "llama"):
        assert shell.mooring("deployments", "delete", name).exit_code == 0
    eventually(lambda: not shell.told("deployments")["deployments"], "both are gone")
    eventually(lambda: not shell.has_service("phi-4-vllm"), "the Service went with its deployment")


def test_a_model_that_the_webhook_refuses_leaves_nothing_behind(shell: Shell) -> None:
    done = shell.deploy("phi-4", "--name", "nowhere", "--selector", "pool=none")
    assert done.exit_code == 2
    assert "0 nodes match the label selector, 1 are required" in done.stderr
    assert "kubectl label node" in done.stderr
    assert not shell.has_service("nowhere-vllm")
    assert shell.mooring("deployments", "show", "nowhere").exit_code == 1
