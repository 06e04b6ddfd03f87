"""NodeRestriction: what a node may not write. The rest of it is compared with a real server in tests/conformance."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from mooring.kube.objects import Object
from mooring.registry.admission.chain import request_of
from mooring.registry.admission.node_restriction import restrict_token_request
from mooring.registry.write_options import Options
from tests.registry.world import World, pod, refused

NODE: dict[str, Any] = {"user": "system:node:n1", "groups": ("system:nodes", "system:authenticated")}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


@pytest.fixture
def cluster() -> World:
    world = World()
    world.make("node", {"metadata": {"name": "n1"}})
    projected = {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}
    world.make("pod", pod("mine", nodeName="n1", volumes=[{"name": "t", "projected": projected}]))
    world.make("pod", pod("other", nodeName="n2"))
    world.make("pvc", {"metadata": {"name": "c"}, "spec": CLAIM})
    return world


def token_request(world: World, name: str, audiences: tuple[str, ...] = ("vault",), **bound: str) -> Object:
    found = world.get("pod", name)["metadata"]
    reference = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": found["uid"]} | bound
    return {"spec": {"audiences": list(audiences), "boundObjectRef": reference}}


def ask(world: World, request: Object) -> None:
    accounts = world.registry.resource("v1", "ServiceAccount")
    named = {**request, "metadata": {"namespace": "default", "name": "default"}}
    about = request_of("CREATE", accounts, named, None, "token", Options(world.now, **NODE))
    restrict_token_request(about, world.registry, lambda audience: audience == "granted")


def test_a_token_is_for_a_pod_of_the_node_and_an_audience_of_that_pod(cluster: World) -> None:
    ask(cluster, token_request(cluster, "mine"))
    ask(cluster, token_request(cluster, "mine", ("granted",)))
    with refused(403, 'serviceaccounts "default" is forbidden: node requested token not bound to a pod'):
        ask(cluster, {"spec": {"audiences": ["vault"]}})
    with refused(403, "node requested token with a pod binding without a uid"):
        ask(cluster, token_request(cluster, "mine", uid=""))
    with refused(403, "does not match the UID in record"):
        ask(cluster, token_request(cluster, "mine", uid="x"))
    with refused(403, "node requested token bound to a pod scheduled on a different node"):
        ask(cluster, token_request(cluster, "other"))
    with refused(403, "node may only request 0 or 1 audiences"):
        ask(cluster, token_request(cluster, "mine", ("vault", "api")))
    with refused(403, 'audience "" not found in pod spec volume, system:node:n1 is not authorized'):
        ask(cluster, token_request(cluster, "mine", ()))
    cluster.delete("pod", "mine", grace=0)
    with refused(404, 'pod "mine" not found'):
        ask(cluster, {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "mine", "uid": "x"}}})


def test_the_status_of_a_claim_changes_in_what_growth_changes(cluster: World) -> None:
    grown = {"status": {"capacity": {"storage": "2Gi"}}}
    cluster.merge("pvc", "c", grown, subresource="status", **NODE)
    with refused(403, 'node "n1" is not allowed to update fields other than status.quantity and status.conditions'):
        cluster.merge("pvc", "c", {"status": {"phase": "Lost"}}, subresource="status", **NODE)
    with refused(403, "may only update PVC status"):
        cluster.merge("pvc", "c", {"metadata": {"labels": {"a": "b"}}}, **NODE)


def test_a_node_tells_of_a_pod_and_leaves_its_claims_as_they_are(cluster: World) -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    cluster.make("pod", pod("trains", nodeName="n1", resourceClaims=claims))
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "trains-gpu-x7k2p"}]}
    cluster.merge("pod", "trains", {"status": made}, subresource="status")

    told = cluster.merge("pod", "trains", {"status": {"phase": "Running"}}, subresource="status", **NODE)

    assert told["status"]["phase"] == "Running"
    other = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "of-another-pod"}]}
    with refused(403, 'node "n1" cannot update resource claim statues'):
        cluster.merge("pod", "trains", {"status": other}, subresource="status", **NODE)


def signing_request(name: str, signer: str = "kubernetes.io/kubelet-serving") -> Object:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    text = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256())
    encoded = b64encode(text.public_bytes(serialization.Encoding.PEM)).decode()
    usages = ["digital signature", "server auth"]
    return {"metadata": {"generateName": "c-"}, "spec": {"request": encoded, "signerName": signer, "usages": usages}}


def test_a_certificate_is_asked_for_in_the_name_of_the_node(cluster: World) -> None:
    requests = cluster.registry.resource("certificates.k8s.io/v1", "CertificateSigningRequest")

    def create(body: Object) -> Object:
        return cluster.registry.create(requests, body, now=cluster.now, **NODE)

    assert create(signing_request("system:node:n1"))["spec"]["username"] == "system:node:n1"
    assert create(signing_request("anybody", "example.com/signer"))
    with refused(403, "can only create a node CSR with CN=system:node:n1"):
        create(signing_request("system:node:n2"))


def test_a_node_without_a_name_writes_nothing(cluster: World) -> None:
    with refused(403, 'could not determine node from user "system:node:"'):
        cluster.make("node", {"metadata": {"name": "x"}}, user="system:node:", groups=("system:nodes",))
    assert cluster.make("node", {"metadata": {"name": "x"}}, user="system:node:n1", groups=())


def test_other_sub_resources_of_pods_are_not_for_nodes(cluster: World) -> None:
    with refused(403, "unexpected pod subresource \"resize\", only 'status' and 'eviction' are allowed"):
        more = {"name": "main", "image": "busybox:1", "resources": {"requests": {"cpu": "1"}}}
        cluster.merge("pod", "mine", {"spec": {"containers": [more]}}, subresource="resize", **NODE)
    with refused(403, 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'):
        cluster.merge("pod", "mine", {"metadata": {"labels": {"a": "b"}}}, **NODE)
