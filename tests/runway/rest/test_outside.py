"""No request leaves for any other host than the API server."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from mooring.runway.rest.route_table import ROUTES
from tests.runway.rest.serving import Rest
from tests.runway.rest.test_upstream_client import DEPLOYMENT

_connected: list[Any] = []
_listening = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _listening and event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen"):
        _connected.append((event, arguments[1] if event == "socket.connect" else arguments[0]))


@pytest.fixture
def connected() -> Any:
    global _listening
    sys.addaudithook(_hook)
    _connected.clear()
    _listening = True
    yield _connected
    _listening = False


def test_everything_is_answered_by_this_machine(embedded: Rest, connected: list[Any]) -> None:
    admin = embedded.admin
    for route in ROUTES:
        if route.method == "GET" and route.response is not None:
            path = route.path.replace("{id:path}", "microsoft/phi-4").replace("{id}", "kaito")
            admin.ask("GET", path.replace("{kind}", "Pod").replace("{namespace}", "default").replace("{name}", "web"))
    for path in ("/api/deployments/preview", "/api/deployments/fit"):
        admin.post(path, DEPLOYMENT)
    hosts = {place[0] if isinstance(place, tuple) else place for event, place in connected if "socket" in event}
    assert hosts <= {"127.0.0.1", "::1", "localhost", b"127.0.0.1"}
    assert hosts, "the hook works"
    assert not [event for event, _ in connected if event == "subprocess.Popen"]
