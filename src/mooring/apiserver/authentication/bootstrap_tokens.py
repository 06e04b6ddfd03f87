"""Authenticates bootstrap tokens by their Secrets in kube-system."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import datetime

from mooring.api.core.bootstrap_tokens import NAMESPACE, PREFIX, BootstrapToken, split_token
from mooring.apiserver.authentication.refusals import Refused
from mooring.apiserver.authentication.service_account_tokens import Find
from mooring.apiserver.authentication.users import AUTHENTICATED, User

__all__ = ["authenticate_bootstrap_token"]


def authenticate_bootstrap_token(find: Find, clock: Callable[[], datetime], token: str) -> User | None:
    """The user of a bootstrap token; None for what has another form. Raises Refused for one that does not count."""
    parts = split_token(token)
    if parts is None:
        return None
    token_id, secret = parts
    name = PREFIX + token_id
    shown = f"Secret {NAMESPACE}/{name}"
    stored = find("Secret", NAMESPACE, name)
    if stored is None or "deletionTimestamp" in stored["metadata"]:
        raise Refused("revoked", f"there is no {shown}")
    known = BootstrapToken.of(name, stored.get("type", ""), stored.get("data") or {})
    if known is None:
        raise Refused("foreign", f"{shown} is no bootstrap token")
    if not hmac.compare_digest(known.secret.encode(), secret.encode()):
        raise Refused("foreign", f"{shown} has another token-secret")
    if known.has_expired(clock()):
        raise Refused("expired", f"{shown} has expired")
    if not known.authenticates:
        raise Refused("revoked", f"{shown} is not marked usage-bootstrap-authentication=true")
    if known.groups is None:
        raise Refused(
            "malformed", f"{shown} has a group in auth-extra-groups that does not start with system:bootstrappers:"
        )
    return User(f"system:bootstrap:{token_id}", (*known.groups, AUTHENTICATED))
