"""What `-f`, `-R` and `-k` read: files, folders and kustomizations."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli
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


def test_workloads_of_one_name_have_pods_of_their_own(shop: World) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    named = {"apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": spec}
    drawn = {**shop.pod("x"), "metadata": {"generateName": "web-"}}
    shop.manifest({**named, "kind": "Deployment"}, {**named, "kind": "ReplicaSet"}, drawn, drawn, name="web.yaml")
    sets = ["web-1", "web-2", "web-1-replicaset", "web-2-replicaset"]
    assert pods(shop, "-f", "web.yaml") == [*sets, "web-1-pod", "web-1-pod-2"]


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


# URLs


@pytest.fixture
def site(shop: World) -> Iterator[str]:
    """The folder as a web site, whose path `away` leads to a file."""

    class Pages(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(shop.folder))

        def do_GET(self) -> None:
            if self.path == "/away":
                self.send_response(302)
                self.send_header("Location", "file:///etc/passwd")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *args: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_url_is_read_as_a_file_is(shop: World, site: str) -> None:
    assert pods(shop, "-f", f"{site}/apps/a.yaml", "-f", "apps/b.yml") == ["first", "second"]


def test_a_url_is_no_file_that_a_command_could_patch(shop: World, site: str) -> None:
    shop.manifest(shop.pod("big", resources=requests(gpu=2)))
    result = shop.explain("-f", f"{site}/pod.yaml")
    assert "What would help" in result.stdout
    assert "kubectl patch" not in result.stdout


def test_what_is_wrong_with_a_manifest_at_a_url_names_it(shop: World, site: str) -> None:
    shop.write("broken.yaml", "kind: Pod\napiVersion: [")
    result = shop.explain("-f", f"{site}/broken.yaml")
    assert result.stderr.startswith(f"error: {site}/broken.yaml: ")


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("/none.yaml", "{site}/none.yaml cannot be read: the server answered with status 404"),
        ("/away", "{site}/away leads to file:///etc/passwd, which is not followed: only from http to http and https"),
    ],
)
def test_a_url_that_cannot_be_read_is_one_line(shop: World, site: str, path: str, complaint: str) -> None:
    result = shop.explain("-f", site + path)
    assert (result.exit_code, result.stderr) == (1, f"error: {complaint.format(site=site)}\n")


def test_a_plan_takes_urls_too(shop: World, site: str) -> None:
    result = CliRunner().invoke(cli, ["plan", "-f", f"{site}/apps/a.yaml", "--snapshot", shop.snapshot()])
    assert "1 of 1 pod scheduled" in result.stdout
