"""Node selectors: terms, fields, and terms that cannot be read."""

from typing import Any

import pytest

from mooring.kube.nodeselectors import node_selector

NODE = ({"zone": "a", "gpus": "8"}, "n1")


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def term(*expressions: dict[str, Any], fields: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"matchExpressions": list(expressions), "matchFields": list(fields)}


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        pytest.param([], False, id="no term matches no node"),
        pytest.param([{}], False, id="an empty term matches no node"),
        pytest.param([{}, term(expression("zone", "In", "a"))], True, id="an empty term does not spoil another"),
        pytest.param([term(expression("zone", "In", "b")), term(expression("zone", "Exists"))], True, id="any term"),
        pytest.param([term(expression("zone", "In", "a"), expression("gpus", "Lt", "8"))], False, id="all conditions"),
        pytest.param([term(expression("gpus", "Gt", "7"))], True, id="greater than"),
        pytest.param([term(expression("zone", "Gt", "7"))], False, id="a label that is no number"),
        pytest.param([term(expression("rack", "NotIn", "r1"))], True, id="a missing label is not in anything"),
        pytest.param([term(fields=(expression("metadata.name", "In", "n1"),))], True, id="the name"),
        pytest.param([term(fields=(expression("metadata.name", "NotIn", "n1"),))], False, id="not the name"),
        pytest.param([term(expression("gpus", "Gt", "many"))], False, id="a bound that is no number"),
        pytest.param(
            [term(expression("gpus", "Gt", "many")), term(expression("zone", "Exists"))], True, id="is passed over"
        ),
    ],
)
def test_matches(terms: list[dict[str, Any]], matches: bool) -> None:
    assert node_selector({"nodeSelectorTerms": terms}).matches(*NODE) is matches


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (term(expression("gpus", "Gt", "many")), "matchExpressions[0].values[0]: Invalid value"),
        (
            term(expression("gpus", "Near", "1")),
            'matchExpressions[0].operator: Unsupported value: "Near": supported values: "In"',
        ),
        (
            term(fields=(expression("metadata.name", "Exists"),)),
            'matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
        ),
        (
            term(fields=(expression("metadata.name", "In", "a", "b"),)),
            'matchFields[0].values: Invalid value: ["a","b"]: must have one element',
        ),
    ],
)
def test_a_term_that_cannot_be_read_says_why(bad: dict[str, Any], error: str) -> None:
    (found,) = node_selector({"nodeSelectorTerms": [bad]}).errors
    assert error in found
