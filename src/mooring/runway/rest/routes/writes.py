"""The writes that a proposal consists of, made one after another for whoever asks."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.kube.errors import MooringError
from mooring.placement.writes import Write
from mooring.runway.operations.writes import make_write, written_name
from mooring.runway.possible_writes import refusal_of
from mooring.runway.rest.errors import ErrorDetail, RestError, error_shown
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown

__all__ = ["WRITE_ROUTES"]


class WritesAsked(msgspec.Struct, frozen=True):
    """Writes as a proposal has them, in its order."""

    writes: tuple[Write, ...]


class WritesMade(Shown, frozen=True):
    """What was done, one sentence for each write. The writes of `undo` bring back the values of before, and
    change nothing where somebody else has changed them since. What happened to pods is not undone.
    """

    message: str
    done: tuple[str, ...]
    undo: tuple[Write, ...]


async def _apply(call: RestCall) -> WritesMade:
    """All are looked at before the first is made; the first that fails is the last."""
    asked: WritesAsked = call.body
    if not asked.writes:
        raise _refused("writes", "must hold at least one write")
    for number, write in enumerate(asked.writes):
        if problem := refusal_of(write):
            raise _refused(f"writes[{number}]", problem)
    done: list[str] = []
    undo: list[Write] = []
    for number, write in enumerate(asked.writes):
        try:
            made = await make_write(call.caller.transport, write)
        except MooringError as error:
            why = error_shown(error).error
            before = f"; before it: {', '.join(done)}" if done else ""
            message = f"{write.verb} of {written_name(write)} failed: {why.message}{before}"
            details = [ErrorDetail(f"writes[{number}]", why.message), *(why.details or ())]
            raise RestError(why.status_code, message, details) from error
        done.append(made.text)
        if made.undo is not None:
            undo.insert(0, made.undo)
    return WritesMade(", ".join(done), tuple(done), tuple(undo))


def _refused(field: str, problem: str) -> RestError:
    return RestError(422, f"{field}: {problem}", [ErrorDetail(field, problem)])


WRITE_ROUTES: Final = (
    Route(
        "POST",
        "/api/apply",
        "Make the writes of a proposal, in order; the first that fails ends it.",
        _apply,
        WritesMade,
        body=WritesAsked,
        writes=True,
    ),
)
