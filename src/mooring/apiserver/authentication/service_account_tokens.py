"""Tokens of ServiceAccounts: what they claim, and whether they still hold.

A token holds while its account exists with the uid that it names, and the pod, Secret or node that it is bound to. The
signature of a token is verified once, which costs a hundred times what a look at its objects does; those are looked
at for every request, so a token ends with the object that it is bound to and not a moment later.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from mooring.apiserver.authentication.refusals import Refused
from mooring.apiserver.authentication.signing_key import ALGORITHM, SigningKey, read_claims
from mooring.apiserver.authentication.users import AUTHENTICATED, User
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.times import moment

__all__ = ["ISSUER", "Binding", "Find", "ServiceAccountTokens", "Verified", "account_user", "credential_id"]

# What kubeadm names the issuer, which is the audience of the API too.
ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
LEGACY_ISSUER: Final = "kubernetes/serviceaccount"
LEGACY_PREFIX: Final = "kubernetes.io/serviceaccount"
# What the tokens of kube-api-access volumes are asked for with; clients that never read theirs again get a year.
WARN_ONLY_SECONDS: Final = 3607
EXTENDED_SECONDS: Final = 365 * 24 * 3600

_LEEWAY: Final = timedelta(minutes=1)
_VERIFIED_TOKENS: Final = 4096

# From kind, namespace and name to the object, or None.
Find = Callable[[str, str, str], Object | None]


class Binding(NamedTuple):
    """The object that a token is bound to. `node` is the node of a pod."""

    kind: str
    object: Object
    node: Object | None = None


class Verified(NamedTuple):
    """A token whose signature is ours."""

    user: User
    claims: Object
    audiences: tuple[str, ...]
    # Seconds since 1970; None for tokens of Secrets, which do not expire.
    expires: float | None
    not_before: float


class ServiceAccountTokens:
    """Issues and verifies. `find` reads stored objects."""

    def __init__(self, find: Find, key: SigningKey, clock: Callable[[], datetime], issuer: str = ISSUER) -> None:
        self.key, self.issuer = key, issuer
        self.audiences = (issuer,)
        self._find, self._clock = find, clock
        # By the hash of the token, the ones used last at the end.
        self._verified: dict[bytes, Verified] = {}

    def issue(
        self,
        account: Object,
        seconds: int,
        audiences: Sequence[str],
        binding: Binding | None,
        *,
        now: datetime,
        token_id: str,
    ) -> str:
        """A token of an account that expires; `seconds` is what was asked for, `token_id` a UUID of its own."""
        metadata = account["metadata"]
        bound: Object = {"namespace": metadata["namespace"], "serviceaccount": _reference(account)}
        issued = int(now.timestamp())
        if binding is not None:
            bound[binding.kind.lower()] = _reference(binding.object)
            if binding.node is not None:
                bound["node"] = _reference(binding.node)
            is_pod, is_ours = binding.kind == "Pod", set(audiences) <= set(self.audiences)
            if is_pod and is_ours and seconds == WARN_ONLY_SECONDS:
                bound["warnafter"] = issued + seconds
                seconds = EXTENDED_SECONDS
        return self.key.sign(
            {
                "aud": list(audiences),
                "exp": issued + seconds,
                "iat": issued,
                "iss": self.issuer,
                "jti": token_id,
                "kubernetes.io": dict(sorted(bound.items())),
                "nbf": issued,
                "sub": _user_name(metadata["namespace"], metadata["name"]),
            }
        )

    def issue_for_secret(self, account: Object, secret: Object) -> str:
        """The token of a Secret: it lasts as long as the Secret and its account."""
        namespace, name = account["metadata"]["namespace"], account["metadata"]["name"]
        return self.key.sign(
            {
                "iss": LEGACY_ISSUER,
                f"{LEGACY_PREFIX}/namespace": namespace,
                f"{LEGACY_PREFIX}/secret.name": secret["metadata"]["name"],
                f"{LEGACY_PREFIX}/service-account.name": name,
                f"{LEGACY_PREFIX}/service-account.uid": account["metadata"]["uid"],
                "sub": _user_name(namespace, name),
            }
        )

    def authenticate(self, token: str, audiences: Collection[str] = ()) -> Verified | None:
        """Whose token it is, and which of the wanted audiences it is for: those of this API unless others are named.

        None for what is no token of a ServiceAccount. Raises Refused for one that does not count.
        """
        digest = hashlib.sha256(token.encode()).digest()
        found = self._verified.pop(digest, None) or self._verify(token)
        if found is None:
            return None
        self._check_time(found)
        self._check_objects(found, token)
        # Put back at the end: what has not been used for the longest time stands first.
        self._verified[digest] = found
        if len(self._verified) > _VERIFIED_TOKENS:
            del self._verified[next(iter(self._verified))]
        wanted = audiences or self.audiences
        if wanted is not self.audiences or found.audiences != self.audiences:
            both = tuple(each for each in found.audiences if each in wanted)
            if not both:
                text = f"token audiences {_quoted(found.audiences)} is invalid for the target audiences"
                raise Refused("of another audience", f"{text} {_quoted(wanted)}", found.user.name)
            return found._replace(audiences=both)
        return found

    # What a token says

    def _verify(self, token: str) -> Verified | None:
        read = read_claims(token)
        if read is None:
            return None
        header, claims = read
        issuer = claims.get("iss")
        if issuer not in (self.issuer, LEGACY_ISSUER):
            raise Refused("foreign", "invalid bearer token")
        if header.get("kid", self.key.id) != self.key.id:
            raise Refused("foreign", "invalid signature, no keys found")
        if header.get("alg") != ALGORITHM or not self.key.verifies(token):
            raise Refused("foreign", "go-jose/go-jose: error in cryptographic primitive")
        # Signed by us, so it has the form that it was given.
        if issuer == LEGACY_ISSUER:
            namespace, name = claims[f"{LEGACY_PREFIX}/namespace"], claims[f"{LEGACY_PREFIX}/service-account.name"]
            user = account_user(namespace, name, claims[f"{LEGACY_PREFIX}/service-account.uid"])
            return Verified(user, claims, self.audiences, None, 0)
        bound = claims["kubernetes.io"]
        account = bound["serviceaccount"]
        user = account_user(bound["namespace"], account["name"], account["uid"], _extra(claims))
        return Verified(user, claims, tuple(claims["aud"]), claims["exp"], claims["nbf"])

    def _check_time(self, token: Verified) -> None:
        if token.expires is None:
            return
        now, leeway = self._clock().timestamp(), _LEEWAY.total_seconds()
        if now - leeway > token.expires:
            raise Refused("expired", "service account token has expired", token.user.name)
        if now + leeway < token.not_before:
            raise Refused("foreign", "service account token is not valid yet", token.user.name)

    # What a token rests on

    def _check_objects(self, token: Verified, text: str) -> None:
        claims = token.claims
        if token.expires is None:
            self._check_secret_token(token, text)
            return
        bound = claims["kubernetes.io"]
        namespace, owner = bound["namespace"], token.user.name
        name, uid = bound["serviceaccount"]["name"], bound["serviceaccount"]["uid"]
        account = self._find("ServiceAccount", namespace, name)
        if account is None:
            raise Refused("revoked", f"serviceaccounts {go_quote(name)} not found", owner)
        known = account["metadata"]["uid"]
        if known != uid:
            raise Refused("revoked", f"service account UID ({known}) does not match claim ({uid})", owner)
        if self._is_deleted(account):
            raise Refused("revoked", f"service account {namespace}/{name} has been deleted", owner)
        if (reference := bound.get("secret")) is not None:
            self._check_bound("Secret", namespace, reference, owner)
        if (reference := bound.get("pod")) is not None:
            self._check_bound("Pod", namespace, reference, owner)
        elif (reference := bound.get("node")) is not None:
            self._check_bound("Node", "", reference, owner)

    def _check_bound(self, kind: str, namespace: str, reference: Object, owner: str) -> None:
        found = self._find(kind, namespace, reference["name"])
        uid = reference.get("uid", "")
        if found is not None and (known := found["metadata"]["uid"]) != uid:
            word = kind.lower()
            text = f"{word} UID ({known}) does not match service account {word} ref claim ({uid})"
            raise Refused("revoked", text, owner)
        if found is None or self._is_deleted(found):
            raise Refused("revoked", "service account token has been invalidated", owner)

    def _check_secret_token(self, token: Verified, text: str) -> None:
        namespace, secret_name, name, uid = (
            token.claims[f"{LEGACY_PREFIX}/{part}"]
            for part in ("namespace", "secret.name", "service-account.name", "service-account.uid")
        )
        owner = token.user.name
        secret = self._find("Secret", namespace, secret_name)
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            raise Refused("revoked", "Token has been invalidated", owner)
        stored = b64decode((secret.get("data") or {}).get("token", ""))
        if not hmac.compare_digest(stored, text.encode()):
            raise Refused("revoked", "Token does not match server's copy", owner)
        account = self._find("ServiceAccount", namespace, name)
        if account is None:
            raise Refused("revoked", f"serviceaccounts {go_quote(name)} not found", owner)
        if "deletionTimestamp" in account["metadata"]:
            raise Refused("revoked", f"ServiceAccount {namespace}/{name} has been deleted", owner)
        if (known := account["metadata"]["uid"]) != uid:
            raise Refused("revoked", f"ServiceAccount UID ({known}) does not match claim ({uid})", owner)

    def _is_deleted(self, obj: Object) -> bool:
        """Whether it was deleted a while ago: what stops may use its token to say goodbye."""
        deleted = obj["metadata"].get("deletionTimestamp")
        return deleted is not None and moment(deleted) < self._clock() - _LEEWAY


def account_user(namespace: str, name: str, uid: str, extra: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> User:
    """The user that a ServiceAccount is to the API."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(_user_name(namespace, name), groups, uid, extra)


def credential_id(token_id: str) -> str:
    """How reviews and audit logs name a token."""
    return f"JTI={token_id}"


def _user_name(namespace: str, name: str) -> str:
    return f"system:serviceaccount:{namespace}:{name}"


def _extra(claims: Object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    bound = claims["kubernetes.io"]
    found: list[tuple[str, tuple[str, ...]]] = [("credential-id", (credential_id(claims["jti"]),))]
    for kind in ("node", "pod"):
        reference = bound.get(kind) or {}
        # A node that was not found when the token was made has a name and no uid.
        found += [(f"{kind}-{part}", (reference[part],)) for part in ("name", "uid") if reference.get(part)]
    return tuple((f"authentication.kubernetes.io/{key}", values) for key, values in found)


def _reference(obj: Object) -> Object:
    metadata = obj["metadata"]
    return {key: metadata[key] for key in ("name", "uid") if metadata.get(key)}


def _quoted(texts: Collection[Any]) -> str:
    return f"[{' '.join(map(go_quote, texts))}]"
