"""Those who ask: each with the credentials it sent, a client of the API server that uses no others, and a mirror.

A bearer token is the API server's and is passed on as it is. The one token that this process made itself stands for
the credentials of the kubeconfig it was started with; it is for the person at this machine.

Nothing is served from a mirror on the word of an old check: the server is asked again who a token stands for, and
whether a kind may be read, when that was last asked more than a few seconds ago.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from mooring.client.access import Access
from mooring.client.credentials import bearer
from mooring.client.http import HttpTransport
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, MethodNotAllowedError, NotFoundError, UnauthorizedError
from mooring.runway.rest.errors import RestError
from mooring.runway.rest.mirror.follower import FollowedKind, Follower
from mooring.runway.rest.mirror.sources import CallerMirror
from mooring.runway.rest.mirror.topic import Topic

__all__ = ["Caller", "CallerIdentity", "Callers", "digest_of"]

MAX_CALLERS: Final = 64
IDLE_SECONDS: Final = 120.0
CHECK_SECONDS: Final = 10.0
HEARTBEAT_SECONDS: Final = 15.0
_AUTHENTICATION: Final = "authentication.k8s.io/v1"
_AUTHORIZATION: Final = "authorization.k8s.io/v1"


class CallerIdentity(NamedTuple):
    username: str
    groups: tuple[str, ...]


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class Caller:
    """`access` has the caller's credentials. `uses` counts requests and streams under way."""

    def __init__(self, access: Access, clock: Callable[[], float]) -> None:
        self.access = access
        self.transport = HttpTransport(access, agent="mooring-ui")
        self.mirror = CallerMirror(self.transport)
        self.uses = 0
        self.last_used = clock()
        self._clock = clock
        self._user = CallerIdentity("", ())
        self._user_checked = -CHECK_SECONDS
        self._checking = asyncio.Lock()
        # When each kind was last found to be readable.
        self._read_checked: dict[FollowedKind, float] = {}

    async def user(self) -> CallerIdentity:
        """Whom the credentials stand for. Raises UnauthorizedError once they are not accepted any more."""
        async with self._checking:
            if self._clock() - self._user_checked >= CHECK_SECONDS:
                self._user = await self._review()
                self._user_checked = self._clock()
        return self._user

    async def _review(self) -> CallerIdentity:
        try:
            found = await self._create(_AUTHENTICATION, "SelfSubjectReview", {})
        except (ForbiddenError, NotFoundError, MethodNotAllowedError):
            # An older server, or one that tells nobody who they are: it has accepted the credentials.
            return self._user
        except UnauthorizedError as error:
            self.mirror.end(error)
            raise
        info = (found.get("status") or {}).get("userInfo") or {}
        return CallerIdentity(str(info.get("username", "")), tuple(info.get("groups") or ()))

    async def topic(self, name: str) -> Topic:
        """One topic of the mirror, for a caller who may read what it is made of."""
        await self.check_topics((name,))
        return await self.mirror.topic(name)

    async def check_topics(self, names: Collection[str]) -> None:
        """Ask the server again whether the kinds of some topics may be read, where that is due."""
        await self.user()
        if self.mirror.ended is not None:
            await self._renew_mirror()
        now = self._clock()
        due = [each for each in self.mirror.kinds_of(names) if self._is_due(each, now)]
        await asyncio.gather(*(self._check_kind(each) for each in due))
        if self.mirror.ended is not None:
            await self._renew_mirror()

    async def check(self) -> None:
        """The same for streams, which nobody asks for again; an answer that does not come decides nothing."""
        with suppress(MooringError):
            await self.check_topics(self.mirror.names)

    def _is_due(self, follower: Follower, now: float) -> bool:
        if now - self._read_checked.setdefault(follower.followed, now) < CHECK_SECONDS:
            return False
        # Noted before the answer is there: a hundred streams ask once.
        self._read_checked[follower.followed] = now
        return True

    async def _check_kind(self, follower: Follower) -> None:
        followed = follower.followed
        try:
            allowed = await self._is_allowed("list", followed.api_version, followed.kind, followed.scope.namespace)
        except NotFoundError:
            return
        if not allowed and not follower.is_refused:
            why = ForbiddenError(f'User "{self._user.username}" cannot list {followed.kind} objects any more')
            self.mirror.refuse(follower, why)

    async def require(self, verb: str, api_version: str, kind: str) -> None:
        """Refuse what the caller may not do, also where it would turn out that nothing needs to be written."""
        if not await self._is_allowed(verb, api_version, kind, ""):
            user = await self.user()
            raise ForbiddenError(f'User "{user.username}" cannot {verb} {kind} objects')

    async def _is_allowed(self, verb: str, api_version: str, kind: str, namespace: str) -> bool:
        mapping = await self.transport.mapping(api_version, kind)
        group = api_version.rpartition("/")[0]
        attributes = {"verb": verb, "group": group, "resource": mapping.plural, "namespace": namespace}
        try:
            found = await self._create(_AUTHORIZATION, "SelfSubjectAccessReview", {"resourceAttributes": attributes})
        except (ForbiddenError, MethodNotAllowedError):
            # A server that tells nobody decides when it is asked for the thing itself.
            return True
        return bool((found.get("status") or {}).get("allowed"))

    async def _create(self, api_version: str, kind: str, spec: Object) -> Object:
        body = {"apiVersion": api_version, "kind": kind, "spec": spec}
        return await self.transport.write(Request("create", api_version, kind, "", "", body))

    async def _renew_mirror(self) -> None:
        """A mirror whose streams had to end is not used again."""
        old, self.mirror = self.mirror, CallerMirror(self.transport)
        self._read_checked.clear()
        await old.close()

    async def close(self) -> None:
        await self.mirror.close()
        await self.transport.close()


class Callers:
    """Everyone who has asked lately, by the digest of the token: tokens themselves are kept in no table.

    `server` reaches the API server without credentials. `own` has what tokens of this process stand for, by digest.
    """

    def __init__(
        self, server: Access, own: Mapping[str, Access] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._server = server
        self._own = own or {}
        self._clock = clock
        self._callers: dict[str, Caller] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._callers)

    async def get(self, token: str) -> Caller:
        """The caller with this token, which the API server accepts. Only accepted ones are kept."""
        digest = digest_of(token)
        found = self._callers.get(digest)
        if found is not None:
            try:
                await found.user()
            except UnauthorizedError:
                if self._callers.get(digest) is found:
                    self._drop(digest)
                raise
            found.last_used = self._clock()
            return found
        access = self._own.get(digest) or replace(self._server, headers=lambda: bearer(token))
        new = Caller(access, self._clock)
        try:
            await new.user()
            if digest not in self._callers:
                self._make_room()
                self._callers[digest] = new
                return new
        except BaseException:
            await new.close()
            raise
        await new.close()
        return self._callers[digest]

    def _make_room(self) -> None:
        if len(self._callers) < MAX_CALLERS:
            return
        idle = [digest for digest, caller in self._callers.items() if not caller.uses]
        if not idle:
            raise RestError(503, f"{MAX_CALLERS} callers are served at this time; try again later")
        self._drop(min(idle, key=lambda digest: self._callers[digest].last_used))

    def _drop(self, digest: str) -> None:
        task = asyncio.create_task(self._callers.pop(digest).close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def look_after(self) -> None:
        """Send heartbeats to streams, and close what nobody has used for a while, until cancelled."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            now = self._clock()
            for digest, caller in list(self._callers.items()):
                if not caller.uses and now - caller.last_used > IDLE_SECONDS:
                    self._drop(digest)
                else:
                    caller.mirror.beat()
            await asyncio.gather(*(each.check() for each in list(self._callers.values()) if each.uses))

    async def close(self) -> None:
        for digest in list(self._callers):
            self._drop(digest)
        await asyncio.gather(*self._closing)
