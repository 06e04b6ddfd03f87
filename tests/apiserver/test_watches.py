"""Watches over HTTP: what a client hears, in which form, and how a stream ends."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from mooring.kube.objects import Object
from tests.apiserver.world import CONFIGMAPS, DEFINITIONS, METADATA, PODS, TABLE, WIDGETS, Api, failed
from tests.registry.world import config, definition, pod


@pytest.fixture
def quick(make_api: Callable[..., Api]) -> Api:
    """A server that sends bookmarks all the time."""
    return make_api(bookmark_seconds=0.05)


def version_of(api: Api) -> str:
    version: str = api.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    return version


def test_the_headers_come_before_the_first_event(api: Api) -> None:
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api)) as lines:
        assert lines.code == 200
        assert lines.headers["content-type"] == "application/json"
        assert lines.headers["transfer-encoding"] == "chunked"
        api.made(CONFIGMAPS, config("c"))
        assert lines.told() == ("ADDED", "c")


def test_changes_are_heard_in_order_and_whole(api: Api) -> None:
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api)) as lines:
        made = api.made(CONFIGMAPS, config("c"))
        changed = api.merge(f"{CONFIGMAPS}/c", {"data": {"a": "2"}}).body
        api.delete(f"{CONFIGMAPS}/c")
        assert lines.next() == {"type": "ADDED", "object": made}
        assert lines.next() == {"type": "MODIFIED", "object": changed}
        gone = lines.next()
        assert (gone["type"], gone["object"]["data"]) == ("DELETED", {"a": "2"})
        assert int(gone["object"]["metadata"]["resourceVersion"]) > int(changed["metadata"]["resourceVersion"])


def test_what_happened_since_a_version_is_heard_first(api: Api) -> None:
    version = version_of(api)
    api.made(CONFIGMAPS, config("a"))
    api.made(CONFIGMAPS, config("b"))
    with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
        assert [lines.told(), lines.told()] == [("ADDED", "a"), ("ADDED", "b")]


def test_without_a_version_what_exists_is_heard_first(api: Api) -> None:
    api.made(CONFIGMAPS, config("a"))
    with api.watch(CONFIGMAPS) as lines:
        assert lines.told() == ("ADDED", "a")
        api.made(CONFIGMAPS, config("b"))
        assert lines.told() == ("ADDED", "b")


def test_an_object_that_leaves_the_selector_is_deleted_for_the_watch(api: Api) -> None:
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api), labelSelector="app=x") as lines:
        api.made(CONFIGMAPS, config("other"))
        api.made(CONFIGMAPS, config("c", labels={"app": "x"}))
        api.merge(f"{CONFIGMAPS}/c", {"metadata": {"labels": {"app": "y"}}})
        api.merge(f"{CONFIGMAPS}/c", {"metadata": {"labels": {"app": "x"}}})
        assert [lines.told(), lines.told(), lines.told()] == [("ADDED", "c"), ("DELETED", "c"), ("ADDED", "c")]


def test_a_watch_of_one_namespace_hears_nothing_of_others(api: Api) -> None:
    api.made("/api/v1/namespaces", {"metadata": {"name": "team"}})
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api)) as lines:
        api.made("/api/v1/namespaces/team/configmaps", config("theirs"))
        api.made(CONFIGMAPS, config("ours"))
        assert lines.told() == ("ADDED", "ours")


def test_initial_events_end_with_a_bookmark_that_says_so(api: Api) -> None:
    api.made(CONFIGMAPS, config("a"))
    query: Object = {"sendInitialEvents": True, "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": True}
    with api.watch(CONFIGMAPS, **query) as lines:
        assert lines.told() == ("ADDED", "a")
        bookmark = lines.next()
        assert bookmark["type"] == "BOOKMARK"
        assert bookmark["object"]["kind"] == "ConfigMap"
        assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert bookmark["object"]["metadata"]["resourceVersion"] == version_of(api)
        api.made(CONFIGMAPS, config("b"))
        assert lines.told() == ("ADDED", "b")


def test_initial_events_need_the_match_that_goes_with_them(api: Api) -> None:
    assert failed(api.get(f"{CONFIGMAPS}?watch=true&sendInitialEvents=true")) == (422, "Invalid")


def test_many_initial_events_arrive_whole(api: Api) -> None:
    names = api.fill(450)
    with api.watch(CONFIGMAPS, timeoutSeconds=1) as lines:
        assert [event["object"]["metadata"]["name"] for event in lines.rest()] == names


def test_a_quiet_watch_hears_how_far_the_server_has_come(quick: Api) -> None:
    with quick.watch(CONFIGMAPS, resourceVersion=version_of(quick), allowWatchBookmarks=True) as lines:
        version = quick.made(PODS, pod("p"))["metadata"]["resourceVersion"]
        while (event := lines.next())["object"]["metadata"]["resourceVersion"] != version:
            assert event["type"] == "BOOKMARK"


def test_who_does_not_ask_for_bookmarks_gets_none(quick: Api) -> None:
    with quick.watch(CONFIGMAPS, resourceVersion=version_of(quick), timeoutSeconds=1) as lines:
        assert lines.rest() == []


def test_a_watch_ends_in_time_with_a_last_bookmark(api: Api) -> None:
    query: Object = {"timeoutSeconds": 1, "allowWatchBookmarks": True}
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api), **query) as lines:
        assert [event["type"] for event in lines.rest()] == ["BOOKMARK"]


def test_a_version_that_is_forgotten_is_told_in_the_stream(api: Api) -> None:
    version = version_of(api)
    api.made(CONFIGMAPS, config("c"))
    api.server.call(lambda: api.registry.compact(api.registry.revision))
    with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
        assert lines.code == 200
        [event] = lines.rest()
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")


def test_a_version_of_another_storage_is_told_in_the_stream(api: Api) -> None:
    with api.watch(CONFIGMAPS, resourceVersion=123456) as lines:
        [event] = lines.rest()
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


def test_after_a_restart_older_versions_are_forgotten_and_the_last_one_is_not(
    api: Api, make_api: Callable[..., Api]
) -> None:
    older = version_of(api)
    api.made(CONFIGMAPS, config("c"))
    again = make_api(storage=api.storage)
    with again.watch(CONFIGMAPS, resourceVersion=older) as lines:
        assert lines.next()["object"]["code"] == 410
    assert again.get(f"{CONFIGMAPS}?resourceVersion={older}").code == 200
    with again.watch(CONFIGMAPS, resourceVersion=version_of(again)) as lines:
        again.made(CONFIGMAPS, config("d"))
        assert lines.told() == ("ADDED", "d")


def test_a_reader_that_falls_behind_what_is_kept_is_told_so(make_api: Callable[..., Api]) -> None:
    api = make_api(history_limit=10)
    kind = api.registry.resource("v1", "ConfigMap")
    large = {"data": {"a": "x" * 900_000}}

    def write_much() -> None:
        for number in range(60):
            api.registry.create(kind, config(f"c{number}") | large, now=api.now)

    with api.watch(CONFIGMAPS, resourceVersion=version_of(api)) as lines:
        # All within one turn of the loop, so that the stream has no chance to keep up.
        api.server.call(write_much)
        events = lines.rest()
    assert (events[-1]["type"], events[-1]["object"]["code"]) == ("ERROR", 410)


def test_metadata_alone_can_be_watched(api: Api) -> None:
    query: Object = {"resourceVersion": version_of(api), "allowWatchBookmarks": True, "timeoutSeconds": 1}
    with api.watch(CONFIGMAPS, accept=METADATA, **query) as lines:
        made = api.made(CONFIGMAPS, config("c"))
        first, bookmark = lines.rest()
    assert first["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": made["metadata"],
    }
    assert (bookmark["type"], bookmark["object"]["kind"]) == ("BOOKMARK", "PartialObjectMetadata")


def test_rows_of_a_table_can_be_watched_and_only_the_first_has_columns(api: Api) -> None:
    query: Object = {"resourceVersion": version_of(api), "allowWatchBookmarks": True, "timeoutSeconds": 1}
    with api.watch(CONFIGMAPS, accept=TABLE, **query) as lines:
        api.made(CONFIGMAPS, config("a"))
        api.made(CONFIGMAPS, config("b"))
        first, second, bookmark = (event["object"] for event in lines.rest())
    assert [first["kind"], second["kind"], bookmark["kind"]] == ["Table"] * 3
    assert [first["rows"][0]["cells"][0], second["rows"][0]["cells"][0]] == ["a", "b"]
    assert [column["name"] for column in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert second["columnDefinitions"] is None
    assert bookmark["rows"][0]["object"]["metadata"]["resourceVersion"] == bookmark["metadata"]["resourceVersion"]


def test_watches_in_different_forms_do_not_get_each_others_lines(api: Api) -> None:
    version = version_of(api)
    with (
        api.watch(CONFIGMAPS, resourceVersion=version) as whole,
        api.watch(CONFIGMAPS, resourceVersion=version, accept=METADATA) as bare,
        api.watch(CONFIGMAPS, resourceVersion=version, accept=TABLE) as rows,
        api.watch(CONFIGMAPS, resourceVersion=version, accept=TABLE, includeObject="Object") as full_rows,
    ):
        api.made(CONFIGMAPS, config("c"))
        kinds = [lines.next()["object"] for lines in (whole, bare, rows, full_rows)]
    assert [each["kind"] for each in kinds] == ["ConfigMap", "PartialObjectMetadata", "Table", "Table"]
    assert [each["rows"][0]["object"]["kind"] for each in kinds[2:]] == ["PartialObjectMetadata", "ConfigMap"]


def test_the_two_shapes_of_events_can_be_watched(api: Api) -> None:
    event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default", "name": "p"}, "message": "hello"}
    version = version_of(api)
    with (
        api.watch("/api/v1/namespaces/default/events", resourceVersion=version) as core,
        api.watch("/apis/events.k8s.io/v1/namespaces/default/events", resourceVersion=version) as new,
    ):
        api.made("/api/v1/namespaces/default/events", event)
        assert core.next()["object"]["message"] == "hello"
        assert new.next()["object"]["note"] == "hello"


def test_a_watch_ends_when_its_kind_is_no_longer_served(api: Api) -> None:
    api.made(DEFINITIONS, definition())
    api.made(WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
    with api.watch(WIDGETS, resourceVersion=version_of(api)) as lines:
        api.delete(f"{DEFINITIONS}/widgets.example.com")
        assert [event["type"] for event in lines.rest()] == ["DELETED"]


def test_all_watches_end_when_the_server_stops(api: Api) -> None:
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api)) as lines:
        api.server.call(api.app.stop)
        assert lines.rest() == []


def test_a_client_that_leaves_takes_its_watch_with_it(api: Api) -> None:
    def open_watches() -> int:
        counts: dict[object, int] = api.server.call(api.app.watches.counts)
        return sum(counts.values())

    with api.watch(CONFIGMAPS, resourceVersion=version_of(api)):
        assert open_watches() == 1
    waited = threading.Event()
    for _ in range(200):
        if open_watches() == 0:
            return
        waited.wait(0.02)
    raise AssertionError("the watch is still there")


def test_what_follows_quickly_is_told_together_and_nothing_is_left_out(api: Api) -> None:
    with api.watch(CONFIGMAPS, resourceVersion=version_of(api), labelSelector="app=x") as lines:
        for number in range(50):
            api.made(CONFIGMAPS, config(f"c{number}", labels={"app": "x" if number % 2 else "y"}))
        assert [lines.told()[1] for _ in range(25)] == [f"c{number}" for number in range(1, 50, 2)]


def test_many_watchers_all_hear_everything(api: Api) -> None:
    count = 30
    watchers = 20
    version = version_of(api)
    heard: list[list[str]] = []

    def listen() -> None:
        with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
            heard.append([lines.told()[1] for _ in range(count)])

    threads = [threading.Thread(target=listen) for _ in range(watchers)]
    for thread in threads:
        thread.start()
    for number in range(count):
        api.made(CONFIGMAPS, config(f"c{number:02}"))
    for thread in threads:
        thread.join(20)
    assert heard == [[f"c{number:02}" for number in range(count)]] * watchers
