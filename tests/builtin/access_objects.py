"""Objects that the controllers of rights and credentials have something to do about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.drivers.simulation import START
from tests.builtin.authentication.test_bootstrap_tokens import INFO, secret
from tests.builtin.certificates.requests import signing_request
from tests.features.groups.town import Town

DENIED = {"status": {"conditions": [{"type": "Denied", "status": "True", "lastUpdateTime": "2020-01-01T00:00:00Z"}]}}
AUTHORITY = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
    "data": {"client-ca-file": "authority"},
}


def cluster_role(name: str, **fields: Any) -> Object:
    metadata = {"name": name, "labels": {"example.com/part": "true"}}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, **fields}


def roles() -> tuple[Object, Object]:
    """A role with rules, and one that is aggregated from it."""
    selector = {"matchLabels": {"example.com/part": "true"}}
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    return (
        cluster_role("part", rules=[rule]),
        cluster_role("whole", rules=[], aggregationRule={"clusterRoleSelectors": [selector]}),
    )


def access_objects() -> tuple[Object, ...]:
    """Roles, the authority, a bootstrap token that expires in a minute, and two requests for certificates."""
    token = secret(expiration=timestamp(START + timedelta(minutes=1)))
    requests = (signing_request(name=name) for name in ("kubelet", "denied"))
    return (*roles(), AUTHORITY, INFO, token, *requests)


def deny_one(town: Town) -> None:
    resource = town.registry.resource("certificates.k8s.io/v1", "CertificateSigningRequest")
    town.registry.patch(resource, "", "denied", "merge", DENIED, now=town.simulation.now, subresource="approval")
