"""The application that serves webhooks: what its caller, its log and its metrics are told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.client.inprocess import AsyncInProcess
from mooring.kube.prometheus import exposition
from mooring.registry import Registry
from mooring.runtime.view import View
from mooring.runtime.webhooks.application import WebhookApplication
from mooring.runtime.webhooks.configuration import admit_path
from mooring.runtime.webhooks.model import Admitted, Denied, Webhook, WebhookRequest
from tests.runtime.hooks import GUARD
from tests.runtime.test_webhooks import NOW, now, sent


def test_a_served_function_that_fails_is_counted_and_its_caller_told(caplog: pytest.LogCaptureFixture) -> None:
    def broken(request: WebhookRequest, view: View) -> Admitted | Denied:
        raise KeyError("replicas")

    hook = Webhook("b.example.com", "validating", broken, GUARD.rules)
    application = WebhookApplication((hook,), (), {}, AsyncInProcess(Registry(now=NOW, seed=1), now), now)
    answers: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": sent()}

    async def send(message: Any) -> None:
        answers.append(message)

    asyncio.run(application({"type": "http", "method": "POST", "path": admit_path(hook)}, receive, send))

    assert (answers[0]["status"], answers[1]["body"]) == (500, b"b.example.com failed; its log says more\n")
    assert [record.getMessage() for record in caplog.records] == ["webhook b.example.com failed: KeyError('replicas')"]
    counted = 'mooring_webhook_reviews_total{webhook="b.example.com",answer="failed"} 1'
    assert counted in exposition((application.reviews,))
