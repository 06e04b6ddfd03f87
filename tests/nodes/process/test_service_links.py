"""The variables of Services: names and values as a kubelet makes them, the API where this machine reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mooring.client.transport import Page, Scope, Unreachable
from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.service_links import ApiAddress, ServiceLister, service_variables

API = ApiAddress.of("https://127.0.0.1:7443")


def service(name: str, address: str = "10.0.0.5", *ports: Object) -> Object:
    return {"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": list(ports) or [{"port": 80}]}}


def variables(*services: Object, api: ApiAddress = API, **spec: Any) -> dict[str, str]:
    return service_variables({"spec": spec}, services, api)


def test_the_api_is_where_this_machine_reaches_it() -> None:
    assert variables(service("kubernetes", "10.96.0.1")) == {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": "7443",
        "KUBERNETES_SERVICE_PORT_HTTPS": "7443",
        "KUBERNETES_PORT": "tcp://127.0.0.1:7443",
        "KUBERNETES_PORT_7443_TCP": "tcp://127.0.0.1:7443",
        "KUBERNETES_PORT_7443_TCP_PROTO": "tcp",
        "KUBERNETES_PORT_7443_TCP_PORT": "7443",
        "KUBERNETES_PORT_7443_TCP_ADDR": "127.0.0.1",
    }


def test_an_address_of_the_sixth_version_stands_in_brackets_in_a_url_only() -> None:
    found = variables(api=ApiAddress.of("https://[::1]:7443"))
    assert found["KUBERNETES_SERVICE_HOST"] == "::1"
    assert found["KUBERNETES_PORT"] == "tcp://[::1]:7443"


def test_services_of_the_namespace_are_there_by_all_their_ports() -> None:
    ports = ({"name": "http", "port": 80, "protocol": "TCP"}, {"name": "dns-udp", "port": 53, "protocol": "UDP"})
    found = variables(service("my-web", "10.0.0.5", *ports))
    mine = {name: value for name, value in found.items() if name.startswith("MY_WEB")}
    assert mine["MY_WEB_SERVICE_HOST"] == "10.0.0.5"
    assert mine["MY_WEB_SERVICE_PORT"] == mine["MY_WEB_SERVICE_PORT_HTTP"] == "80"
    assert mine["MY_WEB_SERVICE_PORT_DNS_UDP"] == "53"
    assert mine["MY_WEB_PORT"] == "tcp://10.0.0.5:80"
    assert mine["MY_WEB_PORT_53_UDP"] == "udp://10.0.0.5:53"


def test_headless_services_and_unwanted_links_are_left_out() -> None:
    assert not any(name.startswith("DB") for name in variables(service("db", "None")))
    found = variables(service("web"), enableServiceLinks=False)
    assert "WEB_SERVICE_HOST" not in found
    assert "KUBERNETES_SERVICE_HOST" in found


def test_while_services_cannot_be_read_those_of_last_time_count() -> None:
    class Transport:
        away = False

        async def list(self, api_version: str, kind: str, scope: Scope) -> AsyncIterator[Page]:
            if self.away:
                raise Unreachable("away")
            yield Page([service("web")], "1")

    transport = Transport()
    lister = ServiceLister(transport)  # type: ignore[arg-type]
    assert asyncio.run(lister.in_namespace("default")) == [service("web")]
    transport.away = True
    assert asyncio.run(lister.in_namespace("default")) == [service("web")]
    with pytest.raises(Unreachable):
        asyncio.run(lister.in_namespace("other"))
