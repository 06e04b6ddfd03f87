"""Whoever asks acts with its own rights: a reader writes nothing, a stranger gets nothing, and what ends, ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from mooring.apiserver.authentication.token_file import add_token, remove_token
from mooring.runway.rest import callers
from mooring.runway.rest.route import Route
from mooring.runway.rest.route_table import ROUTES
from tests.runway.rest.serving import READER, SESSION, Rest, eventually
from tests.runway.rest.test_routes import CONFIG

WRITING = [route for route in ROUTES if route.writes]
# What a writing route needs to get as far as the API server.
BODIES: dict[str, Any] = {
    "/api/deployments": CONFIG,
    "/api/settings": {"defaultNamespace": "models"},
    "/api/apply": {
        "writes": [
            {
                "verb": "patch",
                "apiVersion": "kaito.sh/v1beta1",
                "kind": "Workspace",
                "namespace": "default",
                "name": "phi",
                "body": [{"op": "remove", "path": "/spec/resource"}],
            }
        ]
    },
    "/api/installation/providers/{id}/rollback": {"revision": 1},
    "/api/installation/gpu-operator/rollback": {"revision": 1},
}
INSTALLATION = "/apis/runway.mooring.dev/v1alpha1/installations"
INSTALLED = {"kaito": "/api/installation/providers/kaito", "gpu-operator": "/api/installation/gpu-operator"}
WORKSPACES = "/apis/kaito.sh/v1beta1/namespaces/default/workspaces"


@pytest.fixture(scope="module")
def furnished(either: Rest) -> Iterator[Rest]:
    """With an object of each kind that is written to, so that nothing is refused because it is not there."""
    with either.home.api() as api:
        manifest = either.admin.post("/api/deployments/preview", CONFIG)["resources"][0]["manifest"]
        assert api.post(WORKSPACES, manifest).code in (201, 409)
        for name, path in INSTALLED.items():
            either.admin.ask("POST", f"{path}/install")
            assert api.get(f"{INSTALLATION}/{name}").code == 200
        yield either
        assert api.delete(f"{WORKSPACES}/phi").code == 200
        for name in INSTALLED:
            assert api.delete(f"{INSTALLATION}/{name}").code == 200


def test_writing_routes_are_declared_as_such() -> None:
    assert {route.method for route in ROUTES if not route.writes} <= {"GET", "POST"}
    reading = {route.path for route in ROUTES if route.method == "POST" and not route.writes}
    assert reading == {"/api/explain", "/api/plan", "/api/deployments/preview", "/api/deployments/fit"}


@pytest.mark.parametrize("route", WRITING, ids=lambda route: f"{route.method} {route.path}")
def test_a_reader_may_not_write(furnished: Rest, route: Route) -> None:
    name = "kaito" if "installation" in route.path else "phi"
    named = {"{id}": "kaito", "{name}": name, "{namespace}": "default", "{kind}": "Workspace"}
    path = route.path
    for part, value in named.items():
        path = path.replace(part, value)
    query = "?force=true" if path.endswith("/install") else ""
    if path.endswith("/install"):
        # What is installed already is not written again.
        with furnished.home.api() as api:
            for each in INSTALLED:
                api.delete(f"{INSTALLATION}/{each}")
                api.patch(f"{INSTALLATION}/{each}", "merge", {"metadata": {"finalizers": None}})
    before = _state(furnished)
    status, answer = furnished.reader.ask(route.method, path + query, BODIES.get(route.path))
    assert status == 403, (path, answer)
    assert READER in answer["error"]["message"]
    assert _state(furnished) == before
    if path.endswith("/install"):
        for each in INSTALLED.values():
            furnished.admin.ask("POST", f"{each}/install")


def _state(rest: Rest) -> list[Any]:
    with rest.home.api() as api:
        paths = (WORKSPACES, INSTALLATION, "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system/configmaps")
        return [_spec(api.get(path).body) for path in paths]


def _spec(body: Any) -> Any:
    items = body.get("items", [body])
    return [(each["metadata"]["name"], each["metadata"]["resourceVersion"]) for each in items]


def test_a_reader_reads(furnished: Rest) -> None:
    for path in ("/api/nodes", "/api/workloads", "/api/deployments", "/api/installation", "/api/capacity"):
        assert isinstance(furnished.reader.get(path), dict)


@pytest.mark.parametrize(
    "route", [each for each in ROUTES if not each.public], ids=lambda route: f"{route.method} {route.path}"
)
def test_without_a_token_nothing_is_answered(furnished: Rest, route: Route) -> None:
    path = route.path.replace("{id:path}", "x").replace("{", "").replace("}", "")
    status, answer = furnished.client("").ask(route.method, path)
    assert (status, answer["error"]["statusCode"]) == (401, 401)


def test_somebody_without_rights_is_told_in_the_words_of_the_server(furnished: Rest) -> None:
    for path in ("/api/nodes", "/api/workloads", "/api/events", "/api/stream?topics=nodes", "/api/installation"):
        status, answer = furnished.nobody.ask("GET", path)
        assert status == 403, path
        assert 'User "nobody" cannot list resource' in answer["error"]["message"]


def test_a_token_that_the_server_does_not_know_is_refused(furnished: Rest) -> None:
    status, answer = furnished.client("nonsense").ask("GET", "/api/nodes")
    assert (status, answer["error"]["statusCode"]) == (401, 401)
    assert furnished.client(SESSION).ask("GET", "/api/nodes")[0] == 200


def test_a_right_that_is_taken_away_ends_streams_and_answers(furnished: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "CHECK_SECONDS", 0.2)
    binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    reader = furnished.reader
    assert reader.ask("GET", "/api/nodes")[0] == 200
    with furnished.home.api() as api:
        found = api.get(f"{binding}/reading").body
        with reader.stream("nodes") as events:
            events.next()
            assert api.delete(f"{binding}/reading").code == 200
            try:
                eventually(lambda: reader.ask("GET", "/api/nodes")[0] == 403, "what may not be read is not told")
                with pytest.raises(EOFError):
                    events.until(lambda topic, data: False)
            finally:
                body = {key: value for key, value in found.items() if key in ("metadata", "roleRef", "subjects")}
                body["metadata"] = {"name": "reading"}
                assert api.post(binding, body).code == 201
        eventually(lambda: reader.ask("GET", "/api/nodes")[0] == 200, "what may be read again is told again")


def test_a_token_that_has_ended_ends_streams_and_answers(embedded: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "CHECK_SECONDS", 0.2)
    tokens = embedded.home.folder / "tokens"
    guest = embedded.client(add_token(tokens, "guest", ["system:masters"]))
    eventually(lambda: guest.ask("GET", "/api/nodes")[0] == 200, "the token is known")
    with guest.stream("nodes") as events:
        events.next()
        remove_token(tokens, "guest")
        eventually(lambda: guest.ask("GET", "/api/nodes")[0] == 401, "the token is not accepted any more")
        with pytest.raises(EOFError):
            events.until(lambda topic, data: False)


def test_no_answer_shows_a_token(furnished: Rest) -> None:
    text = msgspec.json.encode(furnished.admin.ask("GET", "/api/session")).decode()
    assert furnished.home.token not in text
