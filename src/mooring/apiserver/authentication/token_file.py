"""The bearer tokens that an API server accepts: one file, one line each, with a token's hash and never the token.

Whoever reads the file learns who may come in, but cannot come in with what it says. A token has 256 bits of chance, so
a plain SHA-256 is enough; there is nothing to guess. The file is replaced as a whole, and a server that holds it looks
whether it was, so a new token counts from the next request on, and one that was taken out no longer a moment later.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from mooring.apiserver.authentication.users import AUTHENTICATED, User
from mooring.kube.errors import MooringError
from mooring.net.private_files import write_private

__all__ = ["Token", "TokenError", "TokenFile", "add_token", "check_name", "digest", "put_token", "read_tokens"]

_HEADER: Final = "# Who may use this API: name, SHA-256 of the token, groups. `mooring token create` adds a line.\n"
# How long a token may count on after it was taken out of the file.
_TOKEN_CACHE_SECONDS: Final = 0.1
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9:@._-]{0,251}[A-Za-z0-9])?").fullmatch
_DIGEST: Final = re.compile(r"[0-9a-f]{64}").fullmatch


class TokenError(MooringError):
    """A token cannot be made, or the file of them cannot be read."""


class Token(NamedTuple):
    """What is known of a token: whose it is, its hash, and the groups of its user."""

    name: str
    digest: str
    groups: tuple[str, ...] = ()

    @property
    def user(self) -> User:
        return User(self.name, tuple(dict.fromkeys((*self.groups, AUTHENTICATED))))


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def check_name(what: str, name: str) -> None:
    """Names and groups are written unquoted in a line, and shown to people."""
    if not _NAME(name):
        raise TokenError(
            f'{what} "{name}" cannot be used: at most 253 letters, digits and : @ . _ -, '
            "with a letter or digit at both ends"
        )


def read_tokens(path: Path) -> list[Token]:
    """Every token of the file. A line that cannot be read is an error: to skip it would lock somebody out silently."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, hashed, groups, *rest = (*line.split(), "", "", "")
        if not _NAME(name) or not _DIGEST(hashed) or any(rest):
            raise TokenError(f"{path}: line {number}: expected a name, a SHA-256 in hexadecimal and groups")
        found.append(Token(name, hashed, tuple(filter(None, groups.split(",")))))
    return found


def put_token(path: Path, name: str, groups: Sequence[str] = ()) -> str:
    """Make a token for `name`, in place of the one it may have had, and give it: nobody can read it afterwards."""
    with _writing(path):
        return _put(path, [token for token in _existing(path) if token.name != name], name, groups)


def add_token(path: Path, name: str, groups: Sequence[str] = ()) -> str:
    """Make a token for a name that has none yet."""
    check_name("name", name)
    for group in groups:
        check_name("group", group)
    if name.startswith("system:"):
        raise TokenError(f'name "{name}" cannot be used: names that start with system: belong to Kubernetes itself')
    with _writing(path):
        tokens = _existing(path)
        if any(token.name == name for token in tokens):
            raise TokenError(f'{path}: there is a token for "{name}" already; choose another name')
        return _put(path, tokens, name, groups)


def _existing(path: Path) -> list[Token]:
    return read_tokens(path) if path.exists() else []


def _put(path: Path, others: Sequence[Token], name: str, groups: Sequence[str]) -> str:
    token = secrets.token_urlsafe(32)
    tokens = (*others, Token(name, digest(token), tuple(groups)))
    text = "".join(f"{t.name} {t.digest} {','.join(t.groups)}".rstrip() + "\n" for t in tokens)
    write_private(path, (_HEADER + text).encode())
    return token


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """One writer at a time. The folder is locked, because the file itself is replaced."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


class TokenFile:
    """Tells whose a token is, by the file as it is now. While the file cannot be read, what it last said holds.

    A token that the file no longer lists is refused from `cache_seconds` seconds on: to look at the file for every
    request of a client that sends a thousand a second would cost as much as answering it.
    """

    def __init__(
        self,
        path: Path,
        *,
        cache_seconds: float = _TOKEN_CACHE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._cache_seconds, self._monotonic = cache_seconds, monotonic
        self._looked = monotonic()
        self._seen: tuple[int, int, int] | None = None
        self._users: dict[str, tuple[str, User]] = {}
        self._load()

    def authenticate(self, token: str | None) -> User | None:
        if not token:
            return None
        hashed = digest(token)
        now = self._monotonic()
        if hashed not in self._users or now >= self._looked + self._cache_seconds:
            self._looked = now
            self._refresh()
        # The look-up is by a hash of a hash with a seed of this process, so its duration says nothing of the token.
        known, user = self._users.get(hashed, ("", None))
        return user if hmac.compare_digest(known, hashed) else None

    def _refresh(self) -> None:
        try:
            if self._stamp() != self._seen:
                self._load()
        except (OSError, TokenError):
            return

    def _stamp(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _load(self) -> None:
        # The stamp is taken first: a file that is replaced in between is read again, never missed.
        stamp = self._stamp()
        self._users = {token.digest: (token.digest, token.user) for token in read_tokens(self._path)}
        self._seen = stamp
