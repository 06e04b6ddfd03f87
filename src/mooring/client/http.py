"""The transport to an API server over HTTP: requests, pages and watches as the API defines them, errors in its words.

Nothing here repeats a write. What can be repeated without harm is: a read over a connection that turned out to be
closed, a read that was told to wait (429), and any request once after new credentials (401).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from copy import copy
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from mooring.client.access import Access
from mooring.client.answers import error_of, object_of, proxied_message, read_list
from mooring.client.connections import Connections
from mooring.client.rest_mapper import RestMapper, RestMapping, base_of
from mooring.client.transport import EVERYTHING, Batch, Page, Request, Scope, UnknownOutcome, Unreachable
from mooring.client.watch_events import read_batch
from mooring.kube.errors import MooringError
from mooring.kube.go_json import go_json
from mooring.kube.objects import Object
from mooring.kube.patches import merge_patch
from mooring.kube.status import ApiError, NotFoundError, TooManyRequestsError
from mooring.net.client_connection import ClientConnection, ConnectionCut, HttpResponse

# Large enough that the round trips do not count, small enough that a page is a moment's work.
PAGE: Final = 500
# A server sends a bookmark at least every minute; a watch that is silent for longer has lost its server.
IDLE_SECONDS: Final = 70.0
# Watches end after a while on the server's side, not all at once.
WATCH_SECONDS: Final = (300, 600)
ANSWER_SECONDS: Final = 30.0
_READ_RETRIES: Final = 5
_MAX_RETRY_SECONDS: Final = 30.0
# For all that a pod answers.
_PROXIED_SECONDS: Final = 10.0
# Bodies come from typed code and have no unknown fields, so field validation would be wasted.
_TRUSTED: Final = {"fieldValidation": "Ignore"}
# A server that cannot leave the rest away would answer with the whole object, so nothing else is accepted.
_METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_PATCHES: Final = {"apply": "application/apply-patch+yaml", "patch": "application/merge-patch+json"}


class HttpTransport:
    """`idle` is how long a watch may be silent, `seconds` how long an answer may take."""

    def __init__(
        self,
        access: Access,
        *,
        connections: int = 32,
        page: int = PAGE,
        idle: float = IDLE_SECONDS,
        seconds: float = ANSWER_SECONDS,
        draw: random.Random | None = None,
        agent: str = "mooring",
    ) -> None:
        self._connections = Connections(access, connections)
        self._access = access
        self._page = page
        self._idle = idle
        self._seconds = seconds
        self._draw = draw or random.Random()
        self._rest_mapper = RestMapper()
        self._may_write: Callable[[], bool] | None = None
        self._headers = {"Accept": "application/json", "User-Agent": agent}
        self._metadata_headers = {**self._headers, "Accept": _METADATA}
        self._metadata_list_headers = {**self._headers, "Accept": _METADATA_LIST}

    def fenced(self, may_write: Callable[[], bool]) -> HttpTransport:
        """The same transport, which asks before it sends a write, at the last moment, whether it may."""
        twin = copy(self)
        twin._may_write = may_write
        return twin

    @property
    def server(self) -> str:
        return self._access.server

    def reconnect(self) -> None:
        """Have the next requests open connections: a new client certificate is shown in a new handshake only."""
        self._connections.drop_idle()

    async def close(self) -> None:
        await self._connections.close()

    # Reading

    async def version(self) -> str:
        """The version of the server, such as v1.35.8."""
        return str(object_of(await self._read("/version", self._headers), Unreachable).get("gitVersion", ""))

    async def get(
        self,
        api_version: str,
        kind: str,
        namespace: str,
        name: str,
        *,
        metadata_only: bool = False,
        subresource: str = "",
    ) -> Object:
        mapping = await self.mapping(api_version, kind)
        headers = self._metadata_headers if metadata_only else self._headers
        return object_of(await self._read(mapping.object(namespace, name, subresource), headers), Unreachable)

    async def log(self, namespace: str, pod: str, query: Mapping[str, str]) -> str:
        """A log, as far as the query asks for it."""
        path = _with((await self.mapping("v1", "Pod")).object(namespace, pod, "log"), **query)
        return (await self._read(path, {**self._headers, "Accept": "*/*"})).body.decode(errors="replace")

    async def proxied(self, namespace: str, pod: str, port: int, path: str, most_bytes: int) -> str:
        """What a pod answers to a GET that the API server passes on. A pod is not trusted to end, nor to be short."""
        url = f"{(await self.mapping('v1', 'Pod')).object(namespace, f'{pod}:{port}', 'proxy')}/{path}"
        connection = await self._connections.open_watch()
        try:
            async with asyncio.timeout(_PROXIED_SECONDS):
                request = self._connections.request("GET", url, {**self._headers, "Accept": "*/*"})
                head, body = await connection.open(request), bytearray()
                async with aclosing(connection.parts()) as parts:
                    async for part in parts:
                        body += part
                        if len(body) > most_bytes:
                            raise MooringError(f"its answer has more than {most_bytes >> 20} MiB")
        except TimeoutError:
            raise MooringError(f"it did not answer in {_PROXIED_SECONDS:.0f} s") from None
        except ConnectionCut as error:
            raise Unreachable(f"{self.server} did not answer: {error}") from None
        finally:
            self._connections.end_watch(connection)
        if head.status != 200:
            raise MooringError(f"the answer is {head.status}: {proxied_message(bytes(body))}")
        return body.decode(errors="replace")

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        mapping = await self.mapping(api_version, kind)
        first = _with(
            mapping.collection(scope.namespace),
            limit=str(self._page),
            labelSelector=scope.labels,
            fieldSelector=scope.fields,
        )
        headers = self._metadata_list_headers if scope.metadata_only else self._headers
        coming = asyncio.create_task(self._read(first, headers))
        try:
            while True:
                try:
                    found = read_list((await coming).body)
                except msgspec.DecodeError as error:
                    raise Unreachable(f"{self.server} answered a list that cannot be read: {error}") from None
                token = found.metadata.continue_
                if token:
                    # The server makes the next page ready while this one is taken in.
                    coming = asyncio.create_task(self._read(f"{first}&{urlencode({'continue': token})}", headers))
                    await asyncio.sleep(0)
                yield Page(found.items or [], found.metadata.resourceVersion)
                if not token:
                    return
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        mapping = await self.mapping(api_version, kind)
        path = _with(
            mapping.collection(scope.namespace),
            watch="1",
            allowWatchBookmarks="true",
            resourceVersion=resource_version,
            timeoutSeconds=str(self._draw.randint(*WATCH_SECONDS)),
            labelSelector=scope.labels,
            fieldSelector=scope.fields,
        )
        connection = await self._open(path, self._metadata_headers if scope.metadata_only else self._headers)
        try:
            yield Batch((), resource_version)
            rest = b""
            async with aclosing(connection.parts(self._idle)) as parts:
                async for part in parts:
                    whole, newline, after = (rest + part if rest else part).rpartition(b"\n")
                    rest = after
                    if newline:
                        batch, error = read_batch(whole, resource_version)
                        resource_version = batch.resource_version
                        if batch.changes:
                            yield batch
                        if error is not None:
                            raise error
        except TimeoutError:
            raise Unreachable(f"a watch of {kind} has been silent for {self._idle:.0f} s") from None
        except ConnectionCut as error:
            raise Unreachable(f"a watch of {kind} was cut off: {error}") from None
        except msgspec.DecodeError as error:
            raise Unreachable(f"a watch of {kind} sent what cannot be read: {error}") from None
        finally:
            self._connections.end_watch(connection)

    async def mapping(self, api_version: str, kind: str) -> RestMapping:
        """The RestMapping of a kind; NotFoundError if the server does not serve it."""
        found = self._rest_mapper.find(api_version, kind)
        if found is None:
            answer = object_of(await self._read(base_of(api_version), self._headers), Unreachable)
            self._rest_mapper.learn(api_version, answer.get("resources", ()))
            found = self._rest_mapper.find(api_version, kind)
        if found is None:
            raise NotFoundError(f'no matches for kind "{kind}" in version "{api_version}"')
        return found

    async def _read(self, path: str, headers: Mapping[str, str]) -> HttpResponse:
        for retries_left in range(_READ_RETRIES, -1, -1):
            try:
                return await self._answer("GET", path, headers=headers)
            except TooManyRequestsError as error:
                if not retries_left:
                    raise
                await asyncio.sleep(min(error.retry_after or 1, _MAX_RETRY_SECONDS) * (1 + self._draw.random() / 10))
        raise AssertionError("the last round returns or raises")

    async def _open(self, path: str, headers: Mapping[str, str]) -> ClientConnection:
        """A connection with the head of a watch read."""
        for again in (True, False):
            connection = await self._connections.open_watch()
            try:
                request = self._connections.request("GET", path, headers)
                if (await connection.open(request, self._seconds)).status == 200:
                    return connection
                answer = await connection.rest(self._seconds)
            except (TimeoutError, ConnectionCut) as error:
                self._connections.end_watch(connection)
                why = str(error) or f"nothing came in {self._seconds:.0f} s"
                raise Unreachable(f"{self.server} does not answer a watch: {why}") from None
            except BaseException:
                self._connections.end_watch(connection)
                raise
            self._connections.end_watch(connection)
            if not (answer.status == 401 and again and await self._access.refresh()):
                raise error_of(answer)
        raise AssertionError("the last round returns or raises")

    # Writing

    async def patch(
        self,
        api_version: str,
        kind: str,
        namespace: str,
        name: str,
        media: str,
        body: Any,
        manager: str = "",
        subresource: str = "",
    ) -> Object:
        """A patch of a media type as somebody wrote it; fields that the kind does not have are refused."""
        path = (await self.mapping(api_version, kind)).object(namespace, name, subresource)
        path = _with(path, fieldManager=manager, fieldValidation="Strict")
        return object_of(await self._answer("PATCH", path, body, media))

    async def write(self, request: Request) -> Object:
        mapping = await self.mapping(request.api_version, request.kind)
        match request.verb:
            case "create":
                path = mapping.collection(request.namespace)
                if request.subresource:
                    path = mapping.object(request.namespace, request.name, request.subresource)
                path = _with(path, fieldManager=request.manager, **_TRUSTED)
                return object_of(await self._answer("POST", path, request.body, headers=self._accepting(request)))
            case "delete":
                return await self._delete(mapping, request)
            case "bind":
                return await self._bind(mapping, request)
            case "evict":
                return await self._evict(mapping, request)
        if request.subresource == "finalize":
            return await self._finalize(mapping, request)
        force = {"force": "true"} if request.verb == "apply" else {}
        path = mapping.object(request.namespace, request.name, request.subresource)
        body = _on_basis(request.body, uid=request.uid, resourceVersion=request.resource_version)
        path = _with(path, fieldManager=request.manager, **force, **_TRUSTED)
        return object_of(await self._answer("PATCH", path, body, _PATCHES[request.verb], self._accepting(request)))

    def _accepting(self, request: Request) -> Mapping[str, str]:
        return self._metadata_headers if request.metadata_only else self._headers

    async def _delete(self, mapping: RestMapping, request: Request) -> Object:
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        basis = _present(uid=request.uid, resourceVersion=request.resource_version)
        if basis:
            options["preconditions"] = basis
        options |= _present(propagationPolicy=request.propagation, gracePeriodSeconds=request.grace)
        path = mapping.object(request.namespace, request.name)
        found = object_of(await self._answer("DELETE", path, options, headers=self._accepting(request)))
        if found.get("kind") != "Status":
            return found
        # What is gone at once is answered with a Status that names it.
        uid = (found.get("details") or {}).get("uid") or request.uid or ""
        return {"metadata": {"namespace": request.namespace, "name": request.name, "uid": uid}}

    async def _evict(self, mapping: RestMapping, request: Request) -> Object:
        options = _present(gracePeriodSeconds=request.grace)
        if request.uid is not None:
            options["preconditions"] = {"uid": request.uid}
        metadata = {"name": request.name, "namespace": request.namespace}
        body: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        if options:
            body["deleteOptions"] = options
        await self._answer("POST", mapping.object(request.namespace, request.name, "eviction"), body)
        # The answer is a Status, which does not show the pod.
        return {"metadata": {**metadata, "uid": request.uid or ""}}

    async def _finalize(self, mapping: RestMapping, request: Request) -> Object:
        """What holds a namespace can only be put, together with the whole object; there is no patch for it."""
        found = await self.get(request.api_version, request.kind, request.namespace, request.name)
        body = merge_patch(found, _on_basis(request.body, uid=request.uid, resourceVersion=request.resource_version))
        path = mapping.object(request.namespace, request.name, request.subresource)
        return object_of(await self._answer("PUT", _with(path, fieldManager=request.manager), body))

    async def _bind(self, mapping: RestMapping, request: Request) -> Object:
        metadata = {"name": request.name, "namespace": request.namespace, **_present(uid=request.uid)}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, **request.body}
        path = _with(mapping.object(request.namespace, request.name, "binding"), fieldManager=request.manager)
        found = object_of(await self._answer("POST", path, body))
        if (found.get("metadata") or {}).get("resourceVersion"):
            return found
        # The Status of a binding has no resourceVersion, and the caller needs it to wait for its own write.
        try:
            return await self.get(request.api_version, request.kind, request.namespace, request.name)
        except (ApiError, Unreachable) as error:
            raise UnknownOutcome(f"{request.kind} {request.name} was bound, but cannot be read: {error}") from None

    async def _answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        media: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """The answer to a request, if it is a good one."""
        data = b"" if body is None else go_json(body)
        headers = headers or self._headers
        if body is not None:
            headers = {**headers, "Content-Type": media}
        answer = await self._send(method, path, headers, data)
        if answer.status == 401 and await self._access.refresh():
            answer = await self._send(method, path, headers, data)
        if not 200 <= answer.status < 300:
            raise error_of(answer)
        return answer

    async def _send(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> HttpResponse:
        connections = self._connections
        while True:
            connection = connections.take() or await connections.lend()
            try:
                if method != "GET" and self._may_write is not None and not self._may_write():
                    raise Unreachable(f"{method} {path} was not sent: another replica may be leading")
                # Made last, because tokens change while one waits.
                request = connections.request(method, path, headers, data)
                return await connection.ask(request, self._seconds)
            except ConnectionCut as error:
                connections.drop_idle()
                if method != "GET":
                    raise UnknownOutcome(f"{method} {path} was not answered: {error}") from None
                if not connection.reused:
                    raise Unreachable(f"{self.server} did not answer: {error}") from None
            except TimeoutError:
                connection.close()
                late = f"no answer in {self._seconds:.0f} s"
                if method != "GET":
                    raise UnknownOutcome(f"{method} {path} was not answered: {late}") from None
                raise Unreachable(f"{self.server} did not answer: {late}") from None
            except BaseException:
                connection.close()
                raise
            finally:
                connections.give_back(connection)


def _with(path: str, **query: str) -> str:
    text = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{text}" if text else path


def _present(**fields: Any) -> Object:
    return {name: value for name, value in fields.items() if value is not None}


def _on_basis(body: Object, **basis: str | None) -> Object:
    """A body that says what it was decided on."""
    known = _present(**basis)
    return {**body, "metadata": {**body.get("metadata", {}), **known}} if known else body
