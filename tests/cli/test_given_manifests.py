"""What `-f`, `-R` and `-k` read: files, folders and kustomizations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.world import World, requests


@pytest.fixture
def shop(tmp_path: Path) -> World:
    world = World(tmp_path).node("a", gpu=1)
    (tmp_path / "apps" / "more").mkdir(parents=True)
    (tmp_path / "apps" / "README.md").write_text("no: manifest: at: all")
    world.manifest(world.pod("second"), name="apps/b.yml")
    world.manifest(world.pod("first"), name="apps/a.yaml")
    world.manifest(world.pod("deeper"), name="apps/more/c.yaml")
    return world


@pytest.fixture(autouse=True)
def _in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pods(world: World, *arguments: str) -> list[str]:
    return [pod["pod"].partition("/")[2] for pod in world.answer(*arguments)["pods"]]


def test_a_folder_is_read_by_the_names_of_its_manifests(shop: World) -> None:
    assert pods(shop, "-f", "apps") == ["first", "second"]


def test_folders_in_it_are_read_when_asked_for(shop: World) -> None:
    assert pods(shop, "-f", "apps", "-R") == ["first", "second", "deeper"]


def test_a_command_names_the_file_in_the_folder(shop: World) -> None:
    shop.manifest(shop.pod("big", resources=requests(gpu=2)), name="apps/more/c.yaml")
    assert "kubectl patch -f apps/more/c.yaml --local" in shop.explain("-f", "apps/more").stdout


def test_standard_input_is_no_file_that_a_command_could_patch(shop: World) -> None:
    name = shop.manifest(shop.pod("big", resources=requests(gpu=2)))
    result = shop.explain("-f", "-", stdin=(shop.folder / name).read_text())
    assert result.exit_code == 2
    assert "What would help" in result.stdout
    assert "kubectl patch" not in result.stdout


def stand_in_for_kubectl(world: World, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    (world.folder / "bin").mkdir()
    program = world.folder / "bin" / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{world.folder}/bin:{os.environ['PATH']}")


def test_a_kustomization_is_what_kubectl_prints_of_it(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_kubectl(shop, monkeypatch, 'test "$1" = kustomize && cat "$2"/a.yaml "$2"/sep "$2"/b.yml')
    shop.write("apps/sep", "---\n")
    assert pods(shop, "-k", "apps") == ["first", "second"]


def test_a_kustomization_that_kubectl_refuses_is_told_in_its_words(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in_for_kubectl(shop, monkeypatch, "echo 'error: unable to find one of kustomization.yaml' >&2; exit 1")
    result = shop.explain("-k", "apps")
    assert (result.exit_code, result.stderr) == (
        1,
        "error: kubectl kustomize apps: unable to find one of kustomization.yaml\n",
    )


def test_without_kubectl_there_is_no_kustomization(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(shop.folder))
    result = shop.explain("-k", "apps")
    assert result.exit_code == 1
    assert "there is no kubectl in the PATH" in result.stderr


def test_files_and_a_kustomization_are_not_mixed(shop: World) -> None:
    assert shop.explain("-k", "apps", "-f", "apps").stderr == "error: -f and -k cannot be given together\n"
