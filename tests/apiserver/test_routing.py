"""What paths and Accept headers mean."""

from __future__ import annotations

from functools import partial

import pytest

from mooring.apiserver.messages.negotiation import (
    NotAcceptableError,
    Representation,
    negotiate,
    negotiate_discovery,
    negotiate_untabled,
    negotiate_watch,
)
from mooring.apiserver.routing import RequestInfo, parse_path

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", RequestInfo("")),
        ("/api", RequestInfo("api")),
        ("/apis/", RequestInfo("apis")),
        ("/apis/apps", RequestInfo("apis", "apps")),
        ("/apis/apps/v1", RequestInfo("apis", "apps", "v1")),
        ("/api/v1/nodes/n", RequestInfo("api", "", "v1", None, "nodes", "n")),
        ("/api/v1/namespaces", RequestInfo("api", "", "v1", None, "namespaces")),
        ("/api/v1/namespaces/x", RequestInfo("api", "", "v1", None, "namespaces", "x")),
        ("/api/v1/namespaces/x/status", RequestInfo("api", "", "v1", None, "namespaces", "x", "status")),
        ("/api/v1/namespaces/x/finalize/", RequestInfo("api", "", "v1", None, "namespaces", "x", "finalize")),
        ("/api/v1/namespaces/x/pods", RequestInfo("api", "", "v1", "x", "pods")),
        # An empty part is a part.
        ("//api/v1/namespaces/x/pods/p", RequestInfo("unknown")),
        ("/api/v1//namespaces/x/pods/p", RequestInfo("unknown")),
        ("/api//v1", RequestInfo("unknown")),
        ("/api/v1/namespaces//pods", RequestInfo("api", "", "v1", "", "pods")),
        ("/api/v1/namespaces/x/pods/", RequestInfo("api", "", "v1", "x", "pods")),
        ("/api/v1/namespaces/x/pods/p/log", RequestInfo("api", "", "v1", "x", "pods", "p", "log")),
        (
            "/api/v1/namespaces/x/pods/p/proxy/a/b",
            RequestInfo("api", "", "v1", "x", "pods", "p", "proxy", ("a", "b")),
        ),
        ("/apis/g/v1/namespaces/x/widgets/w/scale", RequestInfo("apis", "g", "v1", "x", "widgets", "w", "scale")),
        ("/openapi/v3/apis/apps/v1", RequestInfo("openapi", rest=("v3", "apis", "apps", "v1"))),
        ("/healthz/ping", RequestInfo("healthz", rest=("ping",))),
        ("/favicon.ico", RequestInfo("unknown")),
    ],
)
def test_a_path_names_one_thing(path: str, target: RequestInfo) -> None:
    assert parse_path(path) == target


@pytest.mark.parametrize(
    ("accept", "representation"),
    [
        ("", Representation()),
        ("*/*", Representation()),
        ("application/json", Representation()),
        ("application/json;stream=watch", Representation()),
        (f"{PROTOBUF},application/json", Representation()),
        (KUBECTL, Representation("Table", "v1")),
        (f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", Representation()),
        ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Representation("PartialObjectMetadata", "v1")),
        (f"application/json;as=Table;v=v9;g=meta.k8s.io, {TABLE}", Representation("Table", "v1")),
        (f"application/json;q=0.5,{TABLE};q=0.9", Representation("Table", "v1")),
        (f"{TABLE};q=0.1,application/json", Representation()),
        ('application/json;as="Table";v=v1;g=meta.k8s.io', Representation("Table", "v1")),
        (PROTOBUF, Representation(encoding="protobuf")),
        (f"{PROTOBUF},application/yaml;q=0.5", Representation(encoding="protobuf")),
        ("application/yaml", Representation(encoding="yaml")),
    ],
)
def test_the_first_form_that_can_be_served_is_taken(accept: str, representation: Representation) -> None:
    assert negotiate(accept) == representation


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "application/json;as=Poem"])
def test_who_wants_none_of_the_forms_is_told_so(accept: str) -> None:
    with pytest.raises(NotAcceptableError):
        negotiate(accept)


def test_some_answers_lack_some_forms() -> None:
    for negotiated, accept in (
        (negotiate_untabled, TABLE),
        (negotiate_watch, "application/yaml"),
        (partial(negotiate, custom=True), PROTOBUF),
        (negotiate, f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io"),
    ):
        with pytest.raises(NotAcceptableError):
            negotiated(accept)


def test_discovery_has_forms_of_its_own() -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert negotiate_discovery(f"{PROTOBUF};as=x,{aggregated},application/json") == Representation(
        "APIGroupDiscoveryList", "v2"
    )
    assert negotiate_discovery("application/json") == Representation()
    with pytest.raises(NotAcceptableError):
        negotiate_discovery(PROTOBUF)
