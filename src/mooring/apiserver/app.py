"""The ASGI application: from a request to its handler, and from the result or the exception to the response.

It is written against plain ASGI. Routing is one function of the path, a handler is one function of the request, and the
one rule for all of them is kept here: a response is sent only when the writes that it rests on are durable.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from mooring.apiserver.aggregation import Aggregator
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey
from mooring.apiserver.authentication.users import Authenticate
from mooring.apiserver.authorization.access_control import AccessControl
from mooring.apiserver.authorization.attributes import Authorizer
from mooring.apiserver.background_work import BackgroundWork
from mooring.apiserver.backup.handler import BackupHandler
from mooring.apiserver.calls import Call, Context, not_found, wrong_method
from mooring.apiserver.discovery import review_resources
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.handlers import delete, get, nonresource, subresources, write
from mooring.apiserver.health import Check, health, version
from mooring.apiserver.messages.bodies import decode_object
from mooring.apiserver.messages.encodings import reencoded
from mooring.apiserver.messages.negotiation import (
    PLAIN,
    NotAcceptableError,
    negotiate,
    negotiate_untabled,
    negotiate_watch,
)
from mooring.apiserver.messages.options import write_options
from mooring.apiserver.messages.representations import Representations
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import (
    Response,
    failure,
    json_response,
    pretty,
    send_response,
    text_response,
    warning_headers,
)
from mooring.apiserver.metrics import Labels, ServerMetrics
from mooring.apiserver.nodes.connectors import Connectors, has_own_form
from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.apiserver.resource_metrics.resources import GROUP as METRICS_GROUP
from mooring.apiserver.resource_metrics.resources import METRICS
from mooring.apiserver.reviews import check_review, review, review_kind
from mooring.apiserver.routing import RequestInfo, parse_path
from mooring.apiserver.tables import partial as partial_metadata
from mooring.apiserver.watches.open_watches import Watches
from mooring.apiserver.webhooks import Webhooks
from mooring.kube.status import ApiError, BadRequestError, InternalError
from mooring.net.asgi import Disconnected, Receive, Scope, Send
from mooring.net.certificates import Certificates
from mooring.net.fairqueue import FairQueue
from mooring.registry import Registry, Resource
from mooring.registry.write_options import Options

if TYPE_CHECKING:
    from mooring.apiserver.resource_metrics.handler import ResourceMetricsHandler

__all__ = ["Application"]


_HEALTH: Final = frozenset({"healthz", "livez", "readyz"})
# Answered without waiting for the disk: they tell nothing that was written.
_OPEN: Final = _HEALTH | {"version"}
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_OTHER: Final = Labels("OTHER", "", "", "", "")

_log = logging.getLogger(__name__)


class Application:
    """An API server as an ASGI application. `authenticate` tells whose a bearer token is; `authorizers` are asked
    before RBAC whether a request is allowed.

    `on_failure` is called when writes can no longer be stored: nothing is answered from then on. Without `nodes` no
    node is ever asked for logs, and no pod is entered; without `accounts` a key in memory signs the tokens of
    ServiceAccounts. Servers behind this one know it by what `front_proxy` has. `backup_files` are the files that belong
    to a backup, by the paths that they have in it.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        clock: Callable[[], datetime],
        authenticate: Authenticate,
        on_failure: Callable[[], None] | None = None,
        bookmark_seconds: float = 60.0,
        nodes: NodeAccess | None = None,
        authorizers: Sequence[Authorizer] = (),
        accounts: ServiceAccountTokens | None = None,
        front_proxy: Certificates | None = None,
        backup_files: Mapping[str, Path] | None = None,
    ) -> None:
        self.registry = registry
        self.queue = FairQueue()
        self.group_commit = GroupCommit(registry.storage, on_failure, self.queue.waiting)
        self._background = BackgroundWork(self.group_commit, self.queue)
        registry.register_background(self._background.begin)
        self.access = AccessControl(registry, authenticate, clock, authorizers)
        self.webhooks = Webhooks(registry, self.group_commit, self.access.authorizer)
        accounts = accounts or ServiceAccountTokens(partial(registry.find, "v1"), SigningKey(), clock)
        self.context = Context(registry, clock, Representations(registry, clock), self.webhooks, self.access, accounts)
        self.watches = Watches(self.context, self.group_commit, bookmark_seconds=bookmark_seconds)
        self._connectors = None if nodes is None else Connectors(self.context, nodes)
        # Made by the first request for metrics.
        self._resource_metrics: ResourceMetricsHandler | None = None
        self._metrics = ServerMetrics()
        self.aggregator = Aggregator(registry, self.group_commit, clock, front_proxy)
        self._backups = BackupHandler(registry, clock, backup_files or {})
        self._nonresource = nonresource.NonResourceHandler(registry, accounts, self.aggregator)

    def stop(self) -> None:
        """Let open watches end; nothing else takes long."""
        self.watches.stop()
        if self._connectors is not None:
            self._connectors.stop()
        if self._resource_metrics is not None:
            self._resource_metrics.stop()
        self._background.stop()
        self.webhooks.close()
        self.access.close()
        self.aggregator.close()

    def counts(self, token: str) -> bool:
        """Whether a bearer token is somebody's, now."""
        return self.access.authenticate(token) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = perf_counter()
        request = HttpRequest(scope, receive)
        target = parse_path(request.path)
        warnings: list[str] = []
        labels = _OTHER
        representation = PLAIN
        try:
            self.access.admit(request, target)
            if (service := self.aggregator.of(target)) is not None:
                await self.group_commit.wait()
                self._metrics.request(labels, await self.aggregator.serve(request, service, send))
                return
            call = self._call(request, target, warnings)
            if call is None:
                response = await self._elsewhere(request, target, warnings)
            else:
                labels = _labels(call)
                representation = call.representation
                if labels.verb == "WATCH":
                    await self._watch(call, labels, send)
                    return
                if self._connectors is not None and (connect := self._connectors.of(call)) is not None:
                    _check_scope(call)
                    await self.group_commit.wait()
                    self._metrics.request(labels, await connect(call, send))
                    return
                response = await self._on_resource(call)
                if request.method == "GET" and (warning := self.registry.deprecation(call.resource)):
                    response.headers = (*response.headers, *warning_headers([warning]))
            if target.root not in _OPEN:
                await self.group_commit.wait(response.revision)
        except Disconnected:
            return
        except Exception as error:
            response = await self._failed(request, error, warnings)
        if representation.encoding != "json":
            response = reencoded(response, representation.encoding)
        gzip = not request.local and "gzip" in request.header(b"accept-encoding")
        await send_response(send, pretty(response) if request.wants_pretty else response, request.turn, gzip=gzip)
        self._metrics.request(labels, response.status, perf_counter() - started)

    def _call(self, request: HttpRequest, target: RequestInfo, warnings: list[str]) -> Call | None:
        """The request on a resource that there is, None when it is about something else."""
        if not target.plural:
            return None
        resource = self.registry.resources.of_plural(target.group, target.version, target.plural)
        if resource is None:
            return None
        watches = request.method == "GET" and request.flag("watch")
        chosen = negotiate_watch if watches else negotiate_untabled if target.subresource == "token" else negotiate
        try:
            representation = chosen(request.header(b"accept"), custom=resource.custom)
        except NotAcceptableError:
            if has_own_form(target):
                return Call(request, target, resource, PLAIN, warnings)
            if target.subresource and target.subresource not in resource.subresources:
                # What there is not has no form either.
                raise not_found() from None
            raise
        return Call(request, target, resource, representation, warnings)

    # Resources

    async def _on_resource(self, call: Call) -> Response:
        target, resource, context = call.target, call.resource, self.context
        _check_scope(call)
        method = call.request.method
        if method != "GET":
            await self.group_commit.wait_for_room()
        if target.subresource:
            subresources.refuse_unserved(context, call)
            if target.rest:
                raise not_found()
        if not target.name:
            if method == "GET":
                return await get.list_(context, call)
            if method == "POST":
                return await write.create(context, call)
            if method == "DELETE" and "deletecollection" in resource.verbs:
                return await delete.delete_collection(context, call, self.group_commit)
            raise wrong_method()
        if method == "GET":
            return await self.webhooks.read(lambda: get.get(context, call))
        if method == "PUT":
            return await write.update(context, call)
        if method == "PATCH":
            return await write.patch(context, call)
        if method == "DELETE" and not target.subresource:
            return await delete.delete(context, call)
        if method == "POST" and target.subresource:
            return await subresources.create_sub(context, call)
        if target.subresource and target.subresource not in resource.subresources:
            raise not_found()
        raise wrong_method()

    async def _watch(self, call: Call, labels: Labels, send: Send) -> None:
        _check_scope(call)
        await self.watches.serve(call, send)
        self._metrics.request(labels, 200)

    # Everything else

    async def _elsewhere(self, request: HttpRequest, target: RequestInfo, warnings: list[str]) -> Response:
        root = target.root
        if root == "unknown" or (root == "apis" and not self._is_known(target)):
            return text_response("404 page not found\n", 404)
        if root in ("api", "apis"):
            if target.plural and target.group == METRICS_GROUP:
                return await self._measure().answer(request, target)
            if target.plural:
                return await self._unstored(request, target, warnings)
            _only_get(request)
            return self._nonresource.discovery(request, target)
        # The server sends no body where only the head was asked for.
        _only_get(request, "HEAD")
        if root in _HEALTH:
            return health(request, target, self._checks(root))
        if root == "version":
            if target.rest:
                raise not_found()
            return version()
        if root == "metrics":
            return text_response(self._metrics_text())
        if root == "backup":
            return self._backups.answer(request)
        if root == "openapi":
            return await self._nonresource.openapi(request, target)
        if root in ("openid", ".well-known"):
            return self._nonresource.openid(request, target)
        return self._nonresource.root()

    def _is_known(self, target: RequestInfo) -> bool:
        """Whether a path below /apis is an API's: of a group, of a custom one only in versions that are served."""
        if not target.group or any(each.group == target.group for each in (*review_resources(), *METRICS)):
            return True
        if not target.version and any(each.group == target.group for each in self.aggregator.remote):
            return True
        return any(
            each.group == target.group and (not each.custom or target.version in ("", each.version))
            for each in self.registry.resources
        )

    def _measure(self) -> "ResourceMetricsHandler":
        if self._resource_metrics is None:
            # Imported here, because a start does without.
            from mooring.apiserver.resource_metrics.handler import ResourceMetricsHandler

            kubelets = None if self._connectors is None else self._connectors.kubelets
            self._resource_metrics = ResourceMetricsHandler(self.context, kubelets)
        return self._resource_metrics

    async def _unstored(self, request: HttpRequest, target: RequestInfo, warnings: list[str]) -> Response:
        """Kinds that are answered and not kept: reviews, and bindings posted where the oldest clients post them."""
        group, plural = target.group, target.plural
        kind = review_kind(group, target.version, plural, target.namespace)
        binding = (group, target.version, plural) == ("", "v1", "bindings") and target.namespace is not None
        if (kind is None and not binding) or target.name:
            raise not_found()
        if request.method != "POST":
            raise wrong_method()
        representation = negotiate_untabled(request.header(b"accept"))
        if kind is None:
            pods = self.registry.resource("v1", "Pod")
            return await subresources.bind(self.context, Call(request, target, pods, representation))
        given = await decode_object(request.header(b"content-type"), await request.body(), kind)
        request.holds(given)
        now = self.context.clock()
        validation = write_options(request, "CreateOptions").field_validation
        check_review(kind, given, Options(now, field_validation=validation, warnings=warnings))
        answer = review(kind, given, request.user, target.namespace, self.access, self.context.accounts, now)
        if representation.kind:
            answer = partial_metadata(answer, f"meta.k8s.io/{representation.version}")
        return reencoded(json_response(answer, 201, warnings), representation.encoding)

    def _checks(self, root: str) -> Mapping[str, Check]:
        checks: dict[str, Check] = {"ping": lambda: "", "storage": lambda: self.group_commit.failure}
        if root == "readyz":
            checks["shutdown"] = lambda: "the server is stopping" if self.watches.stopping else ""
        return checks

    def _metrics_text(self) -> str:
        # Kinds with several versions are stored once.
        stored: dict[str, Resource] = {}
        for resource in self.registry.resources:
            stored.setdefault(resource.store, resource)
        objects = {resource: self.registry.count(resource) for resource in stored.values()}
        return self._metrics.text(self.watches.counts(), objects, self.registry.revision, self.group_commit)

    # What goes wrong

    async def _failed(self, request: HttpRequest, error: Exception, warnings: list[str]) -> Response:
        """The answer to a request that failed. It too rests on what was read, and waits until that is durable."""
        refusal = _refusal(request, error)
        try:
            await self.group_commit.wait()
        except ApiError as broken:
            refusal = broken
        return failure(refusal, warnings)


def _refusal(request: HttpRequest, error: Exception) -> ApiError:
    if isinstance(error, ApiError):
        return error
    if isinstance(error, RecursionError):
        return BadRequestError("exceeded max depth: what the request asks for is nested too deep")
    _log.error(
        "%s %s failed: %s: %s",
        request.method,
        request.path,
        type(error).__name__,
        error,
        exc_info=_log.isEnabledFor(logging.DEBUG),
    )
    return InternalError.of(f"the server failed at this request ({type(error).__name__}); its log says more")


def _labels(call: Call) -> Labels:
    """What a request does, in the words of audits and metrics."""
    method, resource, target = call.request.method, call.resource, call.target
    verb = method if method in _METHODS else "OTHER"
    if not target.name:
        if method == "GET":
            verb = "WATCH" if call.request.flag("watch") else "LIST"
        elif method == "DELETE":
            verb = "DELETECOLLECTION"
    # Only names that there are become labels: others could be without number.
    subresource = target.subresource if target.subresource in resource.subresources else ""
    return Labels(verb, resource.group, resource.version, resource.plural, subresource)


def _check_scope(call: Call) -> None:
    """Objects in namespaces are named with theirs, others without one."""
    resource, target = call.resource, call.target
    if target.namespace is not None:
        if not resource.namespaced:
            raise not_found()
    elif resource.namespaced:
        if target.name:
            raise not_found()
        if call.request.method != "GET":
            raise wrong_method()


def _only_get(request: HttpRequest, *also: str) -> None:
    if request.method not in ("GET", *also):
        raise wrong_method()
