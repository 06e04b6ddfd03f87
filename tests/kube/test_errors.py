"""Errors: their texts, and the message that joins them."""

import pytest

from mooring.kube.errors import (
    Enum,
    FieldError,
    InvalidObjectError,
    MooringError,
    QuantityError,
    SelectorError,
    duplicate,
    forbidden,
    go_json,
    go_quote,
    invalid,
    invalid_message,
    not_found,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
    unique_texts,
)


@pytest.mark.parametrize(
    ("error", "text", "cause"),
    [
        (invalid("spec.a", "x", "is bad"), 'spec.a: Invalid value: "x": is bad', "FieldValueInvalid"),
        (invalid("a", 5, "is bad"), "a: Invalid value: 5: is bad", "FieldValueInvalid"),
        (invalid("a", True, "is bad"), "a: Invalid value: true: is bad", "FieldValueInvalid"),
        (invalid("a", ["x", "<"], "is bad"), 'a: Invalid value: ["x","\\u003c"]: is bad', "FieldValueInvalid"),
        (invalid("a", {"B": None}, "is bad"), 'a: Invalid value: {"B":null}: is bad', "FieldValueInvalid"),
        (invalid("a", "<x>", "is bad"), 'a: Invalid value: "<x>": is bad', "FieldValueInvalid"),
        (invalid("a", Enum("<x>"), "is bad"), 'a: Invalid value: "\\u003cx\\u003e": is bad', "FieldValueInvalid"),
        (required("a", ""), "a: Required value", "FieldValueRequired"),
        (required("a", "say it"), "a: Required value: say it", "FieldValueRequired"),
        (forbidden("a", "not so"), "a: Forbidden: not so", "FieldValueForbidden"),
        (duplicate("a", "x"), 'a: Duplicate value: "x"', "FieldValueDuplicate"),
        (not_found("a", "x"), 'a: Not found: "x"', "FieldValueNotFound"),
        (not_supported("a", "x", ("A", "B")), 'a: Unsupported value: "x": supported values: "A", "B"',
         "FieldValueNotSupported"),
        (not_supported("a", "x", ()), 'a: Unsupported value: "x"', "FieldValueNotSupported"),
        (too_long("a", 63), "a: Too long: may not be more than 63 bytes", "FieldValueTooLong"),
        (too_long("a", 1), "a: Too long: may not be more than 1 byte", "FieldValueTooLong"),
        (too_many("a", 5, 2), "a: Too many: 5: must have at most 2 items", "FieldValueTooMany"),
        (too_many("a", -1, 1), "a: Too many: must have at most 1 item", "FieldValueTooMany"),
        (type_invalid("a", "1", "must be a number"), 'a: Invalid value: "1": must be a number',
         "FieldValueTypeInvalid"),
    ],
)  # fmt: skip
def test_an_error_reads_as_in_the_api(error: FieldError, text: str, cause: str) -> None:
    assert str(error) == text
    assert error.cause == cause
    assert text == f"{error.path}: {error.body}"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain", '"plain"'),
        ('say "x"', r'"say \"x\""'),
        ("a\\b", r'"a\\b"'),
        ("tab\tnew\nbell\a", r'"tab\tnew\nbell\a"'),
        ("\x01\x7f", r'"\x01\x7f"'),
        ("é漢", '"é漢"'),
        ("\u200b\U000e0001", r'"\u200b\U000e0001"'),
        ("\ud800", '"�"'),
    ],
)
def test_strings_are_quoted_as_go_quotes_them(text: str, quoted: str) -> None:
    assert go_quote(text) == quoted


def test_json_is_compact_and_safe_for_html() -> None:
    assert go_json({"b": [1, None], "a": "<&>\u2028"}) == '{"b":[1,null],"a":"\\u003c\\u0026\\u003e\\u2028"}'


def test_the_message_names_kind_and_object_and_brackets_several_errors() -> None:
    one, two = required("spec.a", ""), required("spec.b", "")
    assert invalid_message("Pod", "p", []) == 'Pod "p" is invalid'
    assert invalid_message("Pod", "p", [one]) == 'Pod "p" is invalid: spec.a: Required value'
    assert invalid_message("Pod", "p", [one, two, one]) == (
        'Pod "p" is invalid: [spec.a: Required value, spec.b: Required value]'
    )
    assert invalid_message("Pod", "p", [one, one]) == 'Pod "p" is invalid: spec.a: Required value'
    assert unique_texts([one, two, one]) == [str(one), str(two)]


def test_exceptions_have_one_base_and_a_path() -> None:
    assert str(MooringError("is odd", "spec.a")) == "spec.a: is odd"
    assert str(MooringError("is odd")) == "is odd"
    assert MooringError("is odd", "spec.a").path == "spec.a"
    assert issubclass(QuantityError, MooringError)
    assert issubclass(SelectorError, MooringError)
    error = InvalidObjectError("Pod", "p", [required("spec.a", ""), required("spec.b", "")])
    assert error.path == "spec.a"
    assert len(error.errors) == 2
    assert str(error).startswith('Pod "p" is invalid: [')
