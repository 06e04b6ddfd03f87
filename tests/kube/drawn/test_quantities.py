"""Drawn quantities: how they are read, shown, rounded, compared and added up."""

from __future__ import annotations

from itertools import product
from operator import add, sub
from typing import Any

from mooring.kube import quantities
from mooring.kube.quantities import Quantity
from tests.kube.drawn.drawing import answer, variants
from tests.support.golden import same_as_recorded

_NUMERALS = (
    *(
        "0",
        "1",
        "-1",
        "+1",
        "7",
        "10",
        "99",
        "100",
        "999",
        "1000",
        "1001",
        "1023",
        "1024",
        "1025",
        "1536",
        "0.5",
        "1.5",
    ),
    *("-0.5", "-1.5", "0.1", "1.001", "1.0001", "0.000000001", "0.0000000001", "1.0000000015", "-1.0000000015", "007"),
    *(
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
    ),
    *(
        "-9223372036854775809",
        "12345678901234567890",
        "123456789012345678.9",
        ".5",
        "5.",
        ".",
        "-",
        "+",
        "",
        "00",
        "0.0",
    ),
    *("8796093022207", "8796093022208", "15", "8191", "8192", "123456", "1000000", "1048576", "12345678901234"),
)
_SUFFIXES = (
    "",
    "n",
    "u",
    "m",
    "k",
    "M",
    "G",
    "T",
    "P",
    "E",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "Pi",
    "Ei",
    "e3",
    "E3",
    "e-3",
    "e18",
)
_ODD = (
    *(
        "1e",
        "1e+",
        "1e-",
        "1e3x",
        "1K",
        "1mi",
        "1ee3",
        "e3",
        "Ki",
        "1e19",
        "1e-10",
        "1e-19",
        "1e-30",
        "1e1000",
        "1e10000",
    ),
    *("1e99999999999999999999", "1e9223372036854775807", "1e9223372036854775808", "1e2147483648", "1e4294967296"),
    *("1234567890123456789e3972", "1234567890123456789e3973", "1234567890123456789e4001", "1 ", " 1", "1\n", "1 k"),
    *("1e²", "1e٣", "1.2.3", "1..", "--1", "+-1", "1+", "1m+3", "1e+3", "1e-3", "0e5", "0Ki", "0.0Ki", "0.000n", "-0"),
)


def _read(given: Any) -> str:
    found = quantities.parse_quantity(given)
    views = [answer(found.scaled, each) for each in (-9, -6, -3, -1, 0, 1, 3, 4, 6, 9)]
    rounded = [str(found.round_up(each)) for each in (-9, -6, -3, 0, 3)]
    facts = (str(found), found.style, found.big, quantities.value(given), quantities.milli_value(given), bool(found))
    return f"{facts} {', '.join(views)} {' '.join(rounded)} {-found} {found * 3} {found * -1}"


def test_quantities_are_read_shown_and_rounded() -> None:
    texts = [number + suffix for number in _NUMERALS for suffix in _SUFFIXES]
    given: list[Any] = [*texts, *_ODD, 0, 5, -7, 0.5, 1e21, 1e22, 1e-7, 2**70, True, None, [], float("inf")]
    given += variants(1, ["1.5Gi", "100m", "-12e3", "+0.25Ti"], "0129.eEmkKi+- ", 60)
    said = {f"{number} {each!r}": answer(_read, each) for number, each in enumerate(given)}
    same_as_recorded("kube-quantities", said)


def test_quantities_compare_and_add_up_as_their_amounts_do() -> None:
    texts = (
        "0",
        "-1",
        "1",
        "10",
        "1000m",
        "999m",
        "1k",
        "1Ki",
        "1e3",
        "1e18",
        "9E",
        "-9E",
        "1e30",
        "1e-30",
        "0.1",
        "1n",
    )
    found = [quantities.parse_quantity(each) for each in texts]
    found += [
        Quantity(1, 40),
        Quantity(10, 39),
        Quantity(-1, 40),
        Quantity(0, 40),
        Quantity(123, -2),
        Quantity(12, 3_990),
    ]
    found += [Quantity(5, 4_001), Quantity(2**63), Quantity(-(2**63)), Quantity(-(2**63) - 1), Quantity(2**63 - 1)]
    found += [
        Quantity(3, 3, big=True),
        Quantity(2, 65, big=True),
        Quantity(7, -19, big=True),
        Quantity(-7, -18, big=True),
    ]
    lines: dict[str, str] = {}
    for left, right in product(found, repeat=2):
        order = (left < right, left <= right, left == right, left >= right, left > right)
        exact = left.mantissa * 10 ** (left.exponent + 40) - right.mantissa * 10 ** (right.exponent + 40)
        assert order == (exact < 0, exact <= 0, exact == 0, exact >= 0, exact > 0), (left, right)
        if exact == 0:
            assert hash(left) == hash(right)
        lines[f"{len(lines)} {left!r} {right!r}"] = f"{answer(add, left, right)} {answer(sub, left, right)}"
    for each in found:
        lines[f"{len(lines)} {each!r}"] = " ".join(answer(each.scaled, to) for to in (-9, -3, 0, 3, 9, 39, 40, 41))
    same_as_recorded("kube-quantity-sums", lines)
