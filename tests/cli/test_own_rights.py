"""The controllers of `mooring up` may do what they declare, and no more; so may the node."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mooring.apiserver.authentication.token_file import read_tokens
from mooring.apiserver.authentication.users import AUTHENTICATED, MASTERS, User
from mooring.apiserver.authorization.attributes import AccessDecision, Attributes
from mooring.apiserver.authorization.rbac import RbacAuthorizer
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.supervisor.access import CONTROLLERS_USER
from mooring.supervisor.fleet.rights import fleet_rules
from mooring.supervisor.own_rights import grant_rights
from tests.cli.embedded import up

NOW = datetime(2026, 1, 1, tzinfo=UTC)
USER = User(CONTROLLERS_USER, (AUTHENTICATED,))


def granted(*controllers: str, fleet: Sequence[Object] = (), registry: Registry | None = None) -> Registry:
    registry = registry or Registry(now=NOW, seed=1)
    grant_rights(registry, controllers, fleet_rules(fleet), now=NOW)
    return registry


def may(registry: Registry, words: str) -> bool:
    """`words` are a verb and a resource: create apps/deployments, patch pods/status."""
    verb, what = words.split()
    group, _, resource = what.rpartition(":")
    resource, _, subresource = resource.partition("/")
    answer = RbacAuthorizer(registry.storage)(Attributes(USER, verb, group, resource, subresource, "default", "x"))
    return answer.decision is AccessDecision.ALLOW


def test_a_controller_has_what_it_declares_and_no_more() -> None:
    registry = granted("deployment")
    assert may(registry, "create apps:replicasets")
    assert may(registry, "patch apps:deployments/status")
    assert may(registry, "create events")
    for undeclared in ("create pods", "delete apps:deployments", "get secrets", "create pods/binding", "update nodes"):
        assert not may(registry, undeclared), undeclared


def test_what_is_not_chosen_any_more_is_taken_away() -> None:
    registry = granted("deployment", "scheduler")
    assert may(registry, "create pods/binding")
    granted("deployment", registry=registry)
    assert not may(registry, "create pods/binding")
    assert may(registry, "create apps:replicasets")


def test_a_start_changes_nothing_that_is_current_and_undoes_what_people_changed() -> None:
    registry = granted("deployment")
    revision = registry.revision
    granted("deployment", registry=registry)
    assert registry.revision == revision
    roles = registry.resource("rbac.authorization.k8s.io/v1", "ClusterRole")
    more = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    registry.patch(roles, "", "mooring-up:deployment", "merge", {"rules": more}, now=NOW)
    assert may(registry, "get secrets")
    granted("deployment", registry=registry)
    assert not may(registry, "get secrets")


def test_a_fleet_may_be_brought_in_with_all_its_kinds() -> None:
    names = {"group": "example.com", "names": {"kind": "Mouse", "plural": "mice"}}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": names}
    mouse, role = {"apiVersion": "example.com/v1", "kind": "Mouse"}, "rbac.authorization.k8s.io:roles"
    registry = granted(fleet=[definition, mouse])
    assert may(registry, "create nodes")
    assert may(registry, "create example.com:mice")
    assert not may(registry, "delete example.com:mice")
    assert not may(registry, f"escalate {role}")
    assert may(granted(fleet=[{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}]), f"escalate {role}")


def test_an_undeclared_right_is_refused_by_the_embedded_server(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral", "--controllers=scheduler,nodes") as running:
        running.ready()
        own = {"Impersonate-User": CONTROLLERS_USER}
        assert running.get("/api/v1/pods", headers=own)["kind"] == "PodList"
        refused = running.get("/api/v1/secrets", headers=own)
        assert (refused["code"], refused["message"]) == (
            403,
            f'secrets is forbidden: User "{CONTROLLERS_USER}" cannot list resource "secrets" in API group "" '
            "at the cluster scope",
        )
        node = {"Impersonate-User": "system:node:cpu-1", "Impersonate-Group": "system:nodes"}
        assert running.get("/api/v1/nodes/cpu-2", headers=node)["message"].endswith(
            "node 'cpu-1' cannot read 'cpu-2', only its own Node object"
        )
        tokens = read_tokens(tmp_path / ".mooring" / "tokens")
        assert {token.name: token.groups for token in tokens} == {CONTROLLERS_USER: (), "mooring-admin": (MASTERS,)}
