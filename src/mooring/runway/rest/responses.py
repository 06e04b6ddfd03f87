"""Answers as JSON, errors included, with the headers that every answer has."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.responses import Response

from mooring.runway.rest.errors import error_shown

__all__ = ["HEADERS", "error_response", "json_response"]

HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_JSON: Final = "application/json"
_encode = msgspec.json.Encoder().encode


def json_response(value: Any, status: int = 200) -> Response:
    return Response(_encode(value), status, HEADERS, _JSON)


def error_response(error: BaseException) -> Response:
    shown = error_shown(error)
    status = shown.error.status_code
    headers = {**HEADERS, "WWW-Authenticate": "Bearer"} if status == 401 else HEADERS
    return Response(_encode(shown), status, headers, _JSON)
