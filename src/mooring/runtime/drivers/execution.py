"""Executes a task's requests and classifies the answers, the same way for synchronous and asynchronous drivers.

A conflict or a missing object means that the view was old: the key runs again on a newer one. An object that exists
already is ours if our owner made it. A lost answer makes the object it was about suspect, so that it is looked at live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from mooring.api.kinds import Key, Kind
from mooring.client.transport import AsyncTransport, Request, Transport, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError, ConflictError, InvalidError, NotFoundError
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.minted import Mint, fill, random_bytes
from mooring.runtime.rights import missing_right

Kinds = Mapping[tuple[str, str], Kind[Any]]
Stages = Sequence[Sequence[Request]]
# What a transport raises: a refusal, a lost answer, or a server that is not there.
_TROUBLE = (ApiError, UnknownOutcome, Unreachable)

# How long to wait before a pod is evicted again that its disruption budgets protect, as kubectl drain does.
EVICTION_RETRY_SECONDS = 5


def execute(stages: Stages, transport: Transport, kinds: Kinds, mint: Mint = random_bytes) -> Outcome:
    """Write stage after stage; a failure lets the rest of its stage run and stops the later ones."""
    outcome = Outcome()
    for stage in stages:
        for request in stage:
            kind = kinds[request.api_version, request.kind]
            try:
                _record(outcome, kind, request, transport.write(fill(_chained(outcome, kind, request), mint)))
            except AlreadyExistsError as error:
                try:
                    found = transport.get(*request[1:5], metadata_only=True)
                except _TROUBLE:
                    found = {}
                _exists(outcome, kind, request, found, error)
            except _TROUBLE as error:
                _classify(outcome, kind, request, error)
        if outcome.stopped:
            break
    return outcome


async def execute_async(stages: Stages, transport: AsyncTransport, kinds: Kinds, mint: Mint = random_bytes) -> Outcome:
    """The same, with the writes of one stage under way together."""
    outcome = Outcome()
    for stage in stages:
        if len(stage) == 1:
            await _write(outcome, stage[0], transport, kinds, mint)
        else:
            await asyncio.gather(*(_write(outcome, request, transport, kinds, mint) for request in stage))
        if outcome.stopped:
            break
    return outcome


async def _write(outcome: Outcome, request: Request, transport: AsyncTransport, kinds: Kinds, mint: Mint) -> None:
    kind = kinds[request.api_version, request.kind]
    try:
        _record(outcome, kind, request, await transport.write(fill(_chained(outcome, kind, request), mint)))
    except AlreadyExistsError as error:
        try:
            found = await transport.get(*request[1:5], metadata_only=True)
        except _TROUBLE:
            found = {}
        _exists(outcome, kind, request, found, error)
    except _TROUBLE as error:
        _classify(outcome, kind, request, error)


def _chained(outcome: Outcome, kind: Kind[Any], request: Request) -> Request:
    """A write to an object that an earlier stage has written builds on what that write left, and on nothing newer."""
    if request.resource_version is None or not outcome.versions:
        return request
    left = outcome.versions.get((kind, Key(request.namespace, request.name)))
    return request if left is None else request._replace(resource_version=str(left))


def _record(outcome: Outcome, kind: Kind[Any], request: Request, result: Object) -> None:
    meta = result["metadata"]
    key = Key(request.namespace, request.name)
    if request.verb == "evict":
        outcome.gone.add((kind, key, meta["uid"]))
        return
    if request.verb == "delete":
        outcome.gone.add((kind, key, meta["uid"]))
        if not meta.get("deletionTimestamp"):
            return
    outcome.versions[kind, key] = int(meta["resourceVersion"])
    if labels := meta.get("labels"):
        outcome.labels[kind, key] = labels


def _exists(outcome: Outcome, kind: Kind[Any], request: Request, found: Object, error: AlreadyExistsError) -> None:
    """The object exists already; `found` is empty if it cannot be read."""
    if not found:
        outcome.failed = str(error)
    elif _owner(found) is not None and _owner(found) == _owner(request.body):
        outcome.versions[kind, Key(request.namespace, request.name)] = int(found["metadata"]["resourceVersion"])
    else:
        outcome.failed = f"{error}, and somebody else owns it"


def _owner(obj: Object) -> str | None:
    for reference in obj["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            uid: str = reference["uid"]
            return uid
    return None


def _classify(outcome: Outcome, kind: Kind[Any], request: Request, error: MooringError) -> None:
    suspect = (kind, Key(request.namespace, request.name))
    match error:
        case NotFoundError() if request.verb in ("delete", "evict"):
            return
        case ConflictError() | NotFoundError():
            outcome.failed, outcome.stale = str(error), True
        case InvalidError() if _is_another(error):
            outcome.failed, outcome.stale = str(error), True
        case UnknownOutcome():
            outcome.failed = str(error)
            outcome.suspect.add(suspect)
        case Unreachable():
            outcome.failed = str(error)
        case ApiError(code=429) if request.verb == "evict":
            outcome.postponed = f"{request.kind} {suspect[1]} is not evicted yet: {error}"
            outcome.retry_after = timedelta(seconds=error.retry_after or EVICTION_RETRY_SECONDS)
        case ApiError(code=429):
            outcome.failed = str(error)
            outcome.retry_after = timedelta(seconds=error.retry_after or 1)
        case ApiError(code=code) if code >= 500:
            outcome.failed = str(error)
            outcome.suspect.add(suspect)
        case ApiError(code=401):
            # Credentials are renewed, the object is not at fault.
            outcome.failed = str(error)
        case ApiError():
            outcome.terminal, outcome.missing_right = str(error), missing_right(request, error)


def _is_another(error: InvalidError) -> bool:
    """Whether an object was refused because there is another one of its name by now."""
    return any(cause.get("field") == "metadata.uid" for cause in error.details.get("causes", ()))
