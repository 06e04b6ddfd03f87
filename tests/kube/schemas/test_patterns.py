"""Regular expressions of schemas mean what they mean in Go, and what Go refuses is refused in its words."""

from __future__ import annotations

import pickle
import time
from contextlib import suppress

import pytest

from mooring.kube.schemas.patterns import compile_pattern

# Expressions, and what Go 1.26 says about them.
EXPRESSIONS = [
    ("(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
    ("(?!a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?!`"),
    ("(?<!a)", "error parsing regexp: invalid named capture: `(?<!a)`"),
    ("(?P<n>a", "error parsing regexp: missing closing ): `(?P<n>a`"),
    ("(?P<1-a>b)", "error parsing regexp: invalid named capture: `(?P<1-a>`"),
    ("a)", "error parsing regexp: unexpected ): `a)`"),
    ("(a", "error parsing regexp: missing closing ): `(a`"),
    ("[a", "error parsing regexp: missing closing ]: `[a`"),
    ("[z-a]", "error parsing regexp: invalid character class range: `z-a`"),
    ("[[:foo:]]", "error parsing regexp: invalid character class range: `[:foo:]`"),
    ("a**", "error parsing regexp: invalid nested repetition operator: `**`"),
    ("*a", "error parsing regexp: missing argument to repetition operator: `*`"),
    ("a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"),
    ("a{3,2}", "error parsing regexp: invalid repeat count: `{3,2}`"),
    ("(a{1000}){2}", "error parsing regexp: invalid repeat count: `{2}`"),
    (r"\1", r"error parsing regexp: invalid escape sequence: `\1`"),
    (r"\Z", r"error parsing regexp: invalid escape sequence: `\Z`"),
    (r"\p{Foo}", r"error parsing regexp: invalid character class range: `\p{Foo}`"),
    (r"\x{", r"error parsing regexp: invalid escape sequence: `\x{`"),
    ("a\\", "error parsing regexp: trailing backslash at end of expression: ``"),
    ("(?z)a", "error parsing regexp: invalid or unsupported Perl syntax: `(?z`"),
    ("(?<n", "error parsing regexp: invalid named capture: `(?<n`"),
    ("(?P<é>a)", "error parsing regexp: invalid named capture: `(?P<é>`"),
    (r"\C", r"error parsing regexp: invalid escape sequence: `\C`"),
    (r"(\C", r"error parsing regexp: invalid escape sequence: `\C`"),
    (r"\Z\C", r"error parsing regexp: invalid escape sequence: `\Z`"),
    (r"[a-\C\n", r"error parsing regexp: invalid escape sequence: `\C`"),
    ("a{99999999999}", "error parsing regexp: invalid repeat count: `{99999999999}`"),
    ("a{3,2}?", "error parsing regexp: invalid repeat count: `{3,2}`"),
    ("a+{3,2}", "error parsing regexp: invalid repeat count: `{3,2}`"),
    ("a{" + "9" * 5000 + "}", "error parsing regexp: invalid repeat count: `{" + "9" * 5000 + "}`"),
    (r"\x{41", r"error parsing regexp: invalid escape sequence: `\x{41`"),
    (r"[\p", r"error parsing regexp: invalid character class range: `\p`"),
    ("[^}{1001}", "error parsing regexp: missing closing ]: `[^}{1001}`"),
    ("a)\\C", "error parsing regexp: unexpected ): `a)\\C`"),
    ("(?i-(?P<n", "error parsing regexp: invalid or unsupported Perl syntax: `(?i-(`"),
    ("(" * 1000 + ")" * 1000, "error parsing regexp: expression nests too deeply: `" + "(" * 1000 + ")" * 1000 + "`"),
    ("(" * 999 + ")" * 999, ""),
    (r"\p{Han}\P{Greek}", ""),
    (r"^\pL{1,512}$", ""),
    ("{,2}{02}a{2,}?", ""),
    (r"[\]{1001}]\Q{1001}\C\E", ""),
    ("(?P<n>a)(?<n>b)", ""),
    ("(?i)a$", ""),
    (r"[[:^alpha:]]\d", ""),
    (r"\Qa*\E", ""),
    ("(?P<n>a)", ""),
    ("[]a]", ""),
]


@pytest.mark.parametrize(("pattern", "complaint"), EXPRESSIONS)
def test_an_expression_is_taken_or_refused_as_by_go(pattern: str, complaint: str) -> None:
    if not complaint:
        compile_pattern(pattern)
        return
    with pytest.raises(ValueError) as refusal:
        compile_pattern(pattern)
    assert str(refusal.value) == complaint


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^a$", "a\n", False),
        (r"^\d+$", "٣", False),
        (r"^[[:alpha:]]+$", "é", False),
        (r"^\p{L}+$", "é", True),
        ("(?i)^abc$", "ABC", True),
        ("a(?i)b", "aB", True),
        ("a(?i)b", "AB", False),
        ("^(?s).$", "\n", True),
        ("^.$", "\n", False),
        (r"^\Qa.b\E$", "a.b", True),
        (r"^\Qa.b\E$", "axb", False),
        ("(?m)^b$", "a\nb\nc", True),
        (r"^[^[:digit:]]$", "5", False),
        (r"^[]a]+$", "]a", True),
    ],
)
def test_an_expression_means_what_it_means_in_go(pattern: str, text: str, matches: bool) -> None:
    assert compile_pattern(pattern).search(text) is matches


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 10_000 + "!"),
        ("^(a|aa)+$", "a" * 10_000 + "!"),
        (r"^(\w+\s?)*$", "a" * 10_000 + "!"),
        ("(.*)(.*)(.*)(.*)(.*)x$", "a" * 10_000),
    ],
)
def test_no_expression_holds_the_server_up(pattern: str, text: str) -> None:
    # One that tries every way to divide the text would not come back in the life of the universe.
    started = time.process_time()
    assert not compile_pattern(pattern).search(text)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("part", ["[", "(?P<", r"\Q", r"\x{", "[a", "{1", "a{"])
def test_no_expression_takes_long_to_be_read(part: str) -> None:
    started = time.process_time()
    with suppress(ValueError):
        compile_pattern(part * 50_000)
    assert time.process_time() - started < 1


def test_an_expression_outlives_its_process() -> None:
    again = pickle.loads(pickle.dumps(compile_pattern("^a$")))
    assert again.search("a")
    assert not again.search("b")
