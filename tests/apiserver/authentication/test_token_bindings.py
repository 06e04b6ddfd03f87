"""The role of a token as a binding: as the file of tokens says, and nothing else of anybody's is touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from mooring.apiserver.authentication.token_bindings import TokenBindings
from mooring.apiserver.authentication.token_file import Token
from mooring.registry import Registry

NOW = datetime(2026, 11, 16, tzinfo=UTC)
RBAC = "rbac.authorization.k8s.io/v1"


def token(name: str, role: str = "", namespace: str = "") -> Token:
    return Token(name, "0" * 64, created=NOW, role=role, namespace=namespace)


def bindings(registry: Registry) -> list[tuple[str, str, str, str]]:
    """Where, for whom, and which role."""
    return [
        (
            each["metadata"].get("namespace", ""),
            each["metadata"]["name"],
            each["subjects"][0]["name"],
            each["roleRef"]["name"],
        )
        for kind in ("ClusterRoleBinding", "RoleBinding")
        for each in registry.list(registry.resource(RBAC, kind)).items
    ]


def test_a_role_is_a_binding_for_as_long_as_the_token_is_there() -> None:
    registry = Registry(now=NOW)
    registry.bootstrap(now=NOW, host="127.0.0.1", port=6443)
    kept = TokenBindings(registry, lambda: NOW)
    kept.sync([token("ada", "view"), token("bob", "edit", "default"), token("eve")])
    assert bindings(registry) == [
        ("", "mooring:token:ada", "ada", "view"),
        ("default", "mooring:token:bob", "bob", "edit"),
    ]
    before = registry.revision
    kept.sync([token("ada", "view"), token("bob", "edit", "default"), token("eve")])
    assert registry.revision == before
    kept.sync([token("ada", "admin")])
    assert bindings(registry) == [("", "mooring:token:ada", "ada", "admin")]
    kept.sync([])
    assert bindings(registry) == []


def test_a_role_in_a_namespace_that_is_missing_waits_for_it() -> None:
    registry = Registry(now=NOW)
    registry.bootstrap(now=NOW, host="127.0.0.1", port=6443)
    kept = TokenBindings(registry, lambda: NOW)
    kept.sync([token("ada", "view", "shop")])
    kept.retry()
    assert bindings(registry) == []
    registry.create(registry.resource("v1", "Namespace"), {"metadata": {"name": "shop"}}, now=NOW)
    kept.retry()
    assert bindings(registry) == [("shop", "mooring:token:ada", "ada", "view")]


def test_a_role_ends_when_its_token_expires() -> None:
    registry = Registry(now=NOW)
    registry.bootstrap(now=NOW, host="127.0.0.1", port=6443)
    now = NOW
    kept = TokenBindings(registry, lambda: now)
    kept.sync([replace(token("ada", "view"), expires=NOW + timedelta(days=1))])
    kept.retry()
    assert len(bindings(registry)) == 1
    now += timedelta(days=1)
    kept.retry()
    assert bindings(registry) == []


def test_bindings_of_others_are_left_alone() -> None:
    registry = Registry(now=NOW)
    registry.bootstrap(now=NOW, host="127.0.0.1", port=6443)
    mine: dict[str, Any] = {
        "metadata": {"name": "mooring:token:ada"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "me"}],
    }
    registry.create(registry.resource(RBAC, "ClusterRoleBinding"), mine, now=NOW)
    kept = TokenBindings(registry, lambda: NOW)
    kept.sync([token("ada", "edit")])
    kept.sync([])
    assert bindings(registry) == [("", "mooring:token:ada", "me", "view")]
