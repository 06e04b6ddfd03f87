"""Carries a task's requests out and sorts what comes back.

A conflict or a missing object means that the view was old: the key runs again on a newer one. An object that exists
already is ours if our owner made it. A lost answer makes the kinds it touched suspect, so that they are listed live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from mooring.client.transport import Object, Request, Transport, UnknownOutcome
from mooring.kube.status import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from mooring.runtime.kinds import Key, Kind
from mooring.runtime.outcome import Outcome


def carry_out(
    stages: Sequence[Sequence[Request]], transport: Transport, kinds: Mapping[tuple[str, str], Kind[Any]]
) -> Outcome:
    """Write stage after stage; a failure lets the rest of its stage run and stops the later ones."""
    outcome = Outcome()
    for stage in stages:
        for request in stage:
            kind = kinds[request.api_version, request.kind]
            try:
                _note(outcome, kind, request, transport.write(request))
            except AlreadyExistsError as error:
                _exists(outcome, kind, request, transport, error)
            except (ConflictError, NotFoundError) as error:
                if not (request.verb == "delete" and isinstance(error, NotFoundError)):
                    outcome.failed, outcome.stale = str(error), True
            except UnknownOutcome as error:
                outcome.failed = str(error)
                outcome.suspect.add(kind)
            except ApiError as error:
                _refused(outcome, kind, error)
        if outcome.failed or outcome.terminal:
            break
    return outcome


def _note(outcome: Outcome, kind: Kind[Any], request: Request, result: Object) -> None:
    meta = result["metadata"]
    key = Key(request.namespace, request.name)
    if request.verb == "delete" and not meta.get("deletionTimestamp"):
        outcome.gone.add((kind, key, meta["uid"]))
        return
    if request.verb == "delete":
        outcome.gone.add((kind, key, meta["uid"]))
    outcome.versions[kind, key] = int(meta["resourceVersion"])


def _exists(
    outcome: Outcome, kind: Kind[Any], request: Request, transport: Transport, error: AlreadyExistsError
) -> None:
    try:
        found = transport.get(request.api_version, request.kind, request.namespace, request.name)
    except ApiError:
        outcome.failed = str(error)
        return
    if _owner(found) is not None and _owner(found) == _owner(request.body):
        outcome.versions[kind, Key(request.namespace, request.name)] = int(found["metadata"]["resourceVersion"])
    else:
        outcome.failed = f"{error}, and somebody else owns it"


def _owner(obj: Object) -> str | None:
    for reference in obj["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            uid: str = reference["uid"]
            return uid
    return None


def _refused(outcome: Outcome, kind: Kind[Any], error: ApiError) -> None:
    if error.code == 429:
        outcome.failed = str(error)
        outcome.retry_after = timedelta(seconds=error.retry_after or 1)
    elif error.code >= 500:
        outcome.failed = str(error)
        outcome.suspect.add(kind)
    else:
        outcome.terminal = str(error)
