"""Impersonation: a request that its sender makes as another user, where the sender has the verb impersonate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote

from mooring.apiserver.authentication.users import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from mooring.apiserver.authorization.attributes import Attributes
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain
from mooring.kube.status import BadRequestError

__all__ = ["Impersonation", "read_impersonation"]

_EXTRA: Final = b"impersonate-extra-"
_AUTHENTICATION: Final = "authentication.k8s.io"
_ACCOUNTS: Final = "system:serviceaccount:"

Headers = Sequence[tuple[bytes, bytes]]


class Impersonation(NamedTuple):
    """What the headers of a request ask for."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def checks(self, sender: User) -> Iterator[Attributes]:
        """Each of the requests that must be allowed to the sender."""
        account = _account(self.name)
        if account is None:
            yield Attributes(sender, "impersonate", resource="users", name=self.name)
        else:
            yield Attributes(sender, "impersonate", "", "serviceaccounts", "", *account)
        for group in self.groups:
            yield Attributes(sender, "impersonate", resource="groups", name=group)
        for key, values in self.extra:
            for value in values:
                yield Attributes(sender, "impersonate", _AUTHENTICATION, "userextras", key, "", value, "v1")
        if self.uid:
            yield Attributes(sender, "impersonate", _AUTHENTICATION, "uids", "", "", self.uid, "v1")

    def user(self) -> User:
        """The user as which the request goes on."""
        groups, account = self.groups, _account(self.name)
        if not groups and account is not None:
            groups = (_ACCOUNTS[:-1] + "s", f"{_ACCOUNTS[:-1]}s:{account[0]}")
        if self.name == ANONYMOUS.name:
            added = () if UNAUTHENTICATED in groups else (UNAUTHENTICATED,)
        else:
            added = () if {AUTHENTICATED, UNAUTHENTICATED} & set(groups) else (AUTHENTICATED,)
        return User(self.name, (*groups, *added), self.uid, self.extra)


def read_impersonation(headers: Headers) -> Impersonation | None:
    """What headers that start with impersonate- ask for; None when they name nobody."""
    name = uid = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for key, raw in headers:
        value = raw.decode("latin-1")
        if key == b"impersonate-user":
            name = name or value
        elif key == b"impersonate-group":
            groups.append(value)
        elif key == b"impersonate-uid":
            uid = uid or value
        elif key.startswith(_EXTRA):
            extra.setdefault(unquote(key[len(_EXTRA) :].decode("latin-1")), []).append(value)
    if not name:
        if groups or extra or uid:
            asked = " ".join(_references(groups, extra, uid))
            raise BadRequestError(f"requested [{asked}] without impersonating a user")
        return None
    return Impersonation(name, tuple(groups), uid, tuple((key, tuple(values)) for key, values in extra.items()))


def _references(groups: list[str], extra: dict[str, list[str]], uid: str) -> Iterator[str]:
    """Each thing that is asked for, as Go prints an object reference."""
    for group in groups:
        yield f"{{Group  {group}    }}"
    for key, values in extra.items():
        for value in values:
            yield f"{{UserExtra  {value}  {_AUTHENTICATION}/v1  {key}}}"
    if uid:
        yield f"{{UID  {uid}  {_AUTHENTICATION}/v1  }}"


def _account(name: str) -> tuple[str, str] | None:
    """Namespace and name of the ServiceAccount that a user name stands for."""
    if not name.startswith(_ACCOUNTS):
        return None
    namespace, _, account = name[len(_ACCOUNTS) :].partition(":")
    return None if is_dns1123_label(namespace) or is_dns1123_subdomain(account) else (namespace, account)
