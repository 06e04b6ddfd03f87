"""Secrets of type kubernetes.io/service-account-token: filled with a token of the account that they name.

They go with that account. On other clusters kube-controller-manager does this; here the server does, because the key
that signs must not leave it.
"""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.registry.core import Core

if TYPE_CHECKING:
    from mooring.registry.registry import Registry

__all__ = ["Issue", "TokenSecrets"]

TYPE: Final = "kubernetes.io/service-account-token"
ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
ACCOUNT_UID: Final = "kubernetes.io/service-account.uid"

_MANAGER: Final = "kube-controller-manager"

# From an account and the Secret that names it to the token.
Issue = Callable[[Object, Object], str]


class TokenSecrets:
    """Follows token Secrets and accounts. `account_changed` is called after every change of an account."""

    def __init__(self, registry: "Registry", core: Core, authority: str, issue: Issue) -> None:
        self._registry, self._authority, self._issue = registry, authority, issue
        # The Secrets of this type, by namespace and name.
        self._known: set[tuple[str, str]] = set()
        for secret in core.storage.items("secrets"):
            self._note(secret, None)
        core.hooks["secrets"] = self._note
        core.after["secrets"] = self._settle
        self.account_changed(None)

    def account_changed(self, account: Object | None) -> None:
        """Fill the Secrets of an account, and delete those whose account is gone."""
        namespace = None if account is None else account["metadata"]["namespace"]
        for key in sorted(each for each in self._known if namespace in (None, each[0])):
            self._settle(self._registry.find("v1", "Secret", *key))

    def _note(self, new: Object | None, old: Object | None) -> None:
        metadata = (new or old or {})["metadata"]
        key = metadata["namespace"], metadata["name"]
        if new is not None and new.get("type") == TYPE:
            self._known.add(key)
        else:
            self._known.discard(key)

    def _settle(self, secret: Object | None) -> None:
        if secret is None or secret.get("type") != TYPE or "deletionTimestamp" in secret["metadata"]:
            return
        metadata = secret["metadata"]
        namespace, name, now = metadata["namespace"], metadata["name"], moment(metadata["creationTimestamp"])
        resource = self._registry.resource("v1", "Secret")
        account = self._account(metadata)
        with self._registry.admission.without_webhooks():
            if account is None:
                self._registry.delete(resource, namespace, name, now=now, uid=metadata["uid"])
            elif (filled := self._filled(secret, account)) is not None:
                self._registry.update(resource, filled, now=now, manager=_MANAGER)

    def _account(self, metadata: Object) -> Object | None:
        """The account that a Secret is for: the one that it names, with the uid that it names if it does."""
        annotations = metadata.get("annotations") or {}
        found = self._registry.find("v1", "ServiceAccount", metadata["namespace"], annotations.get(ACCOUNT_NAME, ""))
        if found is None or annotations.get(ACCOUNT_UID, found["metadata"]["uid"]) != found["metadata"]["uid"]:
            return None
        return found

    def _filled(self, secret: Object, account: Object) -> Object | None:
        """The Secret with all it should have; None when it has it."""
        metadata, data = secret["metadata"], dict(secret.get("data") or {})
        wanted = {"namespace": metadata["namespace"], **({"ca.crt": self._authority} if self._authority else {})}
        missing = {key: _encoded(text) for key, text in wanted.items() if _decoded(data.get(key, "")) != text}
        if not data.get("token"):
            missing["token"] = _encoded(self._issue(account, secret))
        annotations = metadata["annotations"]
        if not missing and annotations.get(ACCOUNT_UID):
            return None
        named = {**annotations, ACCOUNT_UID: account["metadata"]["uid"]}
        return {**secret, "metadata": {**metadata, "annotations": named}, "data": {**data, **missing}}


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def _decoded(text: str) -> str:
    try:
        return b64decode(text).decode(errors="replace")
    except Error:
        return ""
