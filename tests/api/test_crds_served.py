"""A custom resource of two versions, made from its types, on both API servers: rules, defaults, scale, conversion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mooring.api.crds.conversion import conversion_data
from mooring.api.crds.resource import definition
from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Conversion
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from mooring.testing.http import Api
from tests.api.sample import MODEL_CACHES
from tests.runtime.serving import DEFINITIONS, eventually, serving

V1 = "/apis/example.com/v1/namespaces/default/modelcaches"
OLD = "/apis/example.com/v1alpha1/namespaces/default/modelcaches"


def cache(name: str, version: str = "v1", **spec: Any) -> Object:
    return {"apiVersion": f"example.com/{version}", "kind": "ModelCache", "metadata": {"name": name}, "spec": spec}


SOURCE = {"repository": "registry.example.com/llama", "tag": "3"}
IMAGE = "registry.example.com/llama:3"


@pytest.fixture
def defined(api_server: Home) -> Iterator[Api]:
    with api_server.api() as api:
        assert api.post(DEFINITIONS, definition(MODEL_CACHES)).code == 201
        try:
            eventually(lambda: api.get(V1).code == 200)
            yield api
        finally:
            api.delete(f"{DEFINITIONS}/{MODEL_CACHES.name}")
            eventually(lambda: api.get(f"{DEFINITIONS}/{MODEL_CACHES.name}").code == 404)


@pytest.fixture
def served(api_server: Home, defined: Api, tmp_path: Path) -> Iterator[Api]:
    with serving(api_server, tmp_path / "tls", conversions=(Conversion.of(MODEL_CACHES),)) as url:
        eventually(lambda: _client(defined).get("url") == f"{url}/convert")
        eventually(lambda: defined.post(OLD, cache("probe", "v1alpha1", image=IMAGE), dryRun="All").code == 201)
        yield defined


def _client(api: Api) -> Object:
    found = api.get(f"{DEFINITIONS}/{MODEL_CACHES.name}").body
    client: Object = found["spec"]["conversion"]["webhook"]["clientConfig"]
    return client


def test_rules_and_defaults_are_those_of_the_types(defined: Api, api_server: Home) -> None:
    made = defined.post(V1, cache("plain", source=SOURCE))
    assert made.code == 201, made.body
    assert made.body["spec"] == {"source": SOURCE, "replicas": 1, "eviction": "Never"}
    for spec, path in (
        ({"source": {}}, "spec.source.repository"),
        ({"source": {"repository": "NO"}}, "spec.source.repository"),
        ({"source": SOURCE, "replicas": -1}, "spec.replicas"),
        ({"source": SOURCE, "replicas": 5001}, "spec.replicas"),
        ({"source": SOURCE, "eviction": "Sometimes"}, "spec.eviction"),
        ({"source": SOURCE, "storage": "much"}, "spec.storage"),
        ({"source": SOURCE, "pullSecrets": ["a", "a"]}, "spec.pullSecrets[1]"),
        ({"source": SOURCE, "nodes": {"matchExpressions": [{"key": "a"}]}}, "spec.nodes.matchExpressions[0].operator"),
    ):
        refused = defined.post(V1, cache("refused", **spec))
        assert refused.code == 422, spec
        assert path in [cause["field"] for cause in refused.body["details"]["causes"]], refused.body
    crowd = defined.post(V1, cache("crowd", source=SOURCE, replicas=100))
    assert crowd.code == 422
    assert "a hundred copies need storage of their own" in crowd.body["message"]


def test_it_scales_and_has_a_status_of_its_own(defined: Api) -> None:
    assert defined.post(V1, {**cache("wide", source=SOURCE), "status": {"replicas": 7}}).body.get("status") is None
    assert defined.patch(f"{V1}/wide/scale", "merge", {"spec": {"replicas": 4}}).code == 200
    found = defined.patch(f"{V1}/wide/status", "merge", {"status": {"replicas": 3}}).body
    assert (found["spec"]["replicas"], found["status"]) == (4, {"replicas": 3})
    assert defined.get(f"{V1}/wide/scale").body["status"]["replicas"] == 3


def test_before_anybody_converts_nothing_is_stored_in_the_wrong_form(defined: Api) -> None:
    made = defined.post(OLD, cache("early", "v1alpha1", image=IMAGE))
    assert made.code == 500
    assert defined.get(f"{V1}/early").code == 404


def test_conversion_is_registered_with_its_address_and_authority(served: Api) -> None:
    client = _client(served)
    assert client["caBundle"]
    assert client["url"].startswith("https://127.0.0.1:")
    assert set(client) == {"caBundle", "url"}


def test_objects_are_read_and_written_in_both_versions(served: Api) -> None:
    made = served.post(OLD, cache("a", "v1alpha1", image=IMAGE, copies=2))
    assert (made.code, made.warnings) == (201, ["example.com/v1alpha1 ModelCache is deprecated; write example.com/v1"])
    found = served.get(f"{V1}/a").body
    assert found["spec"] == {"source": SOURCE, "replicas": 2, "eviction": "Never"}
    assert served.patch(f"{V1}/a", "merge", {"spec": {"storage": "5Gi"}}).code == 200
    # Whoever knows the old version alone changes what it can say, and the rest stays.
    assert served.get(f"{OLD}/a").body["spec"] == {"image": IMAGE, "copies": 2}
    assert conversion_data("example.com") in served.get(f"{OLD}/a").body["metadata"]["annotations"]
    assert served.patch(f"{OLD}/a", "merge", {"spec": {"copies": 3}}).code == 200
    whole = served.get(f"{V1}/a").body
    assert whole["spec"] == {"source": SOURCE, "replicas": 3, "eviction": "Never", "storage": "5Gi"}
    assert conversion_data("example.com") not in whole["metadata"].get("annotations", {})


def test_applying_the_definition_again_takes_the_webhook_away_only_by_force(served: Api) -> None:
    path = f"{DEFINITIONS}/{MODEL_CACHES.name}"
    before = _client(served)
    refused = served.patch(path, "apply", definition(MODEL_CACHES), fieldManager="kubectl")
    assert refused.code == 409
    assert 'conflict with "mooring-webhooks"' in refused.body["message"]
    assert _client(served) == before
    forced = served.patch(path, "apply", definition(MODEL_CACHES), fieldManager="kubectl", force="true")
    assert forced.code == 200
    # The authority stays with the one that wrote it; the address is nobody's until the next registration.
    assert _client(served) == {**before, "url": "https://127.0.0.1:9/convert"}


def test_appliers_of_different_versions_share_an_object(served: Api) -> None:
    """The server converts halves of objects while it finds out who owns what."""
    new = cache("shared", source=SOURCE, replicas=2, storage="5Gi")
    assert served.patch(f"{V1}/shared", "apply", new, fieldManager="new").code == 201
    old = cache("shared", "v1alpha1", image="registry.example.com/llama:4", copies=2)
    forced = served.patch(f"{OLD}/shared", "apply", old, fieldManager="old", force="true")
    assert forced.code == 200, forced.body
    assert served.get(f"{V1}/shared").body["spec"]["storage"] == "5Gi"
    # Each takes back some of what it wanted; what the other one wants stays.
    answer = served.patch(f"{V1}/shared", "apply", cache("shared", replicas=2), fieldManager="new", force="true")
    assert answer.code == 200, answer.body
    assert answer.body["spec"] == {
        "source": {"repository": "registry.example.com/llama", "tag": "4"},
        "replicas": 2,
        "eviction": "Never",
    }
    answer = served.patch(
        f"{OLD}/shared", "apply", cache("shared", "v1alpha1", copies=3), fieldManager="old", force="true"
    )
    # Nobody names the image any more.
    assert answer.code == 422, answer.body
    assert answer.body["details"]["causes"][0]["field"] == "spec.image"
