"""The last line of an answer with proposals says how they are applied, for where the workload came from."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mooring.cli.given_manifests import GivenManifests
from mooring.cli.main import cli
from mooring.cli.render.application import _by_hand
from tests.cli.live import TAINT, Live
from tests.cli.world import World, requests


@pytest.fixture
def fleet(world: World) -> World:
    return world.node("gpu-1", gpu=8, taint=TAINT)


def last(output: str) -> str:
    return output.splitlines()[-1]


def test_commands_for_a_file_and_for_nodes(fleet: World) -> None:
    result = fleet.explain(fleet.pod("llm", resources=requests(gpu=4)))
    assert "kubectl taint nodes gpu-1" in result.stdout
    assert last(result.stdout) == (
        "To apply a change, paste its command, and | kubectl apply -f - behind one with --local, which only prints a "
        "manifest."
    )


def test_commands_for_a_file_alone(fleet: World) -> None:
    pod = fleet.pod("llm", resources=requests(gpu=4), tolerations=[{"operator": "Exists"}], nodeSelector={"zone": "b"})
    assert last(fleet.explain(pod, "--limit", "1").stdout) == (
        "To apply a change, paste its command with | kubectl apply -f - behind it; alone it only prints the manifest."
    )


def test_commands_for_a_cluster(town: Live) -> None:
    assert last(town.run("explain", "pods").stdout) == "To apply a change, paste its command."


def test_without_a_file_it_is_done_by_hand(fleet: World) -> None:
    name = fleet.manifest(fleet.pod("llm", resources=requests(gpu=4)))
    result = fleet.explain("-f", "-", stdin=(fleet.folder / name).read_text())
    assert last(result.stdout) == (
        "To apply a change, paste its command, or edit the manifest and run kubectl apply -f FILE."
    )


def test_a_pod_of_the_cluster_that_cannot_be_changed_in_place(fleet: World) -> None:
    fleet.add(fleet.pod("llm", resources=requests(gpu=9), tolerations=[{"operator": "Exists"}]))
    assert last(fleet.explain("pod/llm", "--limit", "1").stdout) == (
        "To apply a change, delete what is there, which cannot be changed in place, and apply its manifest again with "
        "the change."
    )


@pytest.mark.parametrize(
    ("given", "way"),
    [
        (
            GivenManifests((), kustomization="over lays"),
            "edit what 'over lays' is made of and run kubectl apply -k 'over lays'",
        ),
        (
            GivenManifests(("https://x/a.yaml",)),
            "save https://x/a.yaml as a file, edit it and run kubectl apply -f FILE",
        ),
    ],
)
def test_kustomizations_and_urls(given: GivenManifests, way: str) -> None:
    assert _by_hand(given) == way


def test_an_answer_without_proposals_has_no_such_line(fleet: World) -> None:
    assert "To apply" not in fleet.explain(fleet.pod("web", tolerations=[{"operator": "Exists"}])).stdout


def test_a_plan_ends_with_it_too(fleet: World) -> None:
    name = fleet.manifest(fleet.pod("llm", resources=requests(gpu=4)))
    result = CliRunner().invoke(cli, ["plan", "-f", name, "--snapshot", fleet.snapshot()])
    assert last(result.stdout).startswith("To apply a change, paste its command")
