"""The users of the suite, of every kind that authorization tells apart, and how requests are sent as one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

from mooring.testing.homes import Home
from mooring.testing.http import Api

ANONYMOUS = "anonymous"
ADMINISTRATOR = "administrator"
# Names with groups. What is bound to them is up to the cases.
USERS: Mapping[str, Sequence[str]] = {
    "user": (),
    "view": (),
    "edit": (),
    "admin": (),
    "cluster-admin": (),
    "stand-in": (),
    "system:serviceaccount:default:robot": ("system:serviceaccounts", "system:serviceaccounts:default"),
    "system:node:node-a": ("system:nodes",),
    "system:node:node-b": ("system:nodes",),
}
SHORT = {"robot": "system:serviceaccount:default:robot", "node-a": "system:node:node-a", "node-b": "system:node:node-b"}


class Clients:
    """A client for each user, made when it is needed. The administrator is in system:masters."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._apis: dict[str, Api] = {}

    def __getitem__(self, user: str) -> Api:
        if user not in self._apis:
            self._apis[user] = self._made(user)
        return self._apis[user]

    def _made(self, user: str) -> Api:
        if user == ADMINISTRATOR:
            return self._home.api()
        return self._home.api_as(None if user == ANONYMOUS else SHORT.get(user, user))

    def close(self) -> None:
        for api in self._apis.values():
            api.close()

    def __enter__(self) -> Clients:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
