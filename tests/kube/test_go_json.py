"""JSON in the bytes that Go writes; what Go writes was taken from revisions of a real cluster."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.go_json import go_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": {"d": [], "c": None}}, '{"a":{"c":null,"d":[]},"b":1}'),
        ({"a": "x && y <z>"}, r'{"a":"x \u0026\u0026 y \u003cz\u003e"}'),
        (["\u2028\u2029", "ü\u007f", '"\\\n\t'], '["\\u2028\\u2029","ü\u007f","\\"\\\\\\n\\t"]'),
        ({"&": True}, r'{"\u0026":true}'),
    ],
)
def test_keys_are_sorted_and_signs_escaped(value: Any, text: str) -> None:
    assert go_json(value).decode() == text
