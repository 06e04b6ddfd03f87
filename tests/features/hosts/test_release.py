"""A host is cleaned before it is claimed again; where nobody cleans it, its claim ends and it stays out of use."""

from __future__ import annotations

from mooring.features.hosts.api.names import API_VERSION, CLEANUP_STARTED_AT, UNREGISTERING
from mooring.features.hosts.simulated.controller import LOST
from mooring.testing.hosts import byo_host, put_machine
from tests.features.hosts.world import HostWorld, labelled

SETTINGS = {"host-cleanup-timeout": "5m"}


def claimed() -> HostWorld:
    world = HostWorld(labelled("a", "worker"), settings=SETTINGS)
    put_machine(world.simulation, "m", labels={"purpose": "worker"})
    world.run()
    assert world.claims() == {"a": "m"}
    return world


def test_a_released_host_serves_the_next_pool_without_a_trace_of_the_last() -> None:
    world = claimed()
    world.delete("ByoMachine", "m")
    world.run()
    assert world.find("ByoMachine", "m") is None
    assert world.condition("ByoHost", "a", "HostClean")["status"] == "True"
    put_machine(world.simulation, "other", labels={"team": "b"})
    world.run()
    assert world.claims() == {"a": "other"}
    labels = world.get("Node", "a")["metadata"]["labels"]
    assert labels["team"] == "b"
    assert "purpose" not in labels
    conditions = [each["type"] for each in world.get("ByoHost", "a")["status"]["conditions"]]
    assert "HostClean" not in conditions, "that the host was clean before says nothing of now"


def test_a_host_is_available_from_the_moment_of_its_release() -> None:
    world = claimed()
    registry = world.simulation.registry
    watch = registry.watch(registry.resource(API_VERSION, "ByoHost"), resource_version=str(registry.revision))
    world.delete("ByoMachine", "m")
    world.run()
    statuses = [each.object["status"] for each in watch.poll()]
    assert {each["phase"] for each in statuses} == {"Claimed", "Cleaning", "Available"}
    assert {each["phase"] for each in statuses if "lastReleasedTime" in each} == {"Available"}


def test_a_dead_agent_is_waited_for_and_then_the_host_is_out_of_use_until_it_is_clean() -> None:
    world = claimed()
    world.annotate("ByoHost", "a", {LOST: "true"})
    world.delete("ByoMachine", "m")
    world.wait(290).run(1)
    assert world.claims() == {"a": "m"}
    assert world.phase("a") == "Cleaning"
    assert world.condition("ByoMachine", "m")["reason"] == "ReleasingHost"
    world.wait(15).run(1)
    assert world.find("ByoMachine", "m") is None
    host = world.get("ByoHost", "a")
    assert "machineRef" not in host["status"]
    assert UNREGISTERING in host["metadata"]["annotations"]
    told = world.condition("ByoHost", "a", "HostClean")
    assert (told["status"], told["reason"]) == ("False", "ForcedRelease")
    put_machine(world.simulation, "next")
    world.run(600)
    assert world.claims() == {}
    assert world.phase("a") == "Cleaning"
    world.annotate("ByoHost", "a", {LOST: None})
    world.run()
    assert world.claims() == {"a": "next"}


def test_a_claim_whose_machine_vanished_ends_with_cleaning() -> None:
    world = claimed()
    world.patch("ByoMachine", "m", {"metadata": {"finalizers": None}})
    world.delete("ByoMachine", "m")
    world.run(10)
    assert "machineRef" in world.get("ByoHost", "a")["status"], "one watch may lag another, so nothing happens at once"
    world.run()
    assert world.phase("a") == "Available"
    assert "bootstrapSecret" not in world.get("ByoHost", "a")["spec"]


def test_a_cleanup_that_a_person_asked_for_gets_its_time() -> None:
    world = claimed()
    world.annotate("ByoHost", "a", {LOST: "true", UNREGISTERING: ""})
    world.run(1)
    assert CLEANUP_STARTED_AT in world.get("ByoHost", "a")["metadata"]["annotations"]


def test_a_machine_whose_host_was_taken_from_it_says_so() -> None:
    world = claimed()
    world.delete("ByoHost", "a")
    world.run()
    told = world.condition("ByoMachine", "m")
    assert (told["reason"], told["severity"]) == ("HostLost", "Error")
    assert not world.ready("m")
    world.put(byo_host("a"))
    world.run()
    assert world.claims() == {}, "a namesake is another host"
    world.delete("ByoMachine", "m")
    world.run()
    assert world.find("ByoMachine", "m") is None


def test_a_machine_that_goes_before_it_has_a_host_goes_at_once() -> None:
    world = HostWorld()
    put_machine(world.simulation, "m")
    world.run()
    world.delete("ByoMachine", "m")
    world.run(1)
    assert world.find("ByoMachine", "m") is None


def test_a_host_that_was_released_by_force_is_cleaned_also_when_nobody_asks_any_more() -> None:
    world = claimed()
    world.annotate("ByoHost", "a", {LOST: "true"})
    world.delete("ByoMachine", "m")
    world.wait(310).run(1)
    world.annotate("ByoHost", "a", {UNREGISTERING: None, LOST: None})
    world.run()
    assert world.condition("ByoHost", "a", "HostClean")["status"] == "True"
    assert world.phase("a") == "Available"
    assert "bootstrapSecret" not in world.get("ByoHost", "a")["spec"]
