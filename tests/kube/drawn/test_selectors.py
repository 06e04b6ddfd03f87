"""Drawn selectors of labels and nodes: what they match, and what is said of those that are none."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

from mooring.kube import selectors
from mooring.kube.nodeselectors import node_requirement, node_selector
from tests.kube.drawn.drawing import answer, answers, variants
from tests.support.golden import same_as_recorded

_LABELS: tuple[dict[str, str], ...] = (
    {},
    {"a": "1"},
    {"a": "2", "b": "x"},
    {"a": "", "b": "1"},
    {"a": "-5", "c": "+07"},
    {"a": "many", "b": "x", "c": "1"},
    {"a": "9223372036854775807", "x/y": "1"},
)


def _found(selector: selectors.Selector) -> str:
    matched = [number for number, labels in enumerate(_LABELS) if selector.matches(labels)]
    return f"{selector!r} {selector.empty} {selector.nothing} {selector.requirements} matches {matched}"


def _written(text: str) -> str:
    return _found(selectors.parse_selector(text))


def _made(selector: Any) -> str:
    return _found(selectors.selector_from_dict(selector))


def test_selectors_written_on_one_line() -> None:
    samples = [
        "a=1",
        "a==1,b!=x",
        "a in (1,2),!c",
        "a notin (1, 2),b",
        "a>1,a<7",
        "x/y in ()",
        "a in (,1),b=",
        "!x/y",
        "",
    ]
    samples += [
        "a,b,c",
        "a in (1,,2)",
        "a in (,)",
        "a in (,,)",
        "a in (1,)",
        "in in (in)",
        "notin",
        "a=,b",
        "a=1,",
        ",a",
        "!",
    ]
    samples += [
        "a=1 b",
        "a!1",
        "a in 1",
        "a in (1 2)",
        "a in (1",
        "a (1)",
        "a=(",
        "a>x",
        "a>1,b>2",
        "A B",
        "-a",
        "a=-",
        "!a=1",
    ]
    texts = variants(2, samples, "ab1,=!()<> -x", 22)
    same_as_recorded("kube-selector-lines", {each: answer(_written, each) for each in texts})


def _drawn_selector(draw: Random) -> Any:
    def expression() -> Any:
        made: dict[str, Any] = {"key": draw.choice(("a", "b", "c", "x/y", "-", "")), "operator": draw.choice(operators)}
        values = draw.choice((None, [], ["1"], ["1", "2"], ["x", "1", "1"], ["-"], [""], ["é", "many"]))
        if values is not None:
            made["values"] = values
        return (
            made
            if draw.random() < 0.95
            else draw.choice(("a", None, {}, {"key": 1, "operator": "In", "values": ["1"]}))
        )

    operators = ("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "")
    made: dict[str, Any] = {}
    if draw.random() < 0.5:
        values = ("1", "x", "", "2", "-", 1)
        made["matchLabels"] = {
            draw.choice(("a", "b", "x/y", "_")): draw.choice(values) for _ in range(draw.randrange(3))
        }
    if draw.random() < 0.7:
        made["matchExpressions"] = [expression() for _ in range(draw.randrange(4))]
    return made


def test_selectors_that_are_objects() -> None:
    draw = Random(3)
    cases: list[Any] = [None, {}, {"matchLabels": None}, {"matchLabels": []}, {"matchLabels": ["a"]}, "a", 1, []]
    cases += [{"matchExpressions": "a"}, {"matchExpressions": {}}, {"matchExpressions": [["a"]]}]
    cases += [_drawn_selector(draw) for _ in range(600)]
    said = {f"{number} {each!r}": answer(_made, each) for number, each in enumerate(cases)}
    said["labels"] = answers(
        lambda each: _found(selectors.selector_from_labels(each)), [None, {}, {"a": "1", "b": "x"}]
    )
    same_as_recorded("kube-selector-objects", said)


def test_requirements_say_everything_that_is_wrong_with_them() -> None:
    operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    listed = (None, (), ("1",), ("2", "1", "1"), ("x",), ("-",), ("1", "x", "-"), ("9223372036854775808",), ("é" * 40,))
    cases = list(product(("a", "-", "x/y"), operators, listed, ("", "spec[0]")))
    same_as_recorded("kube-requirements", {repr(each): answer(selectors.make_requirement, *each) for each in cases})


def test_what_selectors_have_in_common() -> None:
    nothing, everything = selectors.NOTHING, selectors.EVERYTHING
    one, two = selectors.make_requirement("a", "In", ("1",)), selectors.make_requirement("b", "Exists")
    assert selectors.Selector([one, two]) is selectors.Selector([two, one, one])
    assert selectors.Selector([one]).with_requirements([two]) is selectors.Selector([one, two])
    assert nothing.with_requirements([one]) is nothing
    assert everything.with_requirements([]) is everything
    assert [
        selectors.parse_int64(each) for each in ("", "+", "1", "-0", "+007", "1.", str(2**63), str(-(2**63)), "0" * 30)
    ] == [*(None, None, 1, 0, 7, None, None, -(2**63), 0)]
    assert selectors.parse_int64(str(2**63 - 1)) == 2**63 - 1
    assert selectors.parse_int64(str(-(2**63) - 1)) is None
    assert selectors.parse_int64("1" + "0" * 19) is None


def test_a_node_requirement_by_itself_names_the_field_alone() -> None:
    text = answer(node_requirement, {"key": "a", "operator": "Near"})
    assert text.startswith('! SelectorError operator: Unsupported value: "Near": supported values: "In", "NotIn"')
    assert answer(node_requirement, {"key": "-", "operator": "Exists"}).startswith("! SelectorError key: Invalid value")
    assert answer(node_requirement, {"operator": "Exists"}).startswith('! SelectorError key: Invalid value: ""')


def test_node_selectors() -> None:
    draw, said = Random(4), {}
    operators = ("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near", None)

    def expression(keys: tuple[str, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {"key": draw.choice(keys), "operator": draw.choice(operators)}
        made["values"] = draw.choice((None, [], ["1"], ["n0"], ["n0", "n1"], ["x"], ["many"]))
        return {name: value for name, value in made.items() if value is not None}

    for number in range(500):
        terms = [
            {
                field: [expression(keys) for _ in range(draw.randrange(3))]
                for field, keys in (("matchExpressions", ("a", "b", "-")), ("matchFields", ("metadata.name", "other")))
                if draw.random() < 0.6
            }
            for _ in range(draw.randrange(3))
        ]
        found = node_selector({"nodeSelectorTerms": terms} if terms or draw.random() < 0.5 else {})
        matched = [
            (name, at) for name in ("n0", "n1", "") for at, labels in enumerate(_LABELS) if found.matches(labels, name)
        ]
        states = [(term.empty, str(term.labels), str(term.fields)) for term in found.terms]
        said[f"{number} {terms}"] = f"{states} {found.errors} matches {matched}"
    same_as_recorded("kube-node-selectors", said)
