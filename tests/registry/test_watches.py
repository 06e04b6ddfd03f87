"""Lists and watches: what a reader sees, in which order, and what happens to one who comes too late."""

from __future__ import annotations

from typing import Any

from mooring.registry import Registry, Watch
from tests.registry.world import START, World, config, pod, refused


def told(watch: Watch) -> list[tuple[str, str]]:
    return [(event.type, event.object["metadata"].get("name", "")) for event in watch.poll()]


def watch(world: World, word: str = "configmap", **options: Any) -> Watch:
    return world.registry.watch(world.kind(word), **options)


def test_a_watch_without_a_version_begins_with_what_exists(world: World) -> None:
    world.make("configmap", config("a"))
    seen = watch(world)
    world.make("configmap", config("b"))
    assert told(seen) == [("ADDED", "a"), ("ADDED", "b")]
    assert told(seen) == []


def test_a_watch_from_a_list_sees_what_came_after_it(world: World) -> None:
    world.make("configmap", config("a"))
    version = world.list("configmap").resource_version
    world.merge("configmap", "a", {"data": {"a": "2"}})
    world.delete("configmap", "a")
    assert told(watch(world, resource_version=version)) == [("MODIFIED", "a"), ("DELETED", "a")]


def test_entering_and_leaving_a_selection_is_being_added_and_deleted(world: World) -> None:
    seen = watch(world, label_selector="app=x")
    world.make("configmap", config("a", labels={"app": "y"}))
    world.merge("configmap", "a", {"metadata": {"labels": {"app": "x"}}})
    world.merge("configmap", "a", {"data": {"a": "2"}})
    left = world.merge("configmap", "a", {"metadata": {"labels": {"app": "y"}}})
    events = seen.poll()
    assert [event.type for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[-1].object["metadata"]["labels"] == {"app": "x"}
    assert events[-1].object["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]


def test_a_deleted_object_carries_the_version_of_its_deletion(world: World) -> None:
    world.make("configmap", config("a"))
    seen = watch(world, resource_version=str(world.registry.revision))
    world.delete("configmap", "a")
    (event,) = seen.poll()
    assert event.object["metadata"]["resourceVersion"] == str(world.registry.revision)


def test_a_watch_keeps_to_its_namespace(world: World) -> None:
    seen = watch(world, namespace="kube-system")
    world.make("configmap", config("a"))
    world.make("configmap", config("b", namespace="kube-system"))
    assert told(seen) == [("ADDED", "b")]


def test_initial_events_end_with_a_bookmark(world: World) -> None:
    world.make("configmap", config("a"))
    events = watch(world, send_initial_events=True, resource_version_match="NotOlderThan").poll()
    assert [event.type for event in events] == ["ADDED", "BOOKMARK"]
    mark = events[-1].object
    assert mark["kind"] == "ConfigMap"
    assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert mark["metadata"]["resourceVersion"] == str(world.registry.revision)


def test_initial_events_need_the_matching_option(world: World) -> None:
    with refused(422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"):
        watch(world, send_initial_events=True)
    with refused(422, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"):
        watch(world, resource_version_match="NotOlderThan")


def test_a_bookmark_says_how_far_the_reader_has_come(world: World) -> None:
    seen = watch(world)
    seen.poll()
    world.make("pod", pod())
    assert seen.bookmark().object["metadata"]["resourceVersion"] == str(world.registry.revision)
    world.make("configmap", config())
    assert int(seen.bookmark().object["metadata"]["resourceVersion"]) < world.registry.revision


def test_a_watch_from_before_the_kept_history_is_gone(world: World) -> None:
    world.make("configmap", config("a"))
    world.registry.compact(world.registry.revision)
    with refused(410, f"too old resource version: 3 ({world.registry.revision})"):
        watch(world, resource_version="3")


def test_a_reader_that_falls_behind_is_told_so() -> None:
    world = World(history_limit=4)
    seen = watch(world)
    for number in range(20):
        world.make("configmap", config(f"c{number}"))
    with refused(410, "too old resource version"):
        seen.poll()


def test_twenty_thousand_changes_of_a_kind_are_kept_and_hardly_more() -> None:
    registry = Registry(now=START, managed_fields=False)
    leases = registry.resource("coordination.k8s.io/v1", "Lease")
    made = registry.create(leases, {"metadata": {"name": "a"}, "spec": {}}, now=START, namespace="default")
    # They are forgotten 256 at a time.
    for number in range(1, 20_256):
        registry.patch(leases, "default", "a", "merge", {"spec": {"leaseTransitions": number}}, now=START)
    seen = registry.watch(leases, resource_version=str(registry.revision - 20_000)).poll()
    assert [event.object["spec"]["leaseTransitions"] for event in seen] == list(range(256, 20_256))
    version = made["metadata"]["resourceVersion"]
    with refused(410, f"too old resource version: {version}"):
        registry.watch(leases, resource_version=version)


def test_a_server_can_ask_to_be_woken(world: World) -> None:
    calls: list[str] = []
    seen = watch(world, wake=lambda: calls.append("woken"))
    world.make("configmap", config("a"))
    world.make("pod", pod())
    assert calls == ["woken"]
    seen.close()
    world.make("configmap", config("b"))
    assert calls == ["woken"]


def test_pages_are_cut_from_one_moment(world: World) -> None:
    for name in "abcde":
        world.make("configmap", config(name))
    first = world.list("configmap", limit=2)
    assert (len(first.items), first.remaining) == (2, 3)
    world.delete("configmap", "c")
    world.make("configmap", config("b2"))
    world.merge("configmap", "e", {"data": {"a": "9"}})
    second = world.list("configmap", limit=2, continue_=first.continue_)
    third = world.list("configmap", limit=2, continue_=second.continue_)
    pages = [*first.items, *second.items, *third.items]
    assert [obj["metadata"]["name"] for obj in pages] == list("abcde")
    assert pages[-1]["data"] == {"a": "1"}
    assert third.continue_ == ""
    assert first.resource_version == second.resource_version == third.resource_version


def test_a_page_of_a_forgotten_moment_is_gone_but_can_be_continued(world: World) -> None:
    for name in "abcd":
        world.make("configmap", config(name))
    first = world.list("configmap", limit=2)
    world.make("configmap", config("e"))
    world.registry.compact(world.registry.revision)
    with refused(410, "The provided continue parameter is too old to display a consistent list result.") as caught:
        world.list("configmap", limit=2, continue_=first.continue_)
    token = caught.value.status()["metadata"]["continue"]
    assert world.names("configmap", continue_=token) == ["c", "d", "e"]


def test_a_list_of_an_exact_moment(world: World) -> None:
    world.make("configmap", config("a"))
    version = str(world.registry.revision)
    world.make("configmap", config("b"))
    assert world.names("configmap", resource_version=version, resource_version_match="Exact") == ["a"]
    assert world.names("configmap", resource_version=version, resource_version_match="NotOlderThan") == ["a", "b"]
    with refused(504, "Too large resource version: 9999, current:"):
        world.list("configmap", resource_version="9999")
    with refused(422, "resourceVersionMatch is forbidden unless resourceVersion is provided"):
        world.list("configmap", resource_version_match="Exact")


def test_bad_tokens_and_selectors_are_bad_requests(world: World) -> None:
    with refused(400, "continue key is not valid"):
        world.list("configmap", continue_="nonsense")
    with refused(400, "field label not supported: spec.color"):
        world.list("pod", field_selector="spec.color=red")
    with refused(400, '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'):
        world.list("configmap", field_selector="spec.x=1")
    with refused(400, "unable to parse requirement"):
        world.list("configmap", label_selector="a in (")


def test_fields_that_can_be_selected_on(world: World) -> None:
    world.make("pod", pod("a", nodeName="n1"))
    world.make("pod", pod("b"))
    assert world.names("pod", field_selector="spec.nodeName=n1") == ["a"]
    assert world.names("pod", field_selector="spec.nodeName=") == ["b"]
    assert world.names("pod", field_selector="status.phase!=Running,metadata.name=b") == ["b"]
    assert world.names("pod", namespace="default", field_selector="metadata.name=a") == ["a"]
    assert world.names("pod", field_selector="metadata.namespace=kube-system") == []
    assert world.names("pod", field_selector="spec.hostNetwork=false") == ["a", "b"]


def test_namespaces_are_ordered_as_keys_are(world: World) -> None:
    for name in ("a", "a-b"):
        world.make("namespace", {"metadata": {"name": name}})
        world.make("configmap", config("x", namespace=name))
    assert [obj["metadata"]["namespace"] for obj in world.list("configmap").items] == ["a-b", "a"]
    first = world.list("configmap", limit=1)
    assert world.list("configmap", limit=1, continue_=first.continue_).items[0]["metadata"]["namespace"] == "a"
