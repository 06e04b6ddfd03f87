"""Paths of printer columns: what they find is held against a real server elsewhere; here is what they refuse."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.apiserver.tables.jsonpath import PathError, compile_path, find

LION = {"spec": {"names": ["leo", "lea"], "ages": [{"n": 1}, {"n": 2.5}, {"n": True}, {"n": None}]}}


@pytest.mark.parametrize(
    "path",
    [
        ".spec.names[a]",
        ".spec.names[0",
        ".spec.names[-]",
        f".spec.names[{'9' * 5000}]",
        ".spec.names[?(@.n==1]",
        '.spec.ages[?(@.n=~"x")]',
        ".spec.ages[?(@.n=='x)]",
        ".spec}",
        ".spec[?(@.n==1-.)]",
        ".spec['a',b]",
    ],
    ids=lambda path: path[:30],
)
def test_a_path_that_cannot_be_read_says_what_is_wrong(path: str) -> None:
    with pytest.raises(PathError, match="The path"):
        compile_path(path)


@pytest.mark.parametrize(
    "path",
    [
        ".spec.names[7]",
        ".spec.names[-3]",
        ".spec.names[1:9]",
        ".spec.names[0:2:0]",
        ".spec[0]",
        ".spec[?(@.n==1)]",
        ".spec.ages[?(@.n=='x')]",
        ".spec.ages[?(@.n<true)]",
        ".spec.ages[*][?(@.n==1)]",
        ".spec.ages[?(@.n==@..n)]",
        "spec.names",
    ],
)
def test_a_path_that_does_not_fit_the_object_is_refused_when_it_is_followed(path: str) -> None:
    steps = compile_path(path)
    with pytest.raises(PathError):
        find(steps, LION)


@given(st.text(alphabet=".[]?()@$*'\"\\:,-+=<>!ab01 {}", max_size=20))
def test_any_text_is_either_a_path_or_refused(text: str) -> None:
    try:
        found = find(compile_path(text), LION)
    except PathError:
        return
    assert json.dumps(found)
