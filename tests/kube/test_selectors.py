"""Selectors: what they match, that equal ones are one, and the one-line form with its complaints."""

import contextlib
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.errors import SelectorError
from mooring.kube.selectors import (
    EVERYTHING,
    NOTHING,
    Operator,
    Requirement,
    Selector,
    make_requirement,
    parse_int64,
    parse_selector,
    selector_from_dict,
    selector_from_labels,
)

LABELS = {"app": "web", "tier": "front", "gpus": "8", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        pytest.param("", True, id="nothing asked, everything matches"),
        pytest.param("app=web", True, id="equality"),
        pytest.param("app==web", True, id="equality with two signs"),
        pytest.param("app=db", False, id="another value"),
        pytest.param("missing=x", False, id="a missing label is equal to nothing"),
        pytest.param("app!=db", True, id="inequality"),
        pytest.param("missing!=x", True, id="a missing label is unequal to everything"),
        pytest.param("app in (db, web)", True, id="one of several"),
        pytest.param("app notin (db,web)", False, id="none of several"),
        pytest.param("app", True, id="existence"),
        pytest.param("!app", False, id="absence"),
        pytest.param("!missing", True, id="absence of what is absent"),
        pytest.param("empty=", True, id="an empty value is a value"),
        pytest.param("app=", False, id="and differs from others"),
        pytest.param("gpus>4", True, id="greater than"),
        pytest.param("gpus>8", False, id="not greater than itself"),
        pytest.param("gpus<9", True, id="less than"),
        pytest.param("app<9", False, id="a label that is no number is not less"),
        pytest.param("missing>1", False, id="a missing label is not greater"),
        pytest.param("app=web,tier=front,gpus", True, id="all of three"),
        pytest.param("app=web,tier=back", False, id="not all of two"),
        pytest.param("in in (in),notin", False, id="keywords can be words"),
    ],
)
def test_matches(text: str, matches: bool) -> None:
    assert parse_selector(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,", "found '', expected: identifier after ','"),
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (!)", "unable to parse requirement: found '!', expected: ',', ')' or identifier"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (,=", "unable to parse requirement: found '=', expected: ',', or identifier"),
        ("a>x", "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"),
        ("-a=b", 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'),
        ("a=-b", 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be'),
    ],
)
def test_complains_in_the_words_of_the_api(text: str, complaint: str) -> None:
    with pytest.raises(SelectorError) as caught:
        parse_selector(text)
    assert complaint in str(caught.value)


def test_missing_selects_nothing_and_empty_selects_everything() -> None:
    assert selector_from_dict(None) is NOTHING
    assert not NOTHING.matches({})
    assert not NOTHING.empty
    assert NOTHING.with_requirements([Requirement("a", "Exists")]) is NOTHING
    assert selector_from_dict({}) is EVERYTHING
    assert selector_from_labels(None) is EVERYTHING
    assert EVERYTHING.matches({})
    assert EVERYTHING.empty


def test_equal_selectors_are_one_object() -> None:
    written = selector_from_dict({"matchLabels": {"a": "x", "b": "y"}})
    assert written is parse_selector("b in (y),a==x")
    assert written is selector_from_labels({"b": "y", "a": "x"})
    assert written is EVERYTHING.with_requirements(written.requirements)
    assert written is not parse_selector("a=x")
    for selector in (written, NOTHING, EVERYTHING):
        assert pickle.loads(pickle.dumps(selector)) is selector
    assert repr(written) == "Selector('a=x,b=y')"
    assert repr(NOTHING) == "NOTHING"


@pytest.mark.parametrize(
    ("selector", "complaint"),
    [
        ({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}, '"Gt" is not a valid label selector'),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "values set can't be empty"),
        ({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}, "values set must be empty"),
        ({"matchLabels": {"a": 1}}, "a label selector has matchLabels"),
        ({"matchLabels": {"a": []}}, "a label selector has matchLabels"),
        ({"matchLabels": ["a"]}, "a label selector has matchLabels"),
        ({"matchExpressions": ["a"]}, "a label selector has matchLabels"),
        ("a=b", "a label selector has matchLabels"),
    ],
)
def test_refuses_what_is_no_label_selector(selector: Any, complaint: str) -> None:
    with pytest.raises(SelectorError, match=complaint.replace("(", r"\(")):
        selector_from_dict(selector)


def test_comparisons_take_exactly_one_value() -> None:
    with pytest.raises(SelectorError, match="exactly one value is required"):
        make_requirement("a", "Gt", ["1", "2"], "matchExpressions[0]")


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-007", -7), ("+7", 7), (str(2**63 - 1), 2**63 - 1), (str(2**63), None), ("9" * 30, None), ("", None),
     ("1.0", None), ("٣", None), ("0" * 40 + "1", 1)],
)  # fmt: skip
def test_numbers_are_decimal_and_fit_in_64_bits(text: str, number: int | None) -> None:
    assert parse_int64(text) == number


keys = st.from_regex(r"[a-z]([a-z0-9.-]{0,8}[a-z0-9])?(/[A-Za-z0-9]{1,4})?", fullmatch=True).filter(
    lambda key: "/" in key or key not in ("in", "notin")
).filter(lambda key: ".." not in key and ".-" not in key and "-." not in key)  # fmt: skip
values = st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9])?)?", fullmatch=True)


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    op: Operator = draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]))
    if op in ("Exists", "DoesNotExist"):
        return make_requirement(draw(keys), op)
    if op in ("Gt", "Lt"):
        return make_requirement(draw(keys), op, [str(draw(st.integers(0, 2**40)))])
    return make_requirement(draw(keys), op, draw(st.lists(values, min_size=1, max_size=3)))


label_maps = st.dictionaries(keys, values | st.integers(0, 100).map(str), max_size=5)


@given(st.lists(requirements(), max_size=4))
def test_printing_and_parsing_again_gives_the_same_object(made: list[Requirement]) -> None:
    selector = Selector(made)
    assert parse_selector(str(selector)) is selector


@given(st.lists(requirements(), max_size=4), label_maps)
def test_a_selector_is_the_conjunction_of_its_requirements(made: list[Requirement], labels: dict[str, str]) -> None:
    assert Selector(made).matches(labels) is all(requirement.matches(labels) for requirement in made)


@given(keys, st.lists(values, min_size=1, max_size=3), label_maps)
def test_in_and_notin_are_complements(key: str, members: list[str], labels: dict[str, str]) -> None:
    inside, outside = make_requirement(key, "In", members), make_requirement(key, "NotIn", members)
    assert inside.matches(labels) is not outside.matches(labels)


@given(keys, label_maps)
def test_existence_and_absence_are_complements(key: str, labels: dict[str, str]) -> None:
    assert make_requirement(key, "Exists").matches(labels) is not make_requirement(key, "DoesNotExist").matches(labels)


@given(st.text(max_size=20) | st.text("ab=!,()<> in", max_size=20))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(SelectorError):
        assert parse_selector(str(parse_selector(text))) is parse_selector(text)
