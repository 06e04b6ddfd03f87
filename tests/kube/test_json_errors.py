"""What is wrong with a text that should be JSON is said as the API says it, which is as Go's parser does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.json_errors import json_complaint, unmarshal_complaint

# Texts, and what Go 1.26 says about them.
TEXTS = [
    ("", "unexpected end of JSON input"),
    ("{", "unexpected end of JSON input"),
    ('{"a"', "unexpected end of JSON input"),
    ('{"a":', "unexpected end of JSON input"),
    ('{"a":1', "unexpected end of JSON input"),
    ('{"a" 1}', "invalid character '1' after object key"),
    ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
    ("[1 2]", "invalid character '2' after array element"),
    ("[1,]", "invalid character ']' looking for beginning of value"),
    ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    ("tru", "invalid character ' ' in literal true (expecting 'e')"),
    ("nulx", "invalid character 'x' in literal null (expecting 'l')"),
    ("-", "invalid character ' ' in numeric literal"),
    ("01", "invalid character '1' after top-level value"),
    ("1.", "invalid character ' ' after decimal point in numeric literal"),
    ("1e", "invalid character ' ' in exponent of numeric literal"),
    ('"\t"', r"invalid character '\t' in string literal"),
    ('"\\q"', "invalid character 'q' in string escape code"),
    ('"\\u12x"', r"invalid character 'x' in \u hexadecimal character escape"),
    ('"abc', "unexpected end of JSON input"),
    ("{'a': 1}", r"invalid character '\'' looking for beginning of object key string"),
    ("{} {}", "invalid character '{' after top-level value"),
    ("é", "invalid character 'Ã' looking for beginning of value"),
    ('{"a":1}', ""),
    ("[1.5e3, -0, null]", ""),
]


@pytest.mark.parametrize(("text", "complaint"), TEXTS)
def test_a_complaint_is_that_of_go(text: str, complaint: str) -> None:
    assert json_complaint(text.encode()) == complaint


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        st.lists,
        max_leaves=10,
    )
)
def test_there_is_nothing_to_say_about_json(value: Any) -> None:
    assert json_complaint(json.dumps(value).encode()) == ""


@given(st.binary(max_size=40))
def test_any_bytes_are_looked_at_without_breaking(text: bytes) -> None:
    assert isinstance(json_complaint(text), str)


def test_nesting_without_end_is_a_complaint() -> None:
    assert json_complaint(b"[" * 100_000) == "exceeded max depth"


@pytest.mark.parametrize(
    ("value", "found"), [([], "array"), ("a", "string"), (True, "bool"), (1.5, "number"), ({}, "object")]
)
def test_a_value_of_the_wrong_type_is_named(value: object, found: str) -> None:
    assert unmarshal_complaint(value, "string") == f"json: cannot unmarshal {found} into Go value of type string"
