"""The authenticators of bearer tokens, one after the other: who sends a token, whatever its form.

Each authenticator knows its tokens by their form, so a token is judged by one of them. What none of them knows is
refused like the rest: the client hears 401, and the log says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal

from mooring.apiserver.authentication.refusals import RefusalLog, Refused
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.users import User

__all__ = ["AuthenticatorChain"]

# What `mooring token create` makes.
_OPAQUE: Final = re.compile(r"[A-Za-z0-9_-]{43}").fullmatch


_REFUSALS: Final = {
    "expired": "its time in the file of tokens is over",
    "revoked": "it was taken out of the file of tokens",
    "foreign": "it is not, or no longer, in the file of tokens",
}


class AuthenticatorChain:
    """`known` tells whose an opaque token is, by the file of them; `bootstrap` whose a bootstrap token is.

    `refusal` tells why a token of that file no longer counts.
    """

    def __init__(
        self,
        known: Callable[[str | None], User | None],
        accounts: ServiceAccountTokens,
        bootstrap: Callable[[str], User | None],
        log: RefusalLog | None = None,
        refusal: Callable[[str], Literal["expired", "revoked", "foreign"]] = lambda _: "foreign",
    ) -> None:
        self._known, self._accounts, self._bootstrap, self._refusal = known, accounts, bootstrap, refusal
        self._log = log or RefusalLog()

    def authenticate(self, token: str | None) -> User | None:
        if not token:
            return None
        try:
            return self._user(token)
        except Refused as refused:
            self._log.add(refused)
            return None

    def _user(self, token: str) -> User:
        dots = token.count(".")
        if dots == 2:
            verified = self._accounts.authenticate(token)
            if verified is None:
                raise Refused("malformed", "it has the two dots of a JSON Web Token and cannot be read as one")
            return verified.user
        if (user := self._known(token)) is not None or (dots and (user := self._bootstrap(token)) is not None):
            return user
        if _OPAQUE(token):
            why = self._refusal(token)
            raise Refused(why, _REFUSALS[why])
        raise Refused("malformed", "it has the form of no token that this server accepts")
