"""Laws of server-side apply, for any writers and any objects."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from mooring.kube.apply import ApplyConflict, decode_fields, encode_fields, paths, update
from mooring.kube.apply.fieldsets import (
    covers,
    difference,
    has_path,
    intersection,
    named_fields_as_members,
    recursive_difference,
    union,
)
from mooring.kube.apply.typed import field_set
from tests.kube.apply.world import SCHEMA, VERSION, World, thing

LETTERS = st.sampled_from("abc")
TEXTS = st.dictionaries(LETTERS, LETTERS, max_size=3)
SETS = st.lists(LETTERS, unique=True, max_size=3)
PARTS = st.lists(
    st.fixed_dictionaries({"name": LETTERS}, optional={"size": st.integers(0, 2), "tags": SETS}),
    max_size=3,
    unique_by=lambda each: each["name"],
)
FREE = st.recursive(
    LETTERS | st.integers(0, 2) | st.lists(LETTERS, max_size=2),
    lambda inner: st.dictionaries(LETTERS, inner, max_size=2),
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "replicas": st.integers(0, 2),
        "image": LETTERS,
        "labels": TEXTS,
        "selector": TEXTS,
        "command": st.lists(LETTERS, max_size=2),
        "tags": SETS,
        "parts": PARTS,
        "free": st.dictionaries(LETTERS, FREE, max_size=2),
    },
)
THINGS = SPECS.map(lambda spec: thing(**spec))
WRITES = st.lists(st.tuples(st.sampled_from(["apply", "update"]), st.sampled_from("xyz"), THINGS), max_size=4)


def after(writes: list[tuple[str, str, dict[str, Any]]]) -> World:
    world = World()
    for kind, manager, value in writes:
        world = world.applied(manager, value, force=True) if kind == "apply" else world.updated(manager, value)
    return world


@given(WRITES, THINGS)
def test_applying_twice_is_applying_once(writes: list[Any], wanted: dict[str, Any]) -> None:
    once = after(writes).applied("me", wanted, force=True)
    # An object that nobody owns anything of belongs to whoever wrote it before the next apply.
    assume(once.managed)
    twice = once.applied("me", wanted)
    assert twice.live == once.live
    assert twice.managed == once.managed


@given(WRITES, THINGS)
def test_what_was_applied_is_there_and_owned(writes: list[Any], wanted: dict[str, Any]) -> None:
    world = after(writes).applied("me", wanted, force=True)
    assert world.live is not None
    applied = {"f:spec": field_set(SCHEMA.properties["spec"], wanted["spec"])}
    if applied["f:spec"]:
        assert covers(named_fields_as_members(field_set(SCHEMA, world.live), SCHEMA), applied)
        assert covers(world.fields_of("me"), applied)


@given(WRITES, THINGS, THINGS)
def test_no_input_is_changed(writes: list[Any], first: dict[str, Any], second: dict[str, Any]) -> None:
    world = after(writes)
    before = json.dumps([world, first, second])
    made = world.applied("me", first, force=True)
    made.applied("me", second, force=True)
    made.updated("me", second)
    assert json.dumps([world, first, second]) == before


@given(THINGS, THINGS, st.data())
def test_a_dropped_field_goes_if_and_only_if_nobody_else_owns_it(
    others: dict[str, Any], mine: dict[str, Any], data: st.DataObject
) -> None:
    world = World().applied("other", others).applied("me", mine, force=True)
    if not mine["spec"]:
        return
    dropped = data.draw(st.sampled_from(sorted(mine["spec"])))
    rest = thing(**{name: value for name, value in mine["spec"].items() if name != dropped})
    owned = (world.fields_of("other") or {}).get("f:spec", {})
    if f"f:{dropped}" not in owned and f"f:{dropped}" in (world.fields_of("me") or {}).get("f:spec", {}):
        left = world.applied("me", rest, force=True).live or {}
        # Null stays where an empty list was before, as it does in the API; pruning drops it afterwards.
        assert (left.get("spec") or {}).get(dropped) is None
    elif f"f:{dropped}" in owned:
        left = world.applied("me", rest, force=True).live or {}
        fields = named_fields_as_members(field_set(SCHEMA, left), SCHEMA)
        assert covers(fields, {"f:spec": {f"f:{dropped}": owned[f"f:{dropped}"]}})


@given(SPECS, SPECS)
def test_appliers_of_different_fields_commute(left: dict[str, Any], right: dict[str, Any]) -> None:
    right = {name: value for name, value in right.items() if name not in left}
    one = World().applied("a", thing(**left)).applied("b", thing(**right))
    other = World().applied("b", thing(**right)).applied("a", thing(**left))
    assert one.live == other.live
    assert [one.fields_of(name) for name in "ab"] == [other.fields_of(name) for name in "ab"]


@given(WRITES, THINGS)
def test_without_force_nothing_of_others_changes(writes: list[Any], wanted: dict[str, Any]) -> None:
    world = after(writes)
    assume(world.managed)
    try:
        made = world.applied("me", wanted)
    except ApplyConflict:
        return
    assert {name: made.fields_of(name) for name in world.managers} == {
        name: world.fields_of(name) for name in world.managers
    }


FIELDS = THINGS.map(lambda value: field_set(SCHEMA, value))


@given(FIELDS)
def test_a_set_survives_storage(fields: dict[str, Any]) -> None:
    stored = json.loads(json.dumps(encode_fields(fields)))
    assert decode_fields(stored) == fields
    assert list(paths(decode_fields(stored))) == list(paths(fields))


@given(FIELDS, FIELDS)
def test_sets_behave_as_sets(left: dict[str, Any], right: dict[str, Any]) -> None:
    ours, theirs = set(paths(left)), set(paths(right))
    assert set(paths(union(left, right))) == ours | theirs
    assert set(paths(intersection(left, right))) == ours & theirs
    assert set(paths(difference(left, right))) == ours - theirs
    assert covers(left, right) is (theirs <= ours)
    assert all(has_path(left, path) for path in ours)
    below = {path for path in ours if not any(path[: len(other)] == other for other in theirs)}
    assert set(paths(recursive_difference(left, right))) == below


def test_spellings_of_a_step_are_one() -> None:
    spelt: dict[str, Any] = {'k:{"b": 2, "a":1.0}': {}, 'v:"<"': {}, "x:future": {}}
    assert decode_fields(spelt) == {'k:{"a":1,"b":2}': {}, 'v:"\\u003c"': {}}


TIMES = [f"2024-01-01T00:00:0{second}Z" for second in range(4)]
UPDATES = st.lists(
    st.tuples(st.sampled_from("xyz"), THINGS, st.sampled_from(["", "status"]), st.sampled_from(TIMES)), max_size=5
)


@given(WRITES, UPDATES)
def test_what_is_remembered_of_alike_writes_is_what_working_it_out_gives(
    writes: list[Any], updates: list[tuple[str, dict[str, Any], str, str]]
) -> None:
    world = after(writes)
    live, managed = world.live, world.managed
    assume(live is not None and managed)
    for manager, new, subresource, time in updates:
        new = {**new, "metadata": {**new["metadata"], "uid": "1"}, "status": {"ready": len(time)}}
        # A converter, even one that changes nothing, has the traces worked out anew.
        worked_out = update(
            live, new, manager, SCHEMA, managed, VERSION, time, subresource, convert=lambda obj, _: (obj, SCHEMA)
        )
        remembered = [
            update(live, new, manager, SCHEMA, managed, VERSION, time, subresource) for _ in ("learnt", "known")
        ]
        assert remembered == [worked_out, worked_out]
        live, managed = new, worked_out
        if not managed:
            return
