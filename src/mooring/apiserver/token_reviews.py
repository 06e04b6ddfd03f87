"""The answer to a TokenReview: whose a token is, and for which of the wanted audiences it counts."""

from __future__ import annotations

from typing import Any, Final

from mooring.apiserver.authentication.refusals import Refused
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.users import Authenticate, User, user_info
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError

__all__ = ["token_status"]

_INVALID: Final = "invalid bearer token"


def token_status(spec: Object, authenticate: Authenticate, accounts: ServiceAccountTokens) -> Object:
    token: Any = spec.get("token")
    if not isinstance(token, str) or not token:
        raise BadRequestError("token is required for TokenReview in authentication")
    wanted = tuple(spec.get("audiences") or accounts.audiences)
    try:
        verified = accounts.authenticate(token, wanted)
    except Refused as refused:
        # The authenticator of the tokens file has refused it as well, and is heard first.
        return _refused(_INVALID if str(refused) == _INVALID else f"[{_INVALID}, {refused}]")
    if verified is not None:
        return _status(verified.user, verified.audiences)
    # Other tokens are for this API and for nobody else.
    audiences = tuple(each for each in wanted if each in accounts.audiences)
    user = authenticate(token) if audiences else None
    return _refused(_INVALID) if user is None else _status(user, audiences)


def _status(user: User, audiences: tuple[str, ...]) -> Object:
    return {"authenticated": True, "user": user_info(user), "audiences": list(audiences)}


def _refused(error: str) -> Object:
    return {"user": {}, "error": error}
