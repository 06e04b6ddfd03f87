"""The web page: files that `scripts/page.sh` builds from `ui/`, served from memory.

Every path that is neither a file nor part of the API is an address within the page, so that links into it work. Where
the page was not built, a browser is told how it is, and what the API has.
"""

from __future__ import annotations

import gzip
import mimetypes
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mooring.runway.rest.errors import RestError
from mooring.runway.rest.responses import HEADERS
from mooring.runway.rest.route import Route

__all__ = ["PAGE_FOLDER", "page"]

PAGE_FOLDER: Final = Path(__file__).parent.parent / "page"
_INDEX: Final = "index.html"
# Their names hold a hash of what is in them.
_UNCHANGING: Final = "assets/"
_FOREVER: Final = "public, max-age=31536000, immutable"
# Nothing of another host is ever loaded, and nothing that is written into the page runs.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class _File(NamedTuple):
    body: bytes
    packed: bytes
    media_type: str


def page(routes: Sequence[Route], folder: Path = PAGE_FOLDER) -> Endpoint:
    """What answers to everything outside the API."""

    async def show(request: Request) -> Response:
        path = request.url.path.lstrip("/")
        if path == "api" or path.startswith("api/"):
            raise RestError(404, f"Route not found: {request.method} {request.url.path}")
        if request.method not in ("GET", "HEAD"):
            raise RestError(405, f"Method not allowed: {request.method} {request.url.path}")
        files = _files(folder)
        if not files:
            return HTMLResponse(_how_to_build(routes), headers={**HEADERS, "Content-Security-Policy": _POLICY})
        if path.startswith(_UNCHANGING) and path not in files:
            raise RestError(404, f"there is no file {path}; reload the page")
        return _response(path if path in files else _INDEX, files, request)

    return show


@cache
def _files(folder: Path) -> dict[str, _File]:
    if not (folder / _INDEX).is_file():
        return {}
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            body = path.read_bytes()
            media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            found[path.relative_to(folder).as_posix()] = _File(body, gzip.compress(body, mtime=0), media_type)
    return found


def _response(name: str, files: dict[str, _File], request: Request) -> Response:
    file = files[name]
    headers = {**HEADERS, "Content-Security-Policy": _POLICY, "Vary": "Accept-Encoding"}
    headers["Cache-Control"] = _FOREVER if name.startswith(_UNCHANGING) else "no-cache"
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=file.media_type)
    return Response(file.body, headers=headers, media_type=file.media_type)


def _how_to_build(routes: Sequence[Route]) -> str:
    rows = "".join(
        f"<tr><td>{route.method}</td><td><code>{escape(route.path)}</code></td><td>{escape(route.summary)}</td></tr>"
        for route in routes
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mooring</title>'
        "<h1>The web page is not built</h1><p>Everything else works. In a checkout, <code>sh scripts/page.sh</code> "
        "builds it, with Node or with what Python can fetch; packages of Mooring have it inside.</p>"
        "<p>The API for people and pages is there. Send a token of the API server with every request: "
        '<code>Authorization: Bearer TOKEN</code>. <a href="/api/openapi.json">/api/openapi.json</a> describes it for '
        f"programs.</p><table>{rows}</table></html>"
    )
