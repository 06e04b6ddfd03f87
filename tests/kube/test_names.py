"""Names: which are allowed, and the exact words about those that are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube import names

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
PREFIX = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("web-1", []),
        ("x" * 63, []),
        ("x" * 64, ["must be no more than 63 characters"]),
        ("a.b", ["must not contain dots"]),
        ("Web", [LABEL]),
        ("", [LABEL]),
        ("a\n", [LABEL]),
        ("é" * 40, ["must be no more than 63 characters", LABEL]),
    ],
)
def test_dns_labels(value: str, texts: list[str]) -> None:
    assert names.is_dns1123_label(value) == texts


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a.b-c.d", []),
        ("a..b", [SUBDOMAIN]),
        ("-a", [SUBDOMAIN]),
        ("x" * 254, ["must be no more than 253 characters"]),
    ],
)
def test_dns_subdomains(value: str, texts: list[str]) -> None:
    assert names.is_dns1123_subdomain(value) == texts


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("app", []),
        ("kubernetes.io/hostname", []),
        ("", ["name part must be non-empty", f"name part {KEY}"]),
        ("/x", ["prefix part must be non-empty"]),
        ("a/", ["name part must be non-empty", f"name part {KEY}"]),
        ("Bad/x", [f"prefix part {SUBDOMAIN}"]),
        (f"{'x' * 254}/x", ["prefix part must be no more than 253 bytes"]),
        ("x" * 64, ["name part must be no more than 63 bytes"]),
        ("a/b/c", [f"a valid label key {KEY} {PREFIX}"]),
        ("-a", [f"name part {KEY}"]),
    ],
)  # fmt: skip
def test_qualified_names(value: str, texts: list[str]) -> None:
    assert names.is_qualified_name(value) == texts


@pytest.mark.parametrize(
    ("value", "texts"),
    [("", []), ("a_b.c", []), ("-", [VALUE]), ("x" * 64, ["must be no more than 63 bytes"]), ("a b", [VALUE])],
)
def test_label_values(value: str, texts: list[str]) -> None:
    assert names.is_label_value(value) == texts


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("http", []),
        ("x" * 16, ["must be no more than 15 characters"]),
        ("HTTP", ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                  "must contain at least one letter (a-z)"]),
        ("-8-", ["must contain at least one letter (a-z)", "must not begin or end with a hyphen"]),
        ("a--b", ["must not contain consecutive hyphens"]),
        ("", ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
              "must contain at least one letter (a-z)"]),
    ],
)  # fmt: skip
def test_port_names(value: str, texts: list[str]) -> None:
    assert names.is_port_name(value) == texts


def test_the_first_letter_of_a_dns_1035_label_is_a_letter() -> None:
    assert names.is_dns1035_label("a1") == []
    assert "start with an alphabetic character" in names.is_dns1035_label("1a")[0]
    assert names.is_dns1035_label("x" * 64) == ["must be no more than 63 characters"]


def test_a_generated_name_may_end_in_a_dash() -> None:
    assert names.is_valid_name("web-", prefix=True) == []
    assert names.is_valid_name("web-") == [SUBDOMAIN]


def test_search_domains_may_have_underscores() -> None:
    assert names.is_dns1123_subdomain_with_underscore("_tcp.example.com") == []
    assert "'_', '-' or '.'" in names.is_dns1123_subdomain_with_underscore("A")[0]
    assert names.is_dns1123_subdomain_with_underscore("x" * 254) == ["must be no more than 253 characters"]


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", []),
        (".", ["must not be '.'"]),
        ("..", ["must not be '..'"]),
        ("..a", ["must not start with '..'"]),
        ("x" * 254, ["must be no more than 253 characters"]),
    ],
)
def test_config_map_keys(value: str, texts: list[str]) -> None:
    assert names.is_config_map_key(value) == texts


def test_other_kinds_of_names() -> None:
    assert "a valid config key" in names.is_config_map_key("a b")[0]
    assert names.is_env_var_name("A.b-c 1") == []
    assert names.is_env_var_name("") == ["environment variable name must be non-empty"]
    assert "other than '='" in names.is_env_var_name("a=b")[0]
    assert names.is_http_header_name("X-Header") == []
    assert "a valid HTTP header" in names.is_http_header_name("X Header")[0]
    assert names.is_c_identifier("_a1") == []
    assert "a valid C identifier" in names.is_c_identifier("1a")[0]
    assert names.is_port_number(0) == ["must be between 1 and 65535, inclusive"]
    assert names.is_user_id(-1) == names.is_group_id(2**31) == ["must be between 0 and 2147483647, inclusive"]


@pytest.mark.parametrize(
    ("value", "fine"), [("0", True), ("-7", True), ("07", False), ("+7", False), ("-0", False), ("", False)]
)
def test_integers_as_people_write_them(value: str, fine: bool) -> None:
    assert (names.is_decimal_integer(value) == []) is fine


@given(st.text())
def test_every_check_takes_any_text(value: str) -> None:
    for check in (
        names.is_dns1123_label,
        names.is_dns1123_subdomain,
        names.is_dns1123_subdomain_with_underscore,
        names.is_dns1035_label,
        names.is_qualified_name,
        names.is_label_value,
        names.is_port_name,
        names.is_config_map_key,
        names.is_env_var_name,
        names.is_http_header_name,
    ):
        assert all(check(value))


@given(st.text())
def test_labels_are_subdomains_and_dns_1035_labels_are_dns_1123_labels(value: str) -> None:
    if not names.is_dns1035_label(value):
        assert not names.is_dns1123_label(value)
    if not names.is_dns1123_label(value):
        assert not names.is_dns1123_subdomain(value)
