"""Regular expressions of schemas mean what they mean in Go, and what Go refuses is refused in its words."""

from __future__ import annotations

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
    assert (compile_pattern(pattern).search(text) is not None) is matches
