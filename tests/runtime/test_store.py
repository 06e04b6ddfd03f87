"""What a store answers is what a look at every object would say, whatever came, changed and went."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.api.core.types import View as Struct
from mooring.api.kinds import Indexers, Key, Kind
from mooring.api.meta import Meta
from mooring.runtime.dispatcher.store import Store


class Thing(Struct, frozen=True):
    metadata: Meta = Meta()
    colours: tuple[str, ...] = ()
    size: int = 0


def _by_colour(thing: Thing) -> Iterable[str]:
    return thing.colours


def kind(placed_by: tuple[str, ...] | None) -> Kind[Thing]:
    counters = {"any": lambda thing: True, "big": lambda thing: thing.size > 1, "sizes": lambda thing: thing.size}
    return Kind("v1", "Thing", Thing, {"colour": _by_colour}, counters, placed_by)


KINDS = st.sampled_from([kind(None), kind(("colours",))])

COLOURS = ("red", "green", "blue")
NAMES = st.sampled_from("abcd")
CHANGES = st.lists(
    st.tuples(NAMES, st.none() | st.tuples(st.lists(st.sampled_from(COLOURS), max_size=4), st.integers(0, 3))),
    max_size=30,
)
QUESTIONS = [("colour", colour, counter) for colour in COLOURS for counter in ("", "any", "big", "sizes")]


def answers(store: Store[Any]) -> dict[tuple[str, str, str], Any]:
    return {
        (index, value, counter): store.count(index, value, counter) if counter else store.members(index, value)
        for index, value, counter in QUESTIONS
    }


def expected(things: dict[str, Thing]) -> dict[tuple[str, str, str], Any]:
    found: dict[tuple[str, str, str], Any] = {}
    for _, colour, counter in QUESTIONS:
        members = [things[name] for name in sorted(things) if colour in things[name].colours]
        counted = {
            "": tuple(members),
            "any": len(members),
            "big": sum(thing.size > 1 for thing in members),
            "sizes": sum(thing.size for thing in members),
        }
        found["colour", colour, counter] = counted[counter]
    return found


@given(KINDS, CHANGES)
def test_lists_and_counts_follow_every_change_and_name_what_changed(kind: Kind[Thing], changes: list[Any]) -> None:
    store: Store[Any] = Store(kind)
    things: dict[str, Thing] = {}
    for version, (name, wanted) in enumerate(changes, start=1):
        before = answers(store)
        if wanted is None:
            things.pop(name, None)
            change = store.remove(Key("", name), version)
        else:
            meta = {"name": name, "resourceVersion": str(version)}
            obj = {"metadata": meta, "colours": wanted[0], "size": wanted[1]}
            things[name] = msgspec.convert(obj, Thing)
            change = store.put(obj)
        after = answers(store)
        assert after == expected(things)
        different = {question for question in QUESTIONS if before[question] != after[question]}
        told = set() if change is None else {lookup[1:] for lookup in store.lookups(change, {"colour"})}
        assert different <= told
        assert {question for question in told if question[2]} <= different
        assert change is None or store.lookups(change, {"owner"}) == []


def test_a_controller_adds_questions_of_its_own_to_a_kind_that_it_shares() -> None:
    shared = Kind("v1", "Thing", Thing, counters={"any": lambda thing: True})
    own = Indexers(shared, {"size": lambda thing: (str(thing.size),)}, {"sizes": lambda thing: thing.size}, ("size",))
    store: Store[Any] = Store(shared, [own, own, Indexers(Kind("v1", "Other", Thing), {"size": lambda thing: ()})])
    for version, size in enumerate((2, 2, 3), start=1):
        store.put({"metadata": {"name": f"t{version}", "resourceVersion": str(version)}, "size": size})
    assert [thing.metadata.name for thing in store.members("size", "2")] == ["t1", "t2"]
    assert store.count("all", "", "sizes") == 7
    change = store.put({"metadata": {"name": "t1", "resourceVersion": "9"}, "size": 3})
    assert store.count("size", "3", "sizes") == 6
    assert change is not None
    assert (shared, "all", "", "sizes") in store.lookups(change, {"all"})


def test_two_controllers_cannot_give_one_name_to_different_questions() -> None:
    shared = Kind("v1", "Thing", Thing)
    added = [Indexers(shared, {"size": lambda thing: ()}) for _ in range(2)]
    with pytest.raises(ValueError, match="index or counter 'size' already"):
        Store(shared, added)
