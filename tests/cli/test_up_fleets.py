"""Fleets: what a file stands for, what is wrong with it and where, and that a start never undoes what people did."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mooring.manifests import ManifestError
from mooring.supervisor.address import bind, parse_address
from mooring.supervisor.console import Console
from mooring.supervisor.data_folder import DataFolder
from mooring.supervisor.embedded import EmbeddedCluster
from mooring.supervisor.fleet.manifest import DEFAULT_FLEET, Fleet, check_fleet, read_fleet
from mooring.supervisor.fleet.news import FLEET_IS_IN, FLEET_IS_REFUSED
from tests.cli.embedded import Up, up

NOW = datetime(2026, 11, 15, tzinfo=UTC)
LAB = Path(__file__).parent.parent.parent / "examples" / "fleets" / "lab.yaml"
NODES = "/api/v1/nodes"

GPU = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu
  annotations:
    kwok.x-k8s.io/node: fake
    mooring.dev/replicas: "3"
  labels:
    pool: gpu
spec:
  taints:
  - key: nvidia.com/gpu
    effect: NoSchedule
status:
  addresses:
  - {type: InternalIP, address: 10.0.0.254}
  - {type: Hostname, address: gpu}
  capacity:
    cpu: "8"
    nvidia.com/gpu: "1"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "fleet.yaml"


def read(file: Path, text: str) -> Fleet:
    file.write_text(text)
    return check_fleet(file, NOW)


def complaint(file: Path, text: str) -> str:
    with pytest.raises(ManifestError) as caught:
        read(file, text)
    return str(caught.value).removeprefix(f"{file}: ")


def names(fleet: Fleet) -> list[str]:
    return [obj["metadata"]["name"] for obj in fleet.objects]


# What a file stands for


def test_a_numbered_node_is_written_out(file: Path) -> None:
    fleet = read(file, GPU)
    assert names(fleet) == ["gpu-1", "gpu-2", "gpu-3"]
    second: dict[str, Any] = fleet.objects[1]
    assert second["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert second["metadata"]["labels"] == {"pool": "gpu", "kubernetes.io/hostname": "gpu-2"}
    assert [address["address"] for address in second["status"]["addresses"]] == ["10.0.0.255", "gpu-2"]
    assert fleet.objects[2]["status"]["addresses"][0]["address"] == "10.0.1.0"


def test_a_node_offers_all_it_has_unless_it_says_otherwise(file: Path) -> None:
    assert read(file, GPU).objects[0]["status"]["allocatable"] == {"cpu": "8", "nvidia.com/gpu": "1"}
    kept = read(file, GPU + "  allocatable: {cpu: 7}\n").objects[0]["status"]
    assert kept["allocatable"] == {"cpu": 7}


def test_nodes_of_another_cluster_can_be_used_as_they_are_printed(file: Path) -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: real\n"
        "    uid: 6f1d2c08\n    resourceVersion: '17'\n    creationTimestamp: '2026-01-01T00:00:00Z'\n"
    )
    fleet = read(file, text)
    assert set(fleet.objects[0]["metadata"]) == {"name", "labels"}
    assert fleet.unattended == ["real"]


def test_what_was_got_from_a_cluster_is_a_fleet_with_its_namespaces_first() -> None:
    fleet = check_fleet(LAB.parent.parent / "fleet.yaml", NOW)
    assert fleet.nodes == 10
    kinds = [obj["kind"] for obj in fleet.objects]
    assert kinds.index("Pod") > max(place for place, kind in enumerate(kinds) if kind == "Namespace")


def test_both_fleets_that_ship_are_good() -> None:
    assert (check_fleet(DEFAULT_FLEET, NOW).nodes, check_fleet(LAB, NOW).nodes) == (5, 29)
    for path in (DEFAULT_FLEET, LAB):
        fleet = read_fleet(path)
        assert fleet.unattended == []
        addresses = [obj["status"]["addresses"][0]["address"] for obj in fleet.objects if obj["kind"] == "Node"]
        assert len(set(addresses)) == fleet.nodes


# What is wrong, and where


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "effect: NoSchedule",
            "effect: Never",
            'line 13: Node "gpu-1": spec.taints[0].effect: Unsupported value: "Never"',
        ),
        (
            'nvidia.com/gpu: "1"',
            'nvidia.com/gpu: "1x"',
            'line 20: Node "gpu-1": status.capacity.nvidia.com/gpu: Invalid',
        ),
        (
            "  capacity:",
            "  capacitty:",
            'line 18: Node in version "v1" cannot be handled as a Node: strict decoding error',
        ),
        ("name: gpu", "name: G_", 'line 4: Node "G_-1": metadata.name: Invalid value: "G_-1"'),
        ("pool: gpu", "pool: a_", 'line 8: Node "gpu-1": metadata.labels: Invalid value: "a_"'),
        ('"3"', "3", "line 7: metadata.annotations.mooring.dev/replicas: 3 without quotes must be a number from 1 to"),
        ('"3"', '"0"', 'line 7: metadata.annotations.mooring.dev/replicas: "0" must be a number from 1 to'),
        ("kind: Node", "kind: Service", "line 7: metadata.annotations.mooring.dev/replicas: only a Node can stand for"),
        ("  name: gpu\n", "", "line 3: Node: metadata.name: required, and must be a string"),
        ("spec:", "spec: [", "line 12: not YAML: "),
    ],
)
def test_an_error_names_line_and_field(file: Path, old: str, new: str, said: str) -> None:
    assert complaint(file, GPU.replace(old, new, 1)).startswith(f"document 1: {said}")


def test_an_error_in_an_item_of_a_list_is_found_too(file: Path) -> None:
    item = "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n"
    text = f"apiVersion: v1\nkind: List\nitems:\n{item}{item}    labels:\n      a.b/c: '-'\n"
    assert complaint(file, text).startswith('document 1: item 1: line 11: Node "a" is there twice')
    assert complaint(file, text.replace("name: a", "name: b", 1)).startswith("document 1: item 1: line 12: ")


def test_an_unknown_kind_is_named(file: Path) -> None:
    said = complaint(file, f"{GPU}---\napiVersion: lab.example.com/v1\nkind: Robot\nmetadata:\n  name: arm\n")
    assert said == "document 2: line 23: lab.example.com/v1 Robot: no such kind is served; define it first"


STAGE = """\
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: fails
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchLabels: {a: b}
  next:
    statusTemplate: |
      phase: {{ .x }}
"""


def test_a_fleet_may_bring_stages(file: Path) -> None:
    assert names(read(file, f"{GPU}---\n{STAGE}"))[-1] == "fails"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{{ .x }}", "{{ what }}", 'line 12: Stage "fails": spec.next.statusTemplate: line 1: the function "what"'),
        ("kind: Pod", "kind: Job", 'line 6: Stage "fails": spec.resourceRef: v1 Job is not driven here'),
        ("next:", "nest:", "line 11: "),
        ("phase: {{ .x }}\n", "phase: {{ .x }}\n  weight: -1\n", 'line 14: Stage.kwok.x-k8s.io "fails" is invalid'),
    ],
)
def test_a_stage_that_would_not_be_followed_is_an_error(file: Path, old: str, new: str, said: str) -> None:
    assert complaint(file, STAGE.replace(old, new, 1)).startswith(f"document 1: {said}")


def test_a_name_that_is_there_twice_is_named(file: Path) -> None:
    assert complaint(file, f"{GPU}---\n{GPU}").startswith('document 2: line 25: Node "gpu-1" is there twice')


# At work


def of_the_fleet(running: Up) -> list[str]:
    """The nodes but this machine, which is one too."""
    return [name for name in running.names(NODES) if name.startswith("gpu")]


def test_a_fleet_of_ones_own_takes_the_place_of_the_default_one(tmp_path: Path, file: Path) -> None:
    file.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: rules}}\n---\n{GPU}")
    with up(tmp_path, "--fleet", "fleet.yaml", "--ephemeral") as running:
        running.says("3 nodes of fleet.yaml.")
        assert of_the_fleet(running) == ["gpu-1", "gpu-2", "gpu-3"]
        assert "rules" in running.names("/api/v1/namespaces/default/configmaps")


def test_a_start_brings_back_what_is_missing_and_keeps_what_was_changed(tmp_path: Path, file: Path) -> None:
    file.write_text(GPU)
    with up(tmp_path, "--fleet", "fleet.yaml") as running:
        running.says("3 nodes of fleet.yaml.")
        with running.client() as client:
            assert client.delete(f"{NODES}/gpu-1").status_code == 200
            patch = {"metadata": {"labels": {"pool": "mine"}}}
            headers = {"Content-Type": "application/merge-patch+json"}
            assert client.patch(f"{NODES}/gpu-2", json=patch, headers=headers).status_code == 200
        assert running.stop() == 0
    with up(tmp_path, "--fleet", "fleet.yaml") as running:
        running.says("3 nodes of fleet.yaml, 2 of 3 objects there already.")
        assert of_the_fleet(running) == ["gpu-1", "gpu-2", "gpu-3"]
        assert running.get(f"{NODES}/gpu-2")["metadata"]["labels"]["pool"] == "mine"
        assert running.stop() == 0
    # Without a fleet of ones own, a cluster that has nodes is left as it is.
    with up(tmp_path) as running:
        running.says("3 nodes from before.")


def test_nodes_that_nothing_simulates_are_said(tmp_path: Path, file: Path) -> None:
    file.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: real}\n")
    with up(tmp_path, "--fleet", "fleet.yaml", "--ephemeral") as running:
        running.says("note: fleet.yaml: real: not annotated kwok.x-k8s.io/node: fake, so nothing will run there")
        running.says("One node of fleet.yaml.")


def test_a_cluster_with_a_fleet_of_ones_own_is_ready_when_that_is_there(tmp_path: Path, file: Path) -> None:
    file.write_text(GPU.replace('"3"', '"300"'))
    with up(tmp_path, "--fleet", "fleet.yaml", "--ephemeral", "--controllers", "nodes") as running:
        assert len(of_the_fleet(running.ready())) == 300


def awaiting(folder: Path, fleet: Path | None) -> tuple[EmbeddedCluster, list[str]]:
    """A cluster whose API has just answered, and what its console says."""
    said: list[str] = []
    listening, address = bind(parse_address("127.0.0.1:0"))
    listening.close()
    (folder / "tokens").touch()
    cluster = EmbeddedCluster(DataFolder(folder), address, listening, 0, (), fleet, console=Saying(said))
    cluster._welcome()
    return cluster, said


class Saying(Console):
    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def _print(self, text: str, **style: Any) -> None:
        self._said.append(text)


@pytest.mark.parametrize("news", [FLEET_IS_IN, FLEET_IS_REFUSED])
def test_a_fleet_that_cannot_be_brought_in_is_not_waited_for_for_ever(tmp_path: Path, file: Path, news: str) -> None:
    cluster, said = awaiting(tmp_path, file)
    assert said == [f"The API answers at {cluster.address.url}; {file} is being brought in."]
    cluster._show_news({"news": "node", "message": "This machine is node laptop."})
    assert not [line for line in said if "Mooring is ready" in line]
    cluster._show_news({"news": news, "message": "what came of it"})
    assert [line for line in said if "Mooring is ready" in line]
    assert said[-1] == "what came of it"


def test_nobody_waits_for_the_default_fleet(tmp_path: Path) -> None:
    assert "Mooring is ready" in awaiting(tmp_path, None)[1][0]


def test_a_start_warns_of_tokens_that_an_older_version_made(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(
        f"ada {'0' * 64}\nbob {'1' * 64} ml\neve {'2' * 64} - created=2026-01-01T00:00:00Z\n"
    )

    _, said = awaiting(tmp_path, None)

    [warning] = [line for line in said if "older version" in line]
    assert warning == (
        "Tokens made by an older version may do everything: ada, bob. "
        f"To end one: mooring token revoke ada --data {tmp_path}"
    )


def test_a_start_says_nothing_of_tokens_that_have_their_rights(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"eve {'2' * 64} - created=2026-01-01T00:00:00Z\n")

    _, said = awaiting(tmp_path, None)

    assert not [line for line in said if "older version" in line]
