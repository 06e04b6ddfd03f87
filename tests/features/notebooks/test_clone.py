"""clone.sh against real servers: refs, paths, limits, and the sentence that each failure ends with."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.processes import free_port
from tests.features.notebooks.clones import NOTEBOOK, Clone, clone, start
from tests.support.git_servers import GitRepository, HttpGitServer, git_daemon, http_git_server

ODD_PATH = "über sichten/1 erste 'Zahlen'.ipynb"


class Site:
    """A repository with two branches and a tag, on a git daemon."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        repository = GitRepository(root, "models.git")
        self.first = repository.commit({NOTEBOOK: "first", ODD_PATH: "odd"}, tag="v1")
        self.second = repository.commit({NOTEBOOK: "second"})
        repository.commit({NOTEBOOK: "third"}, branch="topic/new")
        repository.git("checkout", "-q", "main")
        repository.git("update-server-info")
        self.url = f"{url}/models.git"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("repositories")
    with git_daemon(root, root.with_suffix(".log")) as url:
        yield Site(root, url)


def fails(done: Clone, code: int, sentence: str) -> None:
    assert (done.code, done.message) == (code, f"{sentence}\n"), done.log
    assert done.message in done.log
    assert not any(done.temporary.iterdir())


@pytest.mark.parametrize("shell", [("dash",), ("busybox", "sh"), ("bash", "--posix")], ids=" ".join)
def test_every_shell_clones_a_branch(site: Site, tmp_path: Path, shell: tuple[str, ...]) -> None:
    done = clone(tmp_path, site.url, shell=shell)
    assert (done.code, done.read()) == (0, "second"), done.log
    assert done.message == f"Cloned {site.url} at main, commit {site.second}.\n"
    assert not any(done.temporary.iterdir())


@pytest.mark.parametrize(
    ("ref", "content"),
    [("topic/new", "third"), ("refs/heads/topic/new", "third"), ("v1", "first"), ("HEAD", "second")],
)
def test_branches_and_tags_by_name(site: Site, tmp_path: Path, ref: str, content: str) -> None:
    assert clone(tmp_path, site.url, ref).read() == content


@pytest.mark.parametrize("letters", [40, 10])
def test_a_commit_by_its_number_or_the_start_of_it(site: Site, tmp_path: Path, letters: int) -> None:
    done = clone(tmp_path, site.url, site.first[:letters])
    assert (done.read(), done.message.split()[-1]) == ("first", f"{site.first}.")


def test_a_server_of_plain_files_gives_branches_too(site: Site, tmp_path: Path) -> None:
    with http_git_server(HttpGitServer(site.root, plain=True)) as server:
        done = clone(tmp_path, f"{server.url}/models.git/.git", "topic/new")
    assert done.read() == "third"


def test_spaces_quotes_and_letters_of_any_language_in_the_path(site: Site, tmp_path: Path) -> None:
    assert clone(tmp_path, site.url, path=ODD_PATH).read(ODD_PATH) == "odd"


def test_the_files_are_for_whatever_user_the_next_container_has(site: Site, tmp_path: Path) -> None:
    done = clone(tmp_path, site.url)
    assert (done.destination / NOTEBOOK).stat().st_mode & 0o666 == 0o666
    assert (done.destination / NOTEBOOK).parent.stat().st_mode & 0o777 == 0o777


@pytest.mark.parametrize("ref", ["nowhere", "tls-timeout-404", "deadbeef"])
def test_a_ref_that_is_not_there(site: Site, tmp_path: Path, ref: str) -> None:
    fails(clone(tmp_path, site.url, ref), 3, f"The repository {site.url} has no branch, tag or commit {ref}.")


@pytest.mark.parametrize("ref", ["--upload-pack=touch x", "main:refs/heads/x", "HEAD~1", "a b", ""])
def test_a_ref_that_is_no_name(site: Site, tmp_path: Path, ref: str) -> None:
    fails(clone(tmp_path, site.url, ref), 3, f"The ref {ref} is not a name that git knows.")


def test_a_path_that_is_not_in_the_repository(site: Site, tmp_path: Path) -> None:
    sentence = f"There is no file notebooks/no.ipynb in {site.url} at main (commit {site.second})."
    fails(clone(tmp_path, site.url, path="notebooks/no.ipynb"), 4, sentence)


@pytest.mark.parametrize("path", ["../x.ipynb", "/etc/x.ipynb"])
def test_a_path_that_leads_out(site: Site, tmp_path: Path, path: str) -> None:
    fails(clone(tmp_path, site.url, path=path), 4, f"The path {path} leads out of the repository {site.url}.")


def test_a_repository_over_the_size_limit(site: Site, tmp_path: Path) -> None:
    GitRepository(site.root, "large.git").commit({NOTEBOOK: os.urandom(3_000_000)})
    url = site.url.replace("models", "large")
    sentence = f"The repository {url} at main is larger than 1000000 bytes."
    fails(clone(tmp_path, url, max_bytes=1_000_000), 5, sentence)


def test_a_small_pack_that_grows_when_it_is_unpacked(site: Site, tmp_path: Path) -> None:
    repository = GitRepository(site.root, "bomb.git")
    repository.commit({f"{number}.bin": b"0" * 600_000 for number in range(10)} | {NOTEBOOK: ""})
    url = site.url.replace("models", "bomb")
    sentence = f"The repository {url} at main is larger than 1000000 bytes."
    fails(clone(tmp_path, url, max_bytes=1_000_000), 5, sentence)


def test_a_server_that_never_answers(site: Site, tmp_path: Path) -> None:
    with http_git_server(HttpGitServer(site.root, stalls=True)) as server:
        done = clone(tmp_path, f"{server.url}/models.git", timeout_seconds=1)
    fails(done, 6, f"Cloning {server.url}/models.git took longer than 1 seconds.")


def test_it_ends_at_once_when_its_pod_is_deleted(site: Site, tmp_path: Path) -> None:
    """As the first process of a container, which the kernel spares signals that it does not ask for."""
    with http_git_server(HttpGitServer(site.root, stalls=True)) as server:
        process = start(tmp_path, f"{server.url}/models.git")
        while not server.seen:
            time.sleep(0.01)
        process.terminate()
        process.communicate(timeout=5)
    assert process.returncode == 143


@pytest.mark.parametrize("scheme", ["git", "http", "https", "ssh"])
def test_a_server_that_is_not_there(tmp_path: Path, scheme: str) -> None:
    url = f"{scheme}://127.0.0.1:{free_port()}/models.git"
    done = clone(tmp_path, url)
    assert done.code == 7
    assert done.message.startswith(f"The server of {url} cannot be reached: ")
    assert done.message.count("\n") == 1


def test_a_repository_that_is_not_there(site: Site, tmp_path: Path) -> None:
    sentence = "There is no repository {}, or it is not for these credentials to see."
    fails(clone(tmp_path / "1", f"{site.url}x"), 8, sentence.format(f"{site.url}x"))
    with http_git_server(HttpGitServer(site.root)) as server:
        url = f"{server.url}/none.git"
        fails(clone(tmp_path / "2", url), 8, sentence.format(url))


def test_an_image_without_git_or_ssh_says_so(tmp_path: Path) -> None:
    fails(
        clone(tmp_path / "1", "git://x/y", programs=str(tmp_path), shell=("/bin/dash",)),
        9,
        "The image of this container has no git; use an image with git for cloning.",
    )
    some = tmp_path / "some"
    some.mkdir()
    for name in ("git", "mktemp", "sed", "grep", "du", "rm", "dirname", "cat"):
        (some / name).symlink_to(f"/usr/bin/{name}")
    fails(
        clone(tmp_path / "2", "git@example.com:y", programs=str(some), shell=("/bin/dash",)),
        9,
        "The image of this container has no ssh; use an image with git and ssh for cloning.",
    )


@pytest.mark.parametrize("url", ["ext::touch {}/ran", "file://{}"])
def test_transports_that_run_programs_or_read_files_of_the_container_are_not_used(tmp_path: Path, url: str) -> None:
    done = clone(tmp_path, url.format(tmp_path))
    assert done.code == 1
    assert "not allowed" in done.message
    assert not (tmp_path / "ran").exists()


def test_neither_hooks_nor_submodules_are_followed(site: Site, tmp_path: Path) -> None:
    repository = GitRepository(site.root, "parent.git")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(site.root / "models.git"), "sub")
    repository.commit({NOTEBOOK: "parent", "hooks/post-checkout": f"#!/bin/sh\ntouch '{tmp_path}/ran'\n"})
    repository.git("update-index", "--chmod=+x", "hooks/post-checkout")
    repository.git("commit", "-q", "-m", "Make it run")
    config = "[core]\n hooksPath = hooks\n[fetch]\n recurseSubmodules = true\n[submodule]\n recurse = true\n"
    done = clone(tmp_path, site.url.replace("models", "parent"), git_config=config)
    assert done.read() == "parent"
    assert not any((done.destination / "sub").iterdir())
    assert not (tmp_path / "ran").exists()
