"""What a store answers is what a look at every object would say, whatever came, changed and went."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from mooring.api.core.types import View as Struct
from mooring.api.kinds import Key, Kind
from mooring.api.meta import Meta
from mooring.runtime.store import Store


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
        told = set() if change is None else set(store.lookups(change, {"colour"}))
        assert different <= told
        assert {question for question in told if question[2]} <= different
        assert change is None or store.lookups(change, {"owner"}) == []
