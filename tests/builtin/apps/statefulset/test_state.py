"""A set that is counted is the set that a look at every pod would show."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.builtin.apps.statefulset.ordinals import BLOCKS, INDEX_LABEL
from mooring.builtin.apps.statefulset.state import ObservedPods, Span, observe_pods
from mooring.runtime.view import View
from mooring.testing.views import view_of
from mooring.workloads.kinds import STATEFUL_SET
from tests.builtin.apps.statefulset.objects import KEY, LABELS, NEW, OLD, pod, stateful_set

# What stands at an ordinal: nothing, a pod of either revision, one that is not healthy, or one with a wrong label.
STATES = st.sampled_from(["old"] * 8 + ["new"] * 4 + ["none", "pending", "deleting", "unlabelled", "mislabelled"])
# Long rows of equals are what counting is for.
ROWS = st.lists(st.tuples(STATES, st.integers(1, BLOCKS[1] + 3)), max_size=6)
MORE: dict[str, dict[str, Any]] = {
    "old": {},
    "new": {"revision": NEW},
    "pending": {"phase": "Pending"},
    "deleting": {"deleting": True},
    "unlabelled": {},
    "mislabelled": {},
}


@given(ROWS, st.integers(0, 9), st.integers(0, 200))
def test_counting_shows_what_looking_shows(rows: list[tuple[str, int]], start: int, replicas: int) -> None:
    states = [state for state, length in rows for _ in range(length)]
    pods = [_pod(start + place, state) for place, state in enumerate(states) if state != "none"]
    view = view_of([stateful_set(replicas, ordinals={"start": start}), *pods])
    assert _shown(_observe(view, whole=False)) == _shown(_observe(view, whole=True))


@pytest.mark.parametrize("missing", range(1, 8))
def test_a_pod_without_its_number_does_not_hide_one_that_is_missing(missing: int) -> None:
    pods = [_pod(ordinal, "unlabelled" if not ordinal else "old") for ordinal in range(9) if ordinal != missing]
    view = view_of([stateful_set(9), *pods])
    assert _observe(view, whole=False).revision_at(missing) is None


def _pod(ordinal: int, state: str) -> dict[str, Any]:
    made = pod(ordinal, **MORE[state])
    if state == "unlabelled":
        del made["metadata"]["labels"][INDEX_LABEL]
    elif state == "mislabelled":
        made["metadata"]["labels"][INDEX_LABEL] = str(ordinal + 1)
    return made


def _observe(view: View, *, whole: bool) -> ObservedPods:
    found = view.get(STATEFUL_SET, *KEY)
    assert found is not None
    return observe_pods(view, found, {OLD: LABELS, NEW: LABELS}, whole=whole)


def _shown(observed: ObservedPods) -> tuple[Any, ...]:
    ordinals = range(observed.start, observed.start + observed.replicas)
    return (
        [observed.revision_at(ordinal) for ordinal in ordinals],
        [observed.of_revision(revision) for revision in (OLD, NEW)],
        observed.settled_count + len(observed.present),
        {ordinal: pod for ordinal, pod in observed.pods.items() if not pod.healthy},
        observed.condemned,
        dict(observed.staying),
    )


def test_drawn_spans_leave_out_what_is_settled_and_no_more() -> None:
    for number in range(200):
        draw = Random(f"spans {number}")
        start, replicas = draw.randrange(5), draw.randrange(30)
        spans, at = [], start
        while (first := at + draw.randrange(4)) < start + replicas:
            end = min(first + draw.randrange(1, 6), start + replicas)
            spans.append(Span(first, end, draw.choice(["old", "new"])))
            at = end
        observed = ObservedPods(start, replicas, spans, {}, (), (), 0, {})
        every = range(start, start + replicas)
        settled = {ordinal: span.revision for span in spans for ordinal in range(span.first, span.end)}
        assert list(observed.ordinals()) == [each for each in every if each not in settled], spans
        wanted = [each for each in reversed(every) if settled.get(each) != "new"]
        assert list(observed.outdated("new")) == wanted, spans
