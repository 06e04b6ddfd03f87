"""Fetches the artefact of a job from the log of its newest pod."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mooring.cli.cluster_access import connect
from mooring.kube.errors import InputError
from mooring.notebook_runner.frames import ARTIFACT, LINE_CHARACTERS, FrameError, decode

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport

__all__ = ["fetch_artifact"]

_LABEL: Final = "notebookvalidationjob"
_CONTAINER: Final = "validator"
# Both frames of a run: 4 MiB for the artefact, and well under 1 MiB for the result after it.
_MAX_LOG_BYTES: Final = 6 << 20
_LOG_LINES: Final = _MAX_LOG_BYTES // LINE_CHARACTERS


def fetch_artifact(job: str, namespace: str, kubeconfig: Path | None, context: str | None) -> dict[str, Any]:
    """The executed notebook and the report."""
    transport, own = connect(kubeconfig, context)
    namespace = namespace or own
    with asyncio.Runner() as runner:
        try:
            log = runner.run(_log(transport, job, namespace))
        finally:
            runner.run(transport.close())
    try:
        artifact: dict[str, Any] = json.loads(decode(log, ARTIFACT))
    except FrameError as error:
        raise InputError(f"job {job} in namespace {namespace}: {error}") from None
    return artifact


async def _log(transport: HttpTransport, job: str, namespace: str) -> str:
    from mooring.client.transport import Scope, plain
    from mooring.kube.status import ApiError
    from mooring.runway.sources.refusal import refusal

    pods: list[Any] = []
    try:
        async for page in transport.list("v1", "Pod", Scope(namespace=namespace, labels=f"{_LABEL}={job}")):
            pods += map(plain, page.items)
        if not pods:
            raise InputError(f"job {job} in namespace {namespace} has no pod, or none any more; its report is gone too")
        newest = max(pods, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))
        query = {"container": _CONTAINER, "tailLines": str(_LOG_LINES), "limitBytes": str(_MAX_LOG_BYTES)}
        return await transport.log(namespace, newest["metadata"]["name"], query)
    except ApiError as error:
        raise refusal(transport.server, f"read the pods of job {job}", error) from None
