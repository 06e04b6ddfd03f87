"""Bootstrap tokens: Secrets in kube-system by which a new machine and a cluster come to trust each other.

A token is `ID.SECRET`. With usage `authentication` it lets its holder in; with usage `signing` it signs the cluster's
address and authority, so that the holder knows them for genuine before it can verify anything else.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

__all__ = ["NAMESPACE", "PREFIX", "TYPE", "BootstrapToken", "detached_signature", "split_token"]

NAMESPACE: Final = "kube-system"
PREFIX: Final = "bootstrap-token-"
TYPE: Final = "bootstrap.kubernetes.io/token"

_TOKEN: Final = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})").fullmatch
_ID: Final = re.compile(r"[a-z0-9]{6}").fullmatch
_GROUP: Final = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]").fullmatch
_DEFAULT_GROUP: Final = "system:bootstrappers"
_LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)


def split_token(text: str) -> tuple[str, str] | None:
    """Id and secret of what has the form of a bootstrap token."""
    found = _TOKEN(text)
    return None if found is None else (found[1], found[2])


class BootstrapToken(NamedTuple):
    """A token as its Secret has it. `groups` is None where one of them is no group of bootstrap tokens."""

    id: str
    secret: str
    # None: never.
    expires: datetime | None
    authenticates: bool
    signs: bool
    groups: tuple[str, ...] | None

    @classmethod
    def of(cls, name: str, type_: str, data: Mapping[str, str]) -> BootstrapToken | None:
        """The token of a Secret in kube-system, or None where it is not one."""
        texts = {key: _decoded(value) for key, value in data.items()}
        token_id = texts.get("token-id", "")
        if type_ != TYPE or not _ID(token_id) or name != PREFIX + token_id:
            return None
        extra = texts.get("auth-extra-groups")
        groups = {_DEFAULT_GROUP, *(extra.split(",") if extra else ())}
        return cls(
            token_id,
            texts.get("token-secret", ""),
            _expiry(texts.get("expiration", "")),
            texts.get("usage-bootstrap-authentication") == "true",
            texts.get("usage-bootstrap-signing") == "true",
            tuple(sorted(groups)) if all(map(_GROUP, groups - {_DEFAULT_GROUP})) else None,
        )

    def has_expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now


def detached_signature(content: str, token_id: str, secret: str) -> str:
    """A JSON Web Signature of a text by a token, without the text (RFC 7515, appendix F)."""
    header = _encoded(json.dumps({"alg": "HS256", "kid": token_id}, separators=(",", ":")).encode())
    signed = f"{header}.{_encoded(content.encode())}"
    return f"{header}..{_encoded(hmac.digest(secret.encode(), signed.encode(), hashlib.sha256))}"


def _expiry(text: str) -> datetime | None:
    """When a token ends. A time that cannot be read is one that has passed: no typing error makes a token eternal."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _LONG_AGO
    return found if found.tzinfo is not None else _LONG_AGO


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
