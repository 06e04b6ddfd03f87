"""Ingresses: the names under which they may stand."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from tests.registry.world import World, refused

_BACKEND = {"service": {"name": "web", "port": {"number": 80}}}


def ingress(host: str, *certified: str) -> Object:
    rule = {"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": _BACKEND}]}}
    return {"metadata": {"name": "web"}, "spec": {"rules": [rule], "tls": [{"hosts": list(certified)}]}}


def test_a_host_is_a_name_or_all_names_of_a_domain(world: World) -> None:
    made = world.make("ingress", ingress("*.example.com", "www.example.com", "*.example.com"))
    assert made["spec"]["rules"][0]["host"] == "*.example.com"


@pytest.mark.parametrize(
    ("obj", "words"),
    [
        pytest.param(
            ingress("Web.example.com"),
            'spec.rules[0].host: Invalid value: "Web.example.com": a lowercase RFC 1123 subdomain must consist of',
            id="no capital letters",
        ),
        pytest.param(
            ingress("example.com:8080"),
            'spec.rules[0].host: Invalid value: "example.com:8080": a lowercase RFC 1123 subdomain must consist of',
            id="no port",
        ),
        pytest.param(
            ingress("www.*.com"),
            'spec.rules[0].host: Invalid value: "www.*.com": a wildcard DNS-1123 subdomain must start with',
            id="the star comes first",
        ),
        pytest.param(
            ingress("example.com", "example.com", "*"),
            'spec.tls[0].hosts[1]: Invalid value: "*": a wildcard DNS-1123 subdomain must start with',
            id="a certificate is not for everything",
        ),
    ],
)
def test_a_host_that_nobody_could_ask_for_is_refused(world: World, obj: Object, words: str) -> None:
    with refused(422, words):
        world.make("ingress", obj)
