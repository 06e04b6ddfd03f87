"""The role of a token as a binding: `mooring token create ada --role edit` binds the ClusterRole edit to the user ada.

The file of tokens says which bindings there are, and the server keeps them so: at its start, and before a token counts
that the file has since. So a token and its right are made by one write and taken back by one, whether the cluster runs
or not, and end together when the token expires. A binding of ours that somebody deleted is back after the next change
of the file; to end a right, revoke the token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from mooring.apiserver.authentication.token_file import Token
from mooring.apiserver.authentication.users import MASTERS
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, InsufficientStorageError, NotFoundError
from mooring.registry import Registry

__all__ = ["TokenBindings", "wanted_bindings"]

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "mooring-token"
RBAC_GROUP: Final = "rbac.authorization.k8s.io"
_API_VERSION: Final = f"{RBAC_GROUP}/v1"
_KINDS: Final = ("ClusterRoleBinding", "RoleBinding")
# What has its right from a file that only the administrator writes is not asked whether it may give it.
_USER: Final = "system:apiserver"

_log = logging.getLogger(__name__)


def wanted_bindings(tokens: Sequence[Token], now: datetime) -> list[Object]:
    """The bindings of all tokens that count and have a role."""
    return [_binding(token) for token in tokens if token.role and not token.expired(now)]


def _binding(token: Token) -> Object:
    metadata: Object = {"name": f"mooring:token:{token.name}", "labels": {MANAGED_BY: MANAGER}}
    if token.namespace:
        metadata["namespace"] = token.namespace
    return {
        "apiVersion": _API_VERSION,
        "kind": "RoleBinding" if token.namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": token.role},
        "subjects": [{"apiGroup": RBAC_GROUP, "kind": "User", "name": token.name}],
    }


class TokenBindings:
    """Keeps the bindings of one registry as the tokens say."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime]) -> None:
        self._registry, self._clock = registry, clock
        self._tokens: Sequence[Token] = ()
        # Whether a binding waits for its namespace or for room on the disk; and when the next token expires.
        self._waiting = False
        self._expires: datetime | None = None

    def sync(self, tokens: Sequence[Token]) -> None:
        """Delete the bindings that no token has any more, and create those that are missing."""
        now = self._clock()
        self._tokens = tokens
        self._expires = min((each.expires for each in tokens if each.expires and not each.expired(now)), default=None)
        wanted = {_key(each): each for each in wanted_bindings(tokens, now)}
        found = {_key(each): each for kind in _KINDS for each in self._existing(kind)}
        self._waiting = False
        for key, binding in found.items():
            if key not in wanted or not _same(binding, wanted[key]):
                self._delete(binding)
        for key, binding in wanted.items():
            if key not in found or not _same(found[key], binding):
                self._create(binding)

    def retry(self) -> None:
        """Create and delete what waits, and delete what has expired."""
        if self._waiting or (self._expires is not None and self._expires <= self._clock()):
            self.sync(self._tokens)

    def _existing(self, kind: str) -> Sequence[Object]:
        resource = self._registry.resource(_API_VERSION, kind)
        return self._registry.list(resource, label_selector=f"{MANAGED_BY}={MANAGER}").items

    def _create(self, binding: Object) -> None:
        resource, metadata = self._registry.resource(_API_VERSION, binding["kind"]), binding["metadata"]
        try:
            self._registry.create(
                resource,
                binding,
                namespace=metadata.get("namespace"),
                now=self._clock(),
                manager=MANAGER,
                user=_USER,
                groups=(MASTERS,),
            )
        except (NotFoundError, InsufficientStorageError):
            self._waiting = True
        except ApiError as error:
            _log.error("%s %s cannot be created: %s", binding["kind"], metadata["name"], error)

    def _delete(self, binding: Object) -> None:
        resource, metadata = self._registry.resource(_API_VERSION, binding["kind"]), binding["metadata"]
        try:
            self._registry.delete(
                resource, metadata.get("namespace", ""), metadata["name"], now=self._clock(), user=_USER
            )
        except InsufficientStorageError:
            self._waiting = True
        except ApiError as error:
            _log.error("%s %s cannot be deleted: %s", binding["kind"], metadata["name"], error)


def _key(binding: Object) -> tuple[str, str, str]:
    return binding["kind"], binding["metadata"].get("namespace", ""), binding["metadata"]["name"]


def _same(one: Object, other: Object) -> bool:
    return all(one.get(field) == other.get(field) for field in ("roleRef", "subjects"))
