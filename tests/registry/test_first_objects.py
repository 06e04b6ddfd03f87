"""A cluster begins with the objects that a real API server makes, and keeps those right that tell of itself."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from mooring.kube.objects import Object
from mooring.registry import MemoryStorage, Registry
from tests.registry.first_objects import KINDS, recorded, settled

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RBAC = "rbac.authorization.k8s.io/v1"


def begun(storage: MemoryStorage | None = None, now: datetime = NOW, **options: Any) -> Registry:
    registry = Registry(storage, now=now, seed=1)
    registry.bootstrap(now=now, **{"host": "127.0.0.1", "port": 6443, **options})
    return registry


def found(registry: Registry, api_version: str, kind: str, namespace: str, name: str) -> Object:
    obj = registry.find(api_version, kind, namespace, name)
    assert obj is not None, (kind, namespace, name)
    return obj


def test_the_first_objects_are_those_of_a_real_server() -> None:
    registry = begun(authority="A")
    objects = [settled(each) for kind in KINDS for each in registry.all(*kind)]
    # A new machine reads it before it has any rights; kubeadm makes it elsewhere.
    objects = [each for each in objects if each["metadata"]["name"] != "cluster-info"]
    assert objects == recorded()


def test_a_start_leaves_as_it_is_what_is_as_it_should_be() -> None:
    storage = MemoryStorage()
    options: dict[str, Any] = {"host": "10.1.2.3", "authority": "A", "front_proxy": "F"}
    begun(storage, **options)
    revision, objects = storage.revision, storage.everything()
    begun(storage, NOW + timedelta(days=1), **options)
    assert (storage.revision, storage.everything()) == (revision, objects)


@pytest.mark.parametrize(
    ("host", "shown", "family"),
    [
        ("10.1.2.3", "10.1.2.3", "IPv4"),
        ("fd00::7", "[fd00::7]", "IPv6"),
        ("127.0.0.1", "127.0.0.1", ""),
        ("::1", "[::1]", ""),
        ("0.0.0.0", "127.0.0.1", ""),
        ("::", "[::1]", ""),
    ],
)
def test_it_tells_where_it_is_reached_and_who_vouches_for_it(host: str, shown: str, family: str) -> None:
    registry = begun(host=host, port=7443, authority="A")
    info = found(registry, "v1", "ConfigMap", "kube-public", "cluster-info")
    assert yaml.safe_load(info["data"]["kubeconfig"]) == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "",
                "cluster": {
                    "certificate-authority-data": b64encode(b"A").decode(),
                    "server": f"https://{shown}:7443",
                },
            }
        ],
        "contexts": None,
        "current-context": "",
        "preferences": {},
        "users": None,
    }
    endpoints = registry.all("v1", "Endpoints")
    slices = registry.all("discovery.k8s.io/v1", "EndpointSlice")
    if not family:
        # The API refuses addresses that only this machine can reach.
        assert [*endpoints, *slices] == []
        return
    port = {"name": "https", "port": 7443, "protocol": "TCP"}
    assert [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in (*endpoints, *slices)] == [
        ("default", "kubernetes"),
        ("default", "kubernetes"),
    ]
    assert endpoints[0]["metadata"]["labels"] == {"endpointslice.kubernetes.io/skip-mirror": "true"}
    assert endpoints[0]["subsets"] == [{"addresses": [{"ip": host}], "ports": [port]}]
    assert slices[0]["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
    assert slices[0]["addressType"] == family
    assert slices[0]["endpoints"] == [{"addresses": [host], "conditions": {"ready": True}}]
    assert slices[0]["ports"] == [port]


def test_strangers_may_read_only_where_the_cluster_is() -> None:
    registry = begun(authority="A")
    name = "kubeadm:bootstrap-signer-clusterinfo"
    assert found(registry, RBAC, "Role", "kube-public", name)["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-info"], "verbs": ["get"]}
    ]
    binding = found(registry, RBAC, "RoleBinding", "kube-public", name)
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    assert binding["subjects"] == [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:anonymous"}
    ]


def test_servers_behind_it_are_told_for_whom_it_speaks() -> None:
    registry = begun(authority="A", front_proxy="F")
    assert found(registry, "v1", "ConfigMap", "kube-system", "extension-apiserver-authentication")["data"] == {
        "client-ca-file": "A",
        "requestheader-client-ca-file": "F",
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-uid-headers": '["X-Remote-Uid"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }
    alone = begun()
    assert {each["metadata"]["name"] for each in alone.all("v1", "ConfigMap")} == {
        "kube-apiserver-legacy-service-account-token-tracking"
    }
    assert alone.all(RBAC, "Role") == []


def test_what_others_add_to_what_it_tells_stays_when_it_moves() -> None:
    storage = MemoryStorage()
    first = begun(storage, authority="A", host="10.1.2.3")
    resource, service = first.resource("v1", "ConfigMap"), first.resource("v1", "Service")
    first.patch(resource, "kube-public", "cluster-info", "merge", {"data": {"jws-kubeconfig-x": "signed"}}, now=NOW)
    first.patch(service, "default", "kubernetes", "merge", {"metadata": {"labels": {"provider": "me"}}}, now=NOW)
    again = begun(storage, authority="A", host="10.1.2.4", port=8443)
    data = found(again, "v1", "ConfigMap", "kube-public", "cluster-info")["data"]
    assert data["jws-kubeconfig-x"] == "signed"
    assert "https://10.1.2.4:8443" in data["kubeconfig"]
    assert found(again, "v1", "Endpoints", "default", "kubernetes")["subsets"][0]["addresses"] == [{"ip": "10.1.2.4"}]
    own = found(again, "v1", "Service", "default", "kubernetes")
    assert (own["metadata"]["labels"]["provider"], own["spec"]["ports"][0]["targetPort"]) == ("kubernetes", 8443)


def test_every_namespace_has_its_account_from_the_start_and_again_after_a_deletion() -> None:
    registry = begun()
    namespaces, accounts = registry.resource("v1", "Namespace"), registry.resource("v1", "ServiceAccount")
    later = NOW + timedelta(minutes=1)

    def owners() -> list[str]:
        return [each["metadata"]["namespace"] for each in registry.all("v1", "ServiceAccount")]

    first = ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert owners() == first
    registry.create(namespaces, {"metadata": {"name": "team"}}, now=later)
    assert owners() == [*first, "team"]
    made = found(registry, "v1", "ServiceAccount", "team", "default")
    assert made["metadata"]["creationTimestamp"] == "2026-01-01T00:01:00Z"
    registry.delete(accounts, "team", "default", now=later)
    assert found(registry, "v1", "ServiceAccount", "team", "default")["metadata"]["uid"] != made["metadata"]["uid"]
    registry.delete(namespaces, "", "team", now=later)
    registry.delete(accounts, "team", "default", now=later)
    assert owners() == first
