"""The one stream of changes."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from starlette.responses import Response

from mooring.runway.rest.errors import ErrorDetail, RestError
from mooring.runway.rest.mirror.sources import TOPICS
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.stream import EventStream

__all__ = ["STREAM_ROUTES"]


class StreamQuery(msgspec.Struct, frozen=True, rename="camel"):
    """`topics` are separated by commas. `lastEventId` resumes, as the header Last-Event-ID does."""

    topics: str
    last_event_id: str = ""


async def _stream(call: RestCall) -> Response:
    names = frozenset(filter(None, (name.strip() for name in call.query.topics.split(","))))
    unknown = sorted(names - set(TOPICS))
    if unknown or not names:
        problem = f'"{", ".join(unknown)}" is no topic; there are {", ".join(TOPICS)}'
        raise RestError(400, f"topics: {problem}", [ErrorDetail("topics", problem)])
    # What may not be read is refused before the stream begins, with the server's own sentence.
    await asyncio.gather(*(call.caller.topic(name) for name in names))
    return EventStream(call.caller, names, call.headers.get("last-event-id") or call.query.last_event_id)


STREAM_ROUTES: Final = (
    Route("GET", "/api/stream", "Changes of several topics as server-sent events.", _stream, None, query=StreamQuery),
)
