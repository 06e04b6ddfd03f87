"""The HTTP side of served webhooks, as plain ASGI: a review comes in, a function decides, a review goes out.

What cannot be decided is answered with an HTTP error, and the API server does what the webhook's failure policy says.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from mooring.admission.conversions import convert_review
from mooring.admission.reviews import BadReview
from mooring.api.kinds import Kind
from mooring.client.transport import AsyncTransport, UnknownOutcome, Unreachable
from mooring.kube.prometheus import Metric
from mooring.kube.status import ApiError
from mooring.net.asgi import Disconnected, Receive, Scope, Send, TooLarge, read_body, send_whole
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.logs import say
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.view import Unavailable, View
from mooring.runtime.webhooks.absences import absences, look
from mooring.runtime.webhooks.by_name import unread_object
from mooring.runtime.webhooks.configuration import CONVERT_PATH, admit_path
from mooring.runtime.webhooks.model import Absent, Admitted, Conversion, Denied, Webhook, WebhookRequest
from mooring.runtime.webhooks.reviews import read_review, write_review

# An object of 3 MiB before and after, with room for what is around them.
MAX_REVIEW_BYTES: Final = 8 * 1024 * 1024
_MAX_ROUNDS: Final = 5


class WebhookReply(NamedTuple):
    status: int
    body: bytes
    media: bytes = b"text/plain; charset=utf-8"


def _refused(status: int, why: str) -> WebhookReply:
    return WebhookReply(status, f"{why}\n".encode())


class WebhookApplication:
    """Answers reviews. The functions read `stores`; refusals for want of something are checked on `transport`."""

    def __init__(
        self,
        webhooks: Sequence[Webhook],
        conversions: Sequence[Conversion],
        stores: Mapping[Kind[Any], Store[Any]],
        transport: AsyncTransport,
        clock: Callable[[], datetime],
        configuration: Configuration = DEFAULTS,
    ) -> None:
        self._webhooks = {admit_path(each): each for each in webhooks}
        self._conversions = {(each.group, each.kind): each.convert for each in conversions}
        self._stores = stores
        self._transport = transport
        self._clock = clock
        self._configuration = configuration
        self.reviews = Metric("mooring_webhook_reviews_total", "counter", "Reviews answered.", ("webhook", "answer"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        # A request is begun outside of a task and becomes one when it first waits; live reads have time limits, which
        # need one.
        await asyncio.sleep(0)
        try:
            reply = await self._reply(scope, receive)
        except Disconnected:
            return
        await send_whole(send, reply.status, reply.media, reply.body)

    async def _reply(self, scope: Scope, receive: Receive) -> WebhookReply:
        webhook = self._webhooks.get(scope["path"])
        if webhook is None and scope["path"] != CONVERT_PATH:
            return _refused(404, "nothing is served here")
        if scope["method"] != "POST":
            return _refused(405, "reviews are posted")
        try:
            body = await read_body(scope, receive)
        except TooLarge:
            return _refused(413, f"a review may be {MAX_REVIEW_BYTES} bytes long")
        name = "conversion" if webhook is None else webhook.name
        try:
            if webhook is None:
                answered = convert_review(body, self._conversions)
            else:
                answered = await self._admit(webhook, body)
        except BadReview as error:
            return _refused(400, str(error))
        except (Unavailable, ApiError, Unreachable, UnknownOutcome) as error:
            self.reviews.add(name, "unavailable")
            return _refused(503, f"{name} cannot decide: {error}")
        except Exception as error:
            # One line: the function is at fault, and its author finds the place in the debug log.
            say(logging.ERROR, f"webhook {name} failed: {error!r}", webhook=name)
            say(logging.DEBUG, "".join(traceback.format_exception(error)), webhook=name)
            self.reviews.add(name, "failed")
            return _refused(500, f"{name} failed; its log says more")
        return WebhookReply(200, answered, b"application/json")

    async def _admit(self, webhook: Webhook, body: bytes) -> bytes:
        uid, request = read_review(body)
        answer = await self.decide(webhook, request)
        self.reviews.add(webhook.name, "admitted" if isinstance(answer, Admitted) else "denied")
        return write_review(uid, request, answer)

    async def decide(self, webhook: Webhook, request: WebhookRequest) -> Admitted | Denied:
        """What a webhook says, on live reads where it says no for want of something."""
        stores: Mapping[Kind[Any], Store[Any]] = self._stores
        checked: set[Any] = set()
        for _ in range(_MAX_ROUNDS):
            view = self._view(webhook, stores)
            try:
                answer = webhook.admit(request, view)
            except Unavailable as error:
                unread = Absent(error.kind, unread_object(error, stores))
                checked.add(unread)
                stores = await look(self._transport, (unread,), stores)
                continue
            if isinstance(answer, Admitted):
                return answer
            unchecked = absences(view, answer, stores) - checked
            if not unchecked:
                return answer
            checked |= unchecked
            stores = await look(self._transport, unchecked, stores)
        return webhook.admit(request, self._view(webhook, stores))

    def _view(self, webhook: Webhook, stores: Mapping[Kind[Any], Store[Any]]) -> View:
        gates = self._configuration.gates_of(webhook.gates)
        settings = self._configuration.settings_of(webhook.settings)
        return View(stores, {}, webhook.reads, self._clock(), gates=gates, settings=settings)
