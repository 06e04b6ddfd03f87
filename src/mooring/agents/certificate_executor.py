"""Approves and signs certificate requests: asks the API server whether somebody may have one, and has the key.

Only the process that holds the data folder has the key of the cluster's authority, so `mooring run` has no such
executor. Both effects can be done twice: a request that is approved or signed by then is left as it is.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from mooring.agents.task_executor import TaskExecutor, system_clock
from mooring.builtin.certificates.approver import APPROVE, Review, approval
from mooring.builtin.certificates.signer import SigningArguments
from mooring.client.transport import AsyncTransport, Request
from mooring.net.certificate_signing import sign_request
from mooring.net.certificates import Certificates
from mooring.runtime.effects import Report, Run
from mooring.workloads.rule_kinds import SUBJECT_ACCESS_REVIEW

_log = logging.getLogger("mooring.agents")


class CertificateExecutor(TaskExecutor):
    def __init__(
        self, transport: AsyncTransport, authority: Certificates, *, clock: Callable[[], datetime] = system_clock
    ) -> None:
        super().__init__(transport, clock=clock)
        self._transport, self._authority, self._clock = transport, authority, clock

    async def carry_out(self, run: Run) -> Report:
        return await self._review(run) if run.effect is APPROVE else self._sign(run.arguments)

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
