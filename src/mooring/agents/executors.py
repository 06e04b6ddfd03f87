"""The executors that a process with controllers has: of the effects that these controllers may ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from mooring.agents.certificate_executor import CertificateExecutor
from mooring.agents.helm.executor import HelmExecutor
from mooring.agents.pod_log_executor import LogTransport, PodLogExecutor
from mooring.agents.process_executor import ProcessExecutor
from mooring.agents.task_executor import TaskExecutor
from mooring.client.access import Access
from mooring.kube.errors import MooringError
from mooring.net.certificates import Certificates
from mooring.runtime.controller import Controller
from mooring.runtime.effects import Executor

PROCESS: Final = "process"
CERTIFICATES: Final = "certificates"
POD_LOG: Final = "pod-log"
HELM: Final = "helm"


@asynccontextmanager
async def executors_for(
    controllers: Iterable[Controller],
    transport: LogTransport,
    authority: Certificates | None = None,
    access: Access | None = None,
) -> AsyncIterator[Mapping[str, Executor]]:
    """By the names that effects call them. What still runs at the end is ended, and run again by the next process.

    `authority` is what certificates are signed with, `access` what other programs are given to reach the API server.
    """
    effects = [effect for controller in controllers for effect in controller.effects]
    for effect in effects:
        if effect.executor == CERTIFICATES:
            if authority is None:
                raise MooringError(
                    f"effect {effect.name} needs the key of the cluster's authority, which only mooring up has; "
                    "leave csr-approver and csr-signer out of --controllers"
                )
        elif effect.executor == HELM:
            if access is None:
                raise MooringError(
                    f"effect {effect.name} needs access to the API server for Helm, and there is none here"
                )
        elif effect.executor not in (PROCESS, POD_LOG) or (effect.command is None and effect.parse is None):
            raise MooringError(
                f"effect {effect.name} has no executor here; declare {PROCESS} with a command, or {POD_LOG} with parse"
            )
    wanted = {effect.executor for effect in effects}
    found: dict[str, ProcessExecutor | TaskExecutor] = {}
    if PROCESS in wanted:
        found[PROCESS] = ProcessExecutor(transport)
    if CERTIFICATES in wanted and authority is not None:
        found[CERTIFICATES] = CertificateExecutor(transport, authority)
    if HELM in wanted and access is not None:
        found[HELM] = HelmExecutor(transport, access)
    if POD_LOG in wanted:
        found[POD_LOG] = PodLogExecutor(transport)
    try:
        yield found
    finally:
        for executor in found.values():
            await executor.close()
