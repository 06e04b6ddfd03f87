"""The authorizers of a server in their order, as one: privileged groups, the given ones, RBAC.

The Node authorizer is one of those given, so that the order is that of `--authorization-mode=Node,RBAC`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mooring.apiserver.authentication.users import LEGACY_TOKENS, MASTERS
from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes, Authorizer

__all__ = ["authorizer_chain", "privileged_groups"]

_MASTER: Final = AccessAnswer(AccessDecision.ALLOW)
_LEGACY: Final = AccessAnswer(AccessDecision.ALLOW, "token made before authorization")
_NO_OPINION: Final = AccessAnswer(AccessDecision.NO_OPINION)


def privileged_groups(about: Attributes) -> AccessAnswer:
    """Allow everything to system:masters, and to tokens from before authorization."""
    groups = about.user.groups
    if MASTERS in groups:
        return _MASTER
    return _LEGACY if LEGACY_TOKENS in groups else _NO_OPINION


def authorizer_chain(rbac: Authorizer, others: Sequence[Authorizer] = ()) -> Authorizer:
    """One authorizer: the first that allows or denies decides. Without one, the reasons of all are given."""
    authorizers = (privileged_groups, *others, rbac)

    def authorize(about: Attributes) -> AccessAnswer:
        reasons = []
        for ask in authorizers:
            answer = ask(about)
            if answer.decision is not AccessDecision.NO_OPINION:
                return answer
            if answer.reason:
                reasons.append(answer.reason)
        return AccessAnswer(AccessDecision.NO_OPINION, "\n".join(reasons)) if reasons else _NO_OPINION

    return authorize
