"""A server process from start to exit: opens what it needs, serves, and closes it again.

The supervisor has bound the socket and made the certificates and tokens, because they must stay the same when the
process is started again.
"""

import resource
import socket
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from mooring.apiserver.app import Application
from mooring.apiserver.audit.log import AuditLog
from mooring.apiserver.authentication.bootstrap_tokens import authenticate_bootstrap_token
from mooring.apiserver.authentication.chain import AuthenticatorChain
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey
from mooring.apiserver.authentication.token_bindings import TokenBindings
from mooring.apiserver.authentication.token_file import TokenFile
from mooring.apiserver.authorization.bootstrap import bootstrap_rbac
from mooring.apiserver.authorization.node import NodeAuthorizer
from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.apiserver.python_gc import collect_young_only
from mooring.apiserver.server import run
from mooring.kube.errors import MooringError
from mooring.net.certificates import Certificates
from mooring.net.tls import server_context
from mooring.registry import Registry
from mooring.registry.storage import LimitedStorage, Storage

__all__ = ["ServerConfig", "ServerError", "run_server"]

_SWITCH_SECONDS: Final = 0.0005
# Memory for what watches and later pages read. Pods of usual size reach the limit in number first; objects of a
# megabyte are kept for a hundred changes instead of twenty thousand.
_HISTORY_BYTES: Final = 128 * 1024 * 1024


class ServerError(MooringError):
    """The server cannot start; the text is one line for people."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """What a server process is told. `fd` is a bound socket; without `data` nothing outlives the process.

    Data that lack their last writes are used only with `accept_data_loss`.

    Without `certificate` and `key` it speaks plain HTTP. `nodes` is how it fetches logs. `signing_key` signs tokens of
    ServiceAccounts; without it, they are good for as long as the process lives. `authority` vouches for `certificate`
    and for the certificates of clients. `front_proxy` has what servers behind this one know it by, `backup_files` are
    the files that belong to a backup, and `audit_log` is the one in which every request is recorded.
    """

    fd: int
    tokens: Path
    data: Path | None = None
    accept_data_loss: bool = False
    certificate: Path | None = None
    key: Path | None = None
    nodes: NodeAccess | None = None
    signing_key: Path | None = None
    authority: Path | None = None
    front_proxy: Certificates | None = None
    backup_files: Mapping[str, Path] = field(default_factory=dict)
    audit_log: Path | None = None


def run_server(config: ServerConfig, prepare: Callable[[Registry], None] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit code. A MooringError says why the server cannot start.

    `prepare` is called with the registry before any request is served, to register admission functions.
    """
    # The thread that waited for the disk must not wait as long again for its turn to say so.
    sys.setswitchinterval(_SWITCH_SECONDS)
    _raise_descriptor_limit()
    sock = _socket(config.fd)
    tls = _tls(config)
    tokens = TokenFile(config.tokens)
    with _storage(config) as storage:
        registry = Registry(storage, now=_now(), history_bytes=_HISTORY_BYTES)
        host, port = sock.getsockname()[:2]
        authority, front_proxy = _text(config.authority), ""
        if config.front_proxy is not None:
            front_proxy = _text(config.front_proxy.front_proxy.authority)
        find = partial(registry.find, "v1")
        accounts = ServiceAccountTokens(find, SigningKey(config.signing_key), _now)
        issue = accounts.issue_for_secret
        own = {"authority": authority, "front_proxy": front_proxy}
        registry.bootstrap(now=_now(), host=host, port=port, issue=issue, **own)
        bootstrap_rbac(registry, now=_now())
        if prepare is not None:
            prepare(registry)
        bindings = TokenBindings(registry, _now)
        bindings.sync(tokens.tokens)
        tokens.on_change = bindings.sync
        storage.commit()
        collect_young_only()

        bootstrap = partial(authenticate_bootstrap_token, find, _now)
        chain = AuthenticatorChain(tokens.authenticate, accounts, bootstrap, refusal=tokens.refusal)

        def make(on_failure: Callable[[], None]) -> Application:
            return Application(
                registry,
                clock=_now,
                authenticate=chain.authenticate,
                on_failure=on_failure,
                nodes=config.nodes,
                front_proxy=config.front_proxy,
                authorizers=[NodeAuthorizer(registry)],
                accounts=accounts,
                backup_files=config.backup_files,
            )

        with _audit(config.audit_log) as audit:
            return 0 if run(make, sock, tls, bindings, audit) else 1


def _raise_descriptor_limit() -> None:
    """Every connection is a descriptor, and 1024, which many systems begin with, are soon taken by idle ones."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems say that there is no limit and then refuse it.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _text(path: Path | None) -> str:
    return "" if path is None else path.read_text(encoding="ascii")


def _now() -> datetime:
    return datetime.now(UTC)


def _socket(fd: int) -> socket.socket:
    try:
        return socket.socket(fileno=fd)
    except OSError as error:
        raise ServerError(f"descriptor {fd} is no socket that can be served on: {error.strerror}") from None


def _tls(config: ServerConfig) -> ssl.SSLContext | None:
    if config.certificate is None or config.key is None:
        return None
    try:
        return server_context(config.certificate, config.key, config.authority)
    except (OSError, ssl.SSLError) as error:
        raise ServerError(f"{config.certificate} and {config.key} cannot be used for TLS: {error}") from None


@contextmanager
def _audit(path: Path | None) -> Iterator[AuditLog | None]:
    if path is None:
        yield None
        return
    log = AuditLog(path)
    try:
        yield log
    finally:
        log.close()


@contextmanager
def _storage(config: ServerConfig) -> Iterator[Storage]:
    if config.data is None:
        # Revisions of an earlier process are smaller, because none makes a million changes a second: its clients get
        # 410 and list again, where they would otherwise wait for a revision that means something else by then.
        yield LimitedStorage(revision=int(_now().timestamp() * 1_000_000))
        return
    from mooring.apiserver.sqlite import SqliteStorage

    storage = SqliteStorage(config.data, accept_loss=config.accept_data_loss)
    try:
        yield storage
    finally:
        storage.close()
