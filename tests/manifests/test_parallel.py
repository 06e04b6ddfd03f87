"""A large snapshot is read in pieces by several processes, and nobody can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.fleet import write
from mooring.api.core.views import Pod
from mooring.manifests import ManifestError, Views, pieces, read_objects, read_views
from mooring.manifests.parallel import pieces_of, read_in_parallel
from mooring.placement.snapshot import VIEWS

PODS: Views = {("v1", "Pod"): Pod}


def is_of_a_set(pod: Pod) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "StatefulSet"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "fleet.yaml"
    write(path, 40, 400, 3, "yaml")
    return path


def read(path: Path) -> list[tuple[int | None, Any]]:
    return [(document.index, document.value) for document in read_views(path, VIEWS)]


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MIN_SIZE", 1000)
    monkeypatch.setattr("os.cpu_count", lambda: 3)


def test_pieces_give_the_same_objects_with_the_same_places(
    fleet: Path, small_is_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(pieces_of(fleet)) == 3
    in_pieces = read(fleet)
    monkeypatch.setattr(pieces, "MIN_SIZE", 1 << 40)
    assert in_pieces == read(fleet)
    assert len(in_pieces) > 400


def test_no_piece_is_left_to_the_ordinary_reader(fleet: Path, small_is_large: None) -> None:
    # It would read them as well, only later.
    assert list(read_in_parallel(fleet, pieces_of(fleet), VIEWS)) == read(fleet)


def test_pieces_give_whole_objects_beside_views(
    fleet: Path, small_is_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_pieces = [(document.index, document.value) for document in read_objects(fleet, PODS, is_of_a_set)]
    monkeypatch.setattr(pieces, "MIN_SIZE", 1 << 40)
    in_one = [(document.index, document.value) for document in read_objects(fleet, PODS, is_of_a_set)]
    assert in_pieces == in_one
    kinds = {type(value) for _, value in in_one}
    assert kinds == {Pod, dict}
    assert {value["kind"] for _, value in in_one if isinstance(value, dict)} > {"Node", "Pod", "Service"}


def test_what_is_wrong_in_a_piece_is_said_as_if_read_in_one(
    fleet: Path, tmp_path: Path, small_is_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.yaml"
    text = fleet.read_text(encoding="utf-8")
    cut = text.rindex("\n- apiVersion")
    broken.write_text(text[:cut] + "\n- kind: [unfinished" + text[cut:], encoding="utf-8")

    with pytest.raises(ManifestError) as in_pieces:
        read(broken)
    monkeypatch.setattr(pieces, "MIN_SIZE", 1 << 40)
    with pytest.raises(ManifestError) as in_one:
        read(broken)
    assert str(in_pieces.value) == str(in_one.value)
    assert "not YAML" in str(in_one.value)


def test_a_file_that_kubectl_did_not_print_is_read_in_one(tmp_path: Path, small_is_large: None) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("# mine\n" + "apiVersion: v1\nkind: Node\nmetadata:\n  name: one\n---\n" * 100, encoding="utf-8")
    assert pieces_of(path) == []
    assert len(read(path)) == 100
