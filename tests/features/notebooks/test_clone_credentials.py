"""Credentials of clone.sh: which keys of a Secret are used, who gets them, and that no byte of them shows anywhere."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.notebooks.clones import NOTEBOOK, Clone, clone, shows
from tests.support.git_servers import (
    GitRepository,
    HttpGitServer,
    SshGitServer,
    git_daemon,
    http_git_server,
    needs_sshd,
    ssh_git_server,
)

USER, PASSWORD = "alice@example.com", "s3cret/with:ä%20 and spaces"
SECRET = {"username": USER, "password": PASSWORD}
NAMED = "the Secret that credentialsSecret names"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repositories")
    GitRepository(root, "private.git").commit({NOTEBOOK: "private"})
    return root


@pytest.fixture
def server(root: Path) -> Iterator[HttpGitServer]:
    with http_git_server(HttpGitServer(root, USER, PASSWORD)) as server:
        yield server


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshGitServer]:
    with ssh_git_server(tmp_path_factory.mktemp("ssh")) as server:
        yield server


def refuses(done: Clone, sentence: str) -> None:
    assert (done.code, done.message) == (2, f"{sentence}\n"), done.log
    assert not any(done.temporary.iterdir())


class Watch:
    """Looks again and again for bytes of secrets in the commands and variables of all processes of this machine."""

    def __init__(self, *secrets: str) -> None:
        self.secrets, self.found, self.looks = secrets, set[str](), 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.is_set():
            self.looks += 1
            for entry in os.scandir("/proc"):
                for name in ("cmdline", "environ") if entry.name.isdecimal() else ():
                    try:
                        data = Path(entry.path, name).read_bytes()
                    except OSError:
                        continue
                    if shows(data, *self.secrets):
                        self.found.add(data.decode(errors="replace"))


def assert_clean(done: Clone, *secrets: str) -> None:
    """Nothing of the secrets is in what it said or left behind."""
    assert not shows(done.log.encode() + done.message.encode(), *secrets)
    left = [path for top in (done.destination, done.temporary) for path in top.rglob("*") if path.is_file()]
    assert left
    assert not [path for path in left if shows(path.read_bytes(), *secrets)]


@pytest.mark.parametrize("key", ["password", "token"])
def test_a_user_name_with_a_password_or_a_token(server: HttpGitServer, tmp_path: Path, key: str) -> None:
    done = clone(tmp_path, f"{server.url}/private.git", secret={"username": USER, key: f"{PASSWORD}\n"})
    assert (done.code, done.read()) == (0, "private"), done.log
    assert server.authorization in server.seen
    assert_clean(done, PASSWORD)


def test_the_password_stands_over_the_token(server: HttpGitServer, tmp_path: Path) -> None:
    assert clone(tmp_path, f"{server.url}/private.git", secret={**SECRET, "token": "old"}).code == 0


def test_no_byte_of_a_password_is_in_a_command_or_a_variable(server: HttpGitServer, tmp_path: Path) -> None:
    with Watch(PASSWORD) as watch:
        for number in range(3):
            assert clone(tmp_path / str(number), f"{server.url}/private.git", secret=SECRET).code == 0
    assert watch.looks > 1
    assert not watch.found


def test_a_password_that_is_refused_is_not_shown_though_the_server_repeats_it(
    server: HttpGitServer, tmp_path: Path
) -> None:
    url = f"{server.url}/private.git"
    done = clone(tmp_path, url, secret={"username": USER, "password": "wrong-one"})
    refuses(done, f"The repository {url} refuses the credentials of {NAMED}.")
    assert len(server.seen) > 1
    assert_clean(done, "wrong-one")


def test_a_repository_that_asks_for_credentials_of_a_job_without_any(server: HttpGitServer, tmp_path: Path) -> None:
    url = f"{server.url}/private.git"
    sentence = f"The repository {url} asks for credentials; put them into a Secret and name it in credentialsSecret."
    refuses(clone(tmp_path, url), sentence)


def test_a_redirect_to_another_server_brings_it_no_credentials(
    server: HttpGitServer, root: Path, tmp_path: Path
) -> None:
    with http_git_server(HttpGitServer(root, USER, PASSWORD)) as other:
        server.redirect = other.url
        url = f"{server.url}/private.git"
        done = clone(tmp_path / "1", url, secret=SECRET)
        # Without credentials of its own, a server may send its callers elsewhere; what they ask there is not answered.
        server.username = ""
        again = clone(tmp_path / "2", url, secret=SECRET)
        assert not any(other.seen)
    for each in (done, again):
        refuses(
            each,
            f"The server of {url} redirects, which is not followed with credentials; "
            "write the address that it redirects to (often the same with .git) as url.",
        )


def test_without_credentials_redirects_are_followed(root: Path, tmp_path: Path) -> None:
    with http_git_server(HttpGitServer(root)) as other, http_git_server(HttpGitServer(root)) as server:
        server.redirect = other.url
        assert clone(tmp_path, f"{server.url}/private.git").code == 0


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [
        ({"username": USER}, f"There is a username but neither password nor token in {NAMED}."),
        (
            {"user": USER, "pass": "x"},
            f"There is neither ssh-privatekey nor username with password or token in {NAMED}.",
        ),
        ({"token": "x"}, f"There is neither ssh-privatekey nor username with password or token in {NAMED}."),
        (
            {},
            f"Nothing is in {NAMED}, or there is no such Secret; "
            "it needs ssh-privatekey, or username with password or token.",
        ),
        (
            {"ssh-privatekey": "x"},
            f"The url https://x.invalid/y cannot use the ssh-privatekey of {NAMED}; "
            "write it as ssh://, or give username and password.",
        ),
    ],
    ids=["a user name alone", "unknown keys", "a token alone", "nothing", "a key of the other transport"],
)
def test_a_secret_with_the_wrong_keys(tmp_path: Path, secret: dict[str, str], sentence: str) -> None:
    refuses(clone(tmp_path, "https://x.invalid/y", secret=secret), sentence)


def test_a_password_cannot_be_used_over_ssh_nor_over_the_git_protocol(tmp_path: Path) -> None:
    sentence = f"The url git@x.invalid:y needs the key ssh-privatekey, which is not in {NAMED}."
    refuses(clone(tmp_path / "1", "git@x.invalid:y", secret=SECRET), sentence)
    sentence = "The url git://x.invalid/y cannot carry credentials; use https or ssh, or name no credentialsSecret."
    refuses(clone(tmp_path / "2", "git://x.invalid/y", secret=SECRET), sentence)


def test_a_password_in_the_url_is_refused_and_not_repeated(tmp_path: Path) -> None:
    done = clone(tmp_path, "https://bob:hid@den@x.invalid/y")
    sentence = (
        "The url of https://x.invalid/y has a password in it; put it into a Secret and name that in credentialsSecret."
    )
    refuses(done, sentence)


@needs_sshd
@pytest.mark.parametrize("ending", ["", "\n", "\r\n"], ids=["no end of line", "Unix", "DOS"])
def test_a_private_key(ssh: SshGitServer, root: Path, tmp_path: Path, ending: str) -> None:
    key = ssh.private_key.strip().replace("\n", ending or "\n") + ending
    secret = {**SECRET, "ssh-privatekey": key, "known_hosts": ssh.known_hosts}
    done = clone(tmp_path, f"{ssh.url}{root}/private.git", secret=secret)
    assert (done.code, done.read()) == (0, "private"), done.log
    assert_clean(done, *ssh.private_key.split("\n")[1:-2], PASSWORD)
    assert not any(done.temporary.iterdir())


@needs_sshd
def test_a_host_that_is_not_known_is_believed_once_and_one_with_another_key_never(
    ssh: SshGitServer, root: Path, tmp_path: Path
) -> None:
    url = f"{ssh.url}{root}/private.git"
    assert clone(tmp_path / "1", url, secret={"ssh-privatekey": ssh.private_key}).code == 0
    place = ssh.known_hosts.split()[0]
    other = f"{place} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
    refuses(
        clone(tmp_path / "2", url, secret={"ssh-privatekey": ssh.private_key, "known_hosts": other}),
        f"The host key of {url.replace('root@', '')} is not the one in known_hosts of {NAMED}.",
    )


@needs_sshd
@pytest.mark.parametrize("key", [None, "other", "-----BEGIN OPENSSH PRIVATE KEY-----\nnonsense\n"])
def test_a_key_that_the_server_does_not_take(ssh: SshGitServer, root: Path, tmp_path: Path, key: str | None) -> None:
    done = clone(tmp_path, f"{ssh.url}{root}/private.git", secret={"ssh-privatekey": key} if key else None)
    assert done.code == 2, done.log
    assert ("refuses the credentials" if key else "asks for credentials") in done.message
    assert "nonsense" not in done.log


@needs_sshd
def test_a_repository_that_ssh_does_not_find(ssh: SshGitServer, root: Path, tmp_path: Path) -> None:
    done = clone(tmp_path, f"{ssh.url}{root}/none.git", secret={"ssh-privatekey": ssh.private_key})
    assert done.code == 8, done.log


def test_a_job_without_credentials_is_anonymous(root: Path, tmp_path: Path) -> None:
    with git_daemon(root, tmp_path / "log") as url:
        assert clone(tmp_path, f"{url}/private.git").code == 0
