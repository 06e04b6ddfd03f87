"""Tokens as people make and use them with kubectl: of accounts, in Secrets, and for new machines."""

from __future__ import annotations

import json
from base64 import b64decode

from tests.cli.embedded import eventually
from tests.external.kubectl import Kubectl


def whoami(kubectl: Kubectl, token: str) -> str:
    """The user that a token stands for."""
    info = json.loads(kubectl("auth", "whoami", "-o", "json", "--token", token))["status"]["userInfo"]
    return str(info["username"])


def test_create_token(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    name = f"system:serviceaccount:{kubectl.namespace}:robot"
    assert whoami(kubectl, kubectl("create", "token", "robot", "--duration", "10m").strip()) == name
    assert "may not specify a duration less than 10 minutes" in kubectl.fails(
        "create", "token", "robot", "--duration", "1m"
    )
    elsewhere = kubectl("create", "token", "robot", "--audience", "elsewhere").strip()
    assert "Unauthorized" in kubectl.fails("get", "--raw", "/api", "--token", elsewhere)


def test_a_secret_with_a_token_counts_until_it_is_deleted(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "old-robot")
    annotations = {"kubernetes.io/service-account.name": "old-robot"}
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}
    kubectl.apply({**secret, "metadata": {"name": "old-robot", "annotations": annotations}})
    data = json.loads(kubectl("get", "secret", "old-robot", "-o", "json"))["data"]
    assert set(data) == {"ca.crt", "namespace", "token"}
    token = b64decode(data["token"]).decode()
    assert whoami(kubectl, token) == f"system:serviceaccount:{kubectl.namespace}:old-robot"
    kubectl("delete", "secret", "old-robot")
    assert "Unauthorized" in kubectl.fails("get", "--raw", "/api", "--token", token)


def test_a_bootstrap_token(newest: Kubectl) -> None:
    kubectl, token_id = newest, "abcdef"
    text = {
        "token-id": token_id,
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
    }
    name = f"bootstrap-token-{token_id}"
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "stringData": text}
    kubectl("apply", "-n", "kube-system", "-f", "-", stdin=json.dumps({**secret, "metadata": {"name": name}}))
    assert whoami(kubectl, f"{token_id}.0123456789abcdef") == f"system:bootstrap:{token_id}"

    def signed() -> dict[str, str] | None:
        found: dict[str, str] = kubectl.get("configmap", "cluster-info", "-n", "kube-public")["data"]
        return found if f"jws-kubeconfig-{token_id}" in found else None

    info = eventually(signed, "cluster-info is signed")
    assert "certificate-authority-data" in info["kubeconfig"]
