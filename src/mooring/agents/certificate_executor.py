"""Approves and signs certificate requests: asks the API server whether somebody may have one, and has the key.

Only the process that holds the data folder has the key of the cluster's authority, so `mooring run` has no such
executor. Both effects can be done twice: a request that is approved or signed by then is left as it is.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from mooring.agents.effect_reporter import EffectReporter
from mooring.builtin.certificates.approver import APPROVE, Review, approval
from mooring.builtin.certificates.signer import SigningArguments
from mooring.client.transport import AsyncTransport, Request, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.status import ApiError
from mooring.net.certificate_signing import sign_request
from mooring.net.certificates import Certificates
from mooring.runtime.effects import Report, Run
from mooring.workloads.rule_kinds import SUBJECT_ACCESS_REVIEW

_log = logging.getLogger("mooring.agents")


def system_clock() -> datetime:
    return datetime.now(UTC)


class CertificateExecutor:
    def __init__(
        self, transport: AsyncTransport, authority: Certificates, *, clock: Callable[[], datetime] = system_clock
    ) -> None:
        self._transport, self._authority, self._clock = transport, authority, clock
        self._reporter = EffectReporter(transport, clock)
        self._runs: dict[str, asyncio.Task[None]] = {}

    def start(self, run: Run) -> None:
        if run.identity not in self._runs:
            task = asyncio.create_task(self._execute(run), name=f"effect {run.identity}")
            self._runs[run.identity] = task
            task.add_done_callback(lambda _: self._runs.pop(run.identity, None))

    def cancel(self, run: Run) -> None:
        if (task := self._runs.get(run.identity)) is not None:
            task.cancel()

    async def close(self) -> None:
        tasks = tuple(self._runs.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _execute(self, run: Run) -> None:
        try:
            async with asyncio.timeout(run.effect.timeout.total_seconds()):
                report = await self._review(run) if run.effect is APPROVE else self._sign(run.arguments)
                await self._reporter.report(run, report)
        except (ApiError, MooringError, UnknownOutcome, Unreachable, OSError, ValueError) as error:
            # It is wanted still, and begun again when its key next runs.
            _log.warning("%s of %s %s failed: %s", run.effect.name, run.kind.kind, run.key, error)

    async def _review(self, run: Run) -> Report:
        """Approval by the first right that whoever asks has."""
        asked: Review = run.arguments
        for subresource in asked.subresources:
            attributes = {
                "group": "certificates.k8s.io",
                "version": "*",
                "resource": "certificatesigningrequests",
                "subresource": subresource,
                "verb": "create",
            }
            spec = {
                "user": asked.user,
                "uid": asked.uid,
                "groups": list(asked.groups),
                "extra": {key: list(values) for key, values in asked.extra.items()},
                "resourceAttributes": attributes,
            }
            kind = SUBJECT_ACCESS_REVIEW
            body = {"apiVersion": kind.api_version, "kind": kind.kind, "spec": spec}
            answer = await self._transport.write(Request("create", kind.api_version, kind.kind, "", "", body))
            if answer["status"].get("allowed"):
                return approval(subresource)
        tried = " ".join(asked.subresources)
        _log.warning("%s was recognized as [%s], but %s has no right to it", run.key, tried, asked.user)
        return Report("Failed")

    def _sign(self, asked: SigningArguments) -> Report:
        signed = sign_request(
            self._authority,
            base64.b64decode(asked.request),
            usages=asked.usages,
            life=timedelta(seconds=asked.seconds),
            now=self._clock(),
        )
        return Report("Succeeded", status={"certificate": base64.b64encode(signed).decode()})
