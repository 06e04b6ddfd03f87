"""Plain scalars mean what kubectl takes them for; each line was recorded from `kubectl label --local -o json`."""

from __future__ import annotations

import pytest

from mooring.manifests.loader import load
from mooring.manifests.scalars import NotJsonError, Scalar, resolve

RECORDED: list[tuple[str, Scalar]] = [
    ("y", True),
    ("n", False),
    ("yes", True),
    ("off", False),
    ("True", True),
    ("tRue", "tRue"),
    ("~", None),
    ("Null", None),
    ("1e3", 1000),
    ("-1e-3", -0.001),
    ("1.5e3", 1500),
    ("1e400", "1e400"),
    ("1e", "1e"),
    ("0755", 493),
    ("-017", -15),
    ("0o755", 493),
    ("+0o17", 15),
    ("0o9", "0o9"),
    ("089", 89),
    ("00", 0),
    ("0_7", 7),
    ("0x1f", 31),
    ("-0x1f", -31),
    ("0x", "0x"),
    ("0x1p4", "0x1p4"),
    ("0b11", 3),
    ("1_000", 1000),
    ("1__2", 12),
    ("1_", 1),
    ("_1", "_1"),
    ("22:22", "22:22"),
    ("2024-01-01", "2024-01-01"),
    ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
    ("=", "="),
    (".5", 0.5),
    ("+.5", 0.5),
    ("+1", 1),
    ("-0", 0),
    ("1.", 1),
    ("1.0", 1),
    ("0.1_5", 0.15),
    ("1_0.5", 10.5),
    (".", "."),
    ("+", "+"),
    ("99999999999999999999", 100000000000000000000),
    ("NaN", "NaN"),
    ("inf", "inf"),
    ("1.5.0", "1.5.0"),
    ("10.0.0.1", "10.0.0.1"),
]


@pytest.mark.parametrize(("text", "value"), RECORDED, ids=[text for text, _ in RECORDED])
def test_a_plain_scalar_is_what_kubectl_makes_of_it(text: str, value: Scalar) -> None:
    assert repr(resolve(text)) == repr(value)
    assert repr(load(f"key: {text}\n")) == repr({"key": value})
    assert load(f"key: '{text}'\n") == {"key": text}


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan"])
def test_numbers_that_json_lacks_are_refused(text: str) -> None:
    with pytest.raises(NotJsonError, match="JSON"):
        resolve(text)


def test_a_number_of_ten_thousand_digits_is_read_without_harm() -> None:
    assert resolve("9" * 10_000) == "9" * 10_000


def test_keys_are_strings_as_json_spells_them() -> None:
    assert load("1: a\ntrue: b\n1.5: c\n0755: d\n2024-01-01: e\n") == {
        "1": "a",
        "true": "b",
        "1.5": "c",
        "493": "d",
        "2024-01-01": "e",
    }
