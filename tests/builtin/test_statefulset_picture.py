"""A set that is counted is the set that a look at every pod would show."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mooring.builtin.kinds import BLOCKS, STATEFUL_SET
from mooring.builtin.statefulset_picture import Picture, take_picture
from mooring.runtime.view import View
from mooring.testing.views import view_of
from tests.builtin.test_statefulset import KEY, LABELS, NEW, OLD, pod, stateful_set

# What stands at an ordinal: nothing, a pod of either revision, or one that is not healthy.
STATES = st.sampled_from(["old"] * 8 + ["new"] * 4 + ["none", "pending", "deleting"])
# Long rows of equals are what counting is for.
ROWS = st.lists(st.tuples(STATES, st.integers(1, BLOCKS[1] + 3)), max_size=6)
MORE: dict[str, dict[str, Any]] = {
    "old": {},
    "new": {"revision": NEW},
    "pending": {"phase": "Pending"},
    "deleting": {"deleting": True},
}


@given(ROWS, st.integers(0, 9), st.integers(0, 200))
def test_counting_shows_what_looking_shows(rows: list[tuple[str, int]], start: int, replicas: int) -> None:
    states = [state for state, length in rows for _ in range(length)]
    pods = [pod(start + place, **MORE[state]) for place, state in enumerate(states) if state != "none"]
    view = view_of([stateful_set(replicas, ordinals={"start": start}), *pods])
    assert _shown(_picture(view, whole=False)) == _shown(_picture(view, whole=True))


def _picture(view: View, *, whole: bool) -> Picture:
    found = view.get(STATEFUL_SET, *KEY)
    assert found is not None
    return take_picture(view, found, {OLD: LABELS, NEW: LABELS}, whole=whole)


def _shown(picture: Picture) -> tuple[Any, ...]:
    ordinals = range(picture.start, picture.start + picture.replicas)
    return (
        [picture.revision_at(ordinal) for ordinal in ordinals],
        [picture.of_revision(revision) for revision in (OLD, NEW)],
        picture.settled_count + len(picture.present),
        {ordinal: pod for ordinal, pod in picture.pods.items() if not pod.healthy},
        picture.condemned,
        picture.revisions,
    )
