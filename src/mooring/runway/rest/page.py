"""What a browser gets at `/` of a server without the web page: what is served, and where it is described."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mooring.runway.rest.responses import HEADERS
from mooring.runway.rest.route import Route

__all__ = ["page"]


def page(routes: Sequence[Route]) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    rows = "".join(
        f"<tr><td>{route.method}</td><td><code>{escape(route.path)}</code></td><td>{escape(route.summary)}</td></tr>"
        for route in routes
    )
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mooring</title>'
        "<h1>Mooring</h1><p>This server has an API for people and pages. Send a token of the API server with every "
        'request: <code>Authorization: Bearer TOKEN</code>. <a href="/api/openapi.json">/api/openapi.json</a> '
        f"describes it for programs.</p><table>{rows}</table></html>"
    )
    headers = {**HEADERS, "Content-Security-Policy": "default-src 'none'"}

    async def show(request: Request) -> Response:
        return HTMLResponse(text, headers=headers)

    return show
