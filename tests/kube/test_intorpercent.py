"""Int-or-percent: how a number or a part of a whole is read and rounded."""

from __future__ import annotations

import pytest

from mooring.kube.intorpercent import IntOrPercent, IntOrPercentError, resolve


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [
        (3, 10, 3, 3),
        (0, 10, 0, 0),
        ("25%", 3, 1, 0),
        ("25%", 4, 1, 1),
        ("50%", 5, 3, 2),
        ("0%", 7, 0, 0),
        ("100%", 7, 7, 7),
        ("150%", 3, 5, 4),
        ("10%", 0, 0, 0),
    ],
)
def test_a_percentage_is_rounded_as_the_field_asks(value: IntOrPercent, total: int, up: int, down: int) -> None:
    assert (resolve(value, total, up=True), resolve(value, total, up=False)) == (up, down)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("3", "invalid type: string is not a percentage"),
        ("", "invalid type: string is not a percentage"),
        ("some%", 'invalid value "some%": strconv.Atoi: parsing "some": invalid syntax'),
        ("1_0%", 'invalid value "1_0%": strconv.Atoi: parsing "1_0": invalid syntax'),
        ("2.5%", 'invalid value "2.5%": strconv.Atoi: parsing "2.5": invalid syntax'),
    ],
)
def test_a_text_that_is_no_percentage_is_refused_in_the_api_servers_words(text: str, problem: str) -> None:
    with pytest.raises(IntOrPercentError) as refused:
        resolve(text, 10, up=True)
    assert str(refused.value) == f"invalid value for IntOrString: {problem}"
