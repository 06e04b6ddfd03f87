"""Keys that wait for their own writes: held as long as something is unseen, and no longer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mooring.api.kinds import Key
from mooring.runtime.dispatcher.expectations import Expectations
from mooring.runtime.dispatcher.store import Store
from tests.runtime.sample import CONFIG_MAP

A, B = Key("default", "a"), Key("default", "b")


class Desk:
    """One store and the keys that wait for it."""

    def __init__(self) -> None:
        self.store: Store[Any] = Store(CONFIG_MAP)
        self.expectations: Expectations[str] = Expectations({CONFIG_MAP: self.store})

    def see(self, version: int) -> list[str]:
        self.store.seen = max(self.store.seen, version)
        return self.expectations.over()

    def put(self, key: Key, uid: str, **meta: str) -> None:
        self.store.put({"metadata": {"name": key.name, "namespace": key.namespace, "uid": uid, **meta}})
        self.expectations.changed(CONFIG_MAP, key)

    def remove(self, key: Key) -> None:
        self.store.remove(key, 100)
        self.expectations.changed(CONFIG_MAP, key)


def test_a_key_is_held_until_its_version_is_seen() -> None:
    desk = Desk()
    desk.expectations.expect("key", {CONFIG_MAP: 5}, ())
    assert desk.see(4) == []
    assert "key" in desk.expectations
    assert desk.see(5) == ["key"]
    assert "key" not in desk.expectations
    assert desk.see(6) == []


def test_what_has_been_seen_already_holds_nobody() -> None:
    desk = Desk()
    desk.see(9)
    desk.expectations.expect("key", {CONFIG_MAP: 5}, ())
    assert "key" not in desk.expectations
    assert desk.expectations.over() == ["key"]


def test_a_deletion_is_over_when_the_object_is_gone_or_on_its_way_out() -> None:
    desk = Desk()
    desk.put(A, "uid-a")
    desk.put(B, "uid-b")
    desk.expectations.expect("key", {}, [(CONFIG_MAP, A, "uid-a"), (CONFIG_MAP, B, "uid-b")])
    desk.remove(A)
    assert desk.expectations.over() == []
    desk.put(B, "uid-b", deletionTimestamp="2026-01-01T00:00:00Z")
    assert desk.expectations.over() == ["key"]


def test_another_object_of_the_same_name_is_not_the_one_that_was_deleted() -> None:
    desk = Desk()
    desk.put(A, "uid-a")
    desk.expectations.expect("key", {}, [(CONFIG_MAP, A, "uid-a")])
    desk.put(A, "uid-of-the-next")
    assert desk.expectations.over() == ["key"]


def test_a_key_that_was_let_go_is_not_let_go_again() -> None:
    desk = Desk()
    desk.expectations.expect("key", {CONFIG_MAP: 5}, ())
    assert desk.expectations.release(CONFIG_MAP) == ["key"]
    desk.expectations.expect("key", {CONFIG_MAP: 8}, ())
    assert desk.see(5) == []
    assert desk.see(8) == ["key"]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(1, 9)) | st.integers(1, 9), max_size=30))
def test_keys_go_on_exactly_when_their_last_version_is_seen(steps: list[Any]) -> None:
    desk = Desk()
    waiting: dict[str, int] = {}
    for step in steps:
        if isinstance(step, int):
            gone = desk.see(step)
        else:
            name, version = step
            if name in waiting:
                continue
            desk.expectations.expect(name, {CONFIG_MAP: version}, ())
            waiting[name] = version
            gone = desk.expectations.over()
        over = {name for name, version in waiting.items() if version <= desk.store.seen}
        assert set(gone) == over
        waiting = {name: version for name, version in waiting.items() if name not in over}
        assert len(desk.expectations) == len(waiting)


def test_a_kind_that_is_followed_no_more_holds_nobody() -> None:
    stores: dict[Any, Store[Any]] = {CONFIG_MAP: Store(CONFIG_MAP)}
    expectations: Expectations[str] = Expectations(stores)
    stores[CONFIG_MAP].put({"metadata": {"name": "a", "namespace": "default", "uid": "uid-a"}})
    expectations.expect("written", {CONFIG_MAP: 5}, ())
    expectations.expect("deleted", {}, [(CONFIG_MAP, A, "uid-a")])
    assert expectations.release(CONFIG_MAP) == ["written", "deleted"]
    del stores[CONFIG_MAP]
    expectations.changed(CONFIG_MAP, A)
    assert expectations.over() == []
