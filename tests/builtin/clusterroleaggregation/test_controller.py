"""Aggregated roles have the rules of the roles that they select, and nothing else that came from there."""

from __future__ import annotations

from typing import Any

from mooring.builtin.clusterroleaggregation.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.crashes import survives_every_crash

GROUP = "rbac.authorization.k8s.io/v1"
TO_VIEW = "example.com/aggregate-to-view"
TO_EDIT = "example.com/aggregate-to-edit"


def rule(verb: str, resource: str) -> Object:
    return {"verbs": [verb], "apiGroups": [""], "resources": [resource]}


def role(name: str, *rules: Object, label: str = "", aggregates: tuple[str, ...] = ()) -> Object:
    made: Object = {"metadata": {"name": name, "labels": {label: "true"} if label else {}}, "rules": list(rules)}
    if aggregates:
        selectors = [{"matchLabels": {each: "true"}} for each in aggregates]
        made["aggregationRule"] = {"clusterRoleSelectors": selectors}
    return made


def create(simulation: Simulation, *roles: Object) -> None:
    registry = simulation.registry
    for each in roles:
        registry.create(registry.resource(GROUP, "ClusterRole"), each, now=simulation.now)


def rules(simulation: Simulation, name: str) -> Any:
    found = simulation.registry.find(GROUP, "ClusterRole", "", name)
    assert found is not None
    return found["rules"]


def populate(simulation: Simulation) -> None:
    create(
        simulation,
        role("edit", aggregates=(TO_EDIT, TO_VIEW), label=TO_VIEW),
        role("view", aggregates=(TO_VIEW,)),
        role("z", rule("get", "pods"), {"verbs": ["get"], "nonResourceURLs": ["/z"]}, label=TO_VIEW),
        role("a", rule("get", "nodes"), rule("get", "pods"), label=TO_VIEW),
        role("other", rule("delete", "pods"), label=TO_EDIT),
        role("alone", rule("get", "secrets")),
    )


def test_rules_come_by_selector_and_name_each_once_and_never_from_the_role_itself() -> None:
    simulation = Simulation([CONTROLLER])
    populate(simulation)
    simulation.run()
    seen = [rule("get", "nodes"), rule("get", "pods")]
    url = {"verbs": ["get"], "nonResourceURLs": ["/z"]}
    assert rules(simulation, "edit") == [rule("delete", "pods"), *seen, url]
    # What is aggregated may be aggregated again.
    assert rules(simulation, "view") == [*seen, rule("delete", "pods"), url]
    assert rules(simulation, "alone") == [rule("get", "secrets")]


def test_what_is_no_longer_selected_goes() -> None:
    simulation = Simulation([CONTROLLER])
    create(simulation, role("view", aggregates=(TO_VIEW,)), role("a", rule("get", "pods"), label=TO_VIEW))
    simulation.run()
    registry = simulation.registry
    resource = registry.resource(GROUP, "ClusterRole")
    registry.update(resource, role("a", rule("list", "pods"), label=TO_VIEW), now=simulation.now)
    simulation.run()
    assert rules(simulation, "view") == [rule("list", "pods")]
    registry.delete(resource, "", "a", now=simulation.now)
    simulation.run()
    assert rules(simulation, "view") is None


def test_a_role_without_anything_selected_keeps_what_a_person_wrote() -> None:
    simulation = Simulation([CONTROLLER])
    create(simulation, role("mine", rule("get", "pods"), aggregates=(TO_VIEW,)))
    simulation.run()
    assert rules(simulation, "mine") == [rule("get", "pods")]


def test_a_crash_at_any_write_ends_the_same() -> None:
    assert survives_every_crash([CONTROLLER], populate) > 1
