"""The bearer tokens that an API server accepts: one file, one line each, with a token's hash and never the token.

Whoever reads the file learns who may come in, but cannot come in with what it says. A token has 256 bits of chance, so
a plain SHA-256 is enough; there is nothing to guess. The file is replaced as a whole, and a server that holds it looks
whether it was, so a new token counts from the next request on, and one that was taken out no longer a moment later.

    ada 9f86... ml-engineers created=2026-11-16T08:00:00Z expires=2026-12-16T08:00:00Z role=edit namespace=shop

A line without `created` was made by an older version, in which every token could do everything.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, get_args

from mooring.apiserver.authentication.users import AUTHENTICATED, LEGACY_TOKENS, User
from mooring.kube.errors import MooringError
from mooring.kube.names import is_dns1123_label
from mooring.kube.times import moment, timestamp
from mooring.net.private_files import write_private

__all__ = [
    "ROLES",
    "Role",
    "Token",
    "TokenError",
    "TokenFile",
    "add_token",
    "adopt_token",
    "check_name",
    "digest",
    "put_token",
    "read_tokens",
    "readable_tokens",
    "remove_token",
]

Role = Literal["view", "edit", "admin", "cluster-admin"]
ROLES: Final[tuple[str, ...]] = get_args(Role)

_HEADER: Final = (
    "# Who may use this API: name, SHA-256 of the token, groups, and more. `mooring token create` adds a line.\n"
)
# How long a token may count on after it was taken out of the file.
_TOKEN_CACHE_SECONDS: Final = 0.1
_NO_GROUPS: Final = "-"
_MAX_REVOKED: Final = 1000
# The stamp of no file.
_UNREAD: Final = (0, 0, 0)
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9:@._-]{0,251}[A-Za-z0-9])?").fullmatch
_DIGEST: Final = re.compile(r"[0-9a-f]{64}").fullmatch
_FIELDS: Final = frozenset({"created", "expires", "role", "namespace", "own"})


_log = logging.getLogger(__name__)


class TokenError(MooringError):
    """A token cannot be made, or the file of them cannot be read."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token: whose it is, its hash, the groups of its user, and what it was made with.

    `role` names a ClusterRole, given in `namespace`, or everywhere without one. `own` tokens are those of the cluster's
    own processes and of its administrator, which every start makes or keeps.
    """

    name: str
    digest: str
    groups: tuple[str, ...] = ()
    created: datetime | None = None
    expires: datetime | None = None
    role: str = ""
    namespace: str = ""
    own: bool = False

    @property
    def legacy(self) -> bool:
        """Whether it was made when every token could do everything."""
        return self.created is None

    @property
    def user(self) -> User:
        more = (LEGACY_TOKENS, AUTHENTICATED) if self.legacy else (AUTHENTICATED,)
        return User(self.name, tuple(dict.fromkeys((*self.groups, *more))))

    def expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now

    @property
    def line(self) -> str:
        fields: list[tuple[str, str]] = []
        if self.created is not None:
            fields.append(("created", timestamp(self.created)))
        if self.expires is not None:
            fields.append(("expires", timestamp(self.expires)))
        fields += [("role", self.role)] * bool(self.role) + [("namespace", self.namespace)] * bool(self.namespace)
        fields += [("own", "yes")] * self.own
        if not fields:
            return f"{self.name} {self.digest} {','.join(self.groups)}".rstrip()
        groups = ",".join(self.groups) or _NO_GROUPS
        return " ".join((self.name, self.digest, groups, *(f"{name}={value}" for name, value in fields)))


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def check_name(what: str, name: str) -> None:
    """Names and groups are written unquoted in a line, and shown to people."""
    if not _NAME(name):
        raise TokenError(
            f'{what} "{name}" cannot be used: at most 253 letters, digits and : @ . _ -, '
            "with a letter or digit at both ends"
        )


# Reading


def read_tokens(path: Path) -> list[Token]:
    """Every token of the file. A line that cannot be read is an error: to skip it would lock somebody out silently."""
    tokens, broken = readable_tokens(path)
    if broken:
        raise TokenError(f"{path}: line {broken[0]}: expected a name, a SHA-256 in hexadecimal and groups")
    return tokens


def readable_tokens(path: Path) -> tuple[list[Token], list[int]]:
    """The tokens of the lines that can be read, and the numbers of the others."""
    tokens, broken = list[Token](), list[int]()
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        token = _parsed(line)
        if token is None:
            broken.append(number)
        else:
            tokens.append(token)
    return tokens, broken


def _parsed(line: str) -> Token | None:
    parts = line.split()
    name, hashed, groups, *rest = [*parts, *[""] * (3 - len(parts))]
    if not _NAME(name) or not _DIGEST(hashed):
        return None
    listed = tuple(group for group in groups.split(",") if group and group != _NO_GROUPS)
    fields = dict(part.partition("=")[::2] for part in rest)
    if len(fields) != len(rest) or not fields.keys() <= _FIELDS or (rest and "created" not in fields):
        return None
    role = fields.get("role", "")
    if role and role not in ROLES:
        return None
    times: dict[str, datetime] = {}
    for field in ("created", "expires"):
        if field in fields:
            try:
                times[field] = moment(fields[field])
            except ValueError:
                return None
    own = fields.get("own") == "yes"
    return Token(name, hashed, listed, **times, role=role, namespace=fields.get("namespace", ""), own=own)


# Writing


def put_token(path: Path, name: str, groups: Sequence[str] = ()) -> str:
    """Make a token of the cluster's own for `name`, in place of the one it may have had, and give it."""
    with _writing(path):
        others = [token for token in _existing(path) if token.name != name]
        return _put(path, others, Token(name, "", tuple(groups), created=_now(), own=True))


def adopt_token(path: Path, name: str) -> None:
    """Make a token of an older version one of the cluster's own."""
    with _writing(path):
        tokens = _existing(path)
        if any(token.name == name and token.legacy for token in tokens):
            _write(path, [replace(each, created=_now(), own=True) if each.name == name else each for each in tokens])


def add_token(
    path: Path,
    name: str,
    groups: Sequence[str] = (),
    *,
    role: str = "",
    namespace: str = "",
    expires: datetime | None = None,
) -> str:
    """Make a token for a name that has none yet, and give it: nobody can read it afterwards."""
    check_name("name", name)
    for group in groups:
        check_name("group", group)
    if name.startswith("system:"):
        raise TokenError(f'name "{name}" cannot be used: names that start with system: belong to Kubernetes itself')
    if namespace and is_dns1123_label(namespace):
        raise TokenError(f'namespace "{namespace}" cannot be used: it is not a name that a namespace can have')
    if namespace and not role:
        raise TokenError(f'namespace "{namespace}" says where a role counts; name one with --role')
    with _writing(path):
        tokens = _existing(path)
        if any(token.name == name for token in tokens):
            raise TokenError(
                f'{path}: there is a token for "{name}" already; choose another name, '
                f"or take it back with mooring token revoke {name}"
            )
        made = Token(name, "", tuple(groups), created=_now(), expires=expires, role=role, namespace=namespace)
        return _put(path, tokens, made)


def remove_token(path: Path, name: str) -> None:
    """Take a token back."""
    with _writing(path):
        tokens = _existing(path)
        found = next((token for token in tokens if token.name == name), None)
        if found is None:
            raise TokenError(f'{path}: there is no token for "{name}"; mooring token list shows them')
        if found.own:
            raise TokenError(
                f'{path}: the token of "{name}" is the cluster\'s own and every start needs it; '
                "to have a new one, stop mooring up, delete the kubeconfig in its folder and start again"
            )
        _write(path, [token for token in tokens if token.name != name])


def _existing(path: Path) -> list[Token]:
    return read_tokens(path) if path.exists() else []


def _put(path: Path, others: Sequence[Token], made: Token) -> str:
    token = secrets.token_urlsafe(32)
    _write(path, [*others, replace(made, digest=digest(token))])
    return token


def _write(path: Path, tokens: Sequence[Token]) -> None:
    write_private(path, (_HEADER + "".join(f"{token.line}\n" for token in tokens)).encode())


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


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
    """Tells whose a token is, by the file as it is now.

    A token that the file no longer lists is refused from `cache_seconds` seconds on: to look at the file for every
    request of a client that sends a thousand a second would cost as much as answering it.

    A file that is missing or cannot be read lists nobody, and a line that cannot be read nobody either: the reason may
    be that somebody was taken out, and a user who waits for the file to be put right loses less than one who stays in.
    The cluster's own tokens are an exception. They cannot be taken back by way of a broken file, since the next start
    makes them again; without them the administrator could not put anything right, and the controllers would stop.
    """

    def __init__(
        self,
        path: Path,
        *,
        cache_seconds: float = _TOKEN_CACHE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = path
        self._cache_seconds, self._monotonic, self._clock = cache_seconds, monotonic, clock
        self._looked = monotonic()
        # The file as it was when it was last read; None when it could not be.
        self._seen: tuple[int, int, int] | None = self._stamp()
        self._tokens = {token.digest: token for token in read_tokens(path)}
        self._problem = ""
        # Hashes of tokens that counted in this process and no longer do.
        self._revoked: dict[str, None] = {}
        self.on_change: Callable[[Sequence[Token]], None] = lambda tokens: None

    @property
    def tokens(self) -> Sequence[Token]:
        """What the file says, as of the last look."""
        return tuple(self._tokens.values())

    def authenticate(self, token: str | None) -> User | None:
        if not token:
            return None
        hashed = digest(token)
        now = self._monotonic()
        if hashed not in self._tokens or now >= self._looked + self._cache_seconds:
            self._looked = now
            self._refresh()
        # The look-up is by a hash of a hash with a seed of this process, so its duration says nothing of the token.
        found = self._tokens.get(hashed)
        if found is None or not hmac.compare_digest(found.digest, hashed) or found.expired(self._clock()):
            return None
        return found.user

    def refusal(self, token: str) -> Literal["expired", "revoked", "foreign"]:
        """Why a token does not count, for the log."""
        hashed = digest(token)
        if hashed in self._tokens:
            return "expired"
        return "revoked" if hashed in self._revoked else "foreign"

    def _refresh(self) -> None:
        # The stamp is taken first: a file that is replaced in between is read again, never missed.
        stamp = self._stamp()
        if stamp == self._seen:
            return
        tokens, broken = list[Token](), list[int]()
        why = ""
        try:
            tokens, broken = readable_tokens(self._path)
        except OSError as error:
            why = f"{self._path} cannot be read: {error.strerror}"
            # It may be readable a moment later without having changed.
            stamp = stamp and _UNREAD
        if broken:
            why = f"{self._path}: line {broken[0]} cannot be read"
        if why:
            listed = {token.name for token in tokens}
            tokens += [token for token in self._tokens.values() if token.own and token.name not in listed]
        if why and why != self._problem:
            _log.error("%s; its tokens do not count until it is put right", why)
        self._seen, self._problem = stamp, why
        before, self._tokens = self._tokens, {token.digest: token for token in tokens}
        for hashed in before.keys() - self._tokens.keys():
            self._revoked[hashed] = None
        while len(self._revoked) > _MAX_REVOKED:
            del self._revoked[next(iter(self._revoked))]
        self.on_change(self.tokens)

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
