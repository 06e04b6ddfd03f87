"""Go templates: what they make of an object, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.nodes.stages.gotemplate import GoTemplate
from mooring.nodes.stages.lexer import TemplateError
from mooring.nodes.stages.query import QueryError, query

OBJECT: dict[str, Any] = {
    "name": "p",
    "count": 3,
    "none": None,
    "no": False,
    "items": [{"name": "a", "tags": ["x"]}, {"name": "b"}],
    "labels": {"b": "2", "a": "1"},
    "a/b": "c",
}


def made(text: str, **functions: Any) -> str:
    return GoTemplate(text, tuple(functions)).render(OBJECT, functions)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain {text}", "plain {text}"),
        ("{{ .name }}", "p"),
        ("{{ .items }}", "[map[name:a tags:[x]] map[name:b]]"),
        ("{{ .missing }}", "<no value>"),
        ("{{ .missing.deeper }}", "<no value>"),
        ("{{ .no }} {{ .count }}", "false 3"),
        ('{{ "a\\"b" }} {{ `c"d` }} {{ 1.5 }} {{ true }}', 'a"b c"d 1.5 true'),
        ("a {{- .name -}} b", "apb"),
        ("a {{/* not this */}}b", "a b"),
        ("{{ if .name }}yes{{ else }}no{{ end }}", "yes"),
        ("{{ if .none }}yes{{ else }}no{{ end }}", "no"),
        ("{{ if .none }}1{{ else if .name }}2{{ else }}3{{ end }}", "2"),
        ("{{ if .none }}1{{ else if .no }}2{{ else }}3{{ end }}", "3"),
        ("{{ with .missing }}{{ . }}{{ else }}none{{ end }}", "none"),
        ("{{ with .name }}{{ . }}{{ end }}", "p"),
        ("{{ with $n := .name }}{{ $n }}{{ $.count }}{{ end }}", "p3"),
        ("{{ range .items }}{{ .name }},{{ end }}", "a,b,"),
        ("{{ range $i, $e := .items }}{{ $i }}{{ $e.name }}{{ end }}", "0a1b"),
        ("{{ range $e := .items }}{{ $e.name }}{{ end }}", "ab"),
        ("{{ range $k, $v := .labels }}{{ $k }}={{ $v }};{{ end }}", "a=1;b=2;"),
        ("{{ range .missing }}x{{ else }}nobody{{ end }}", "nobody"),
        ("{{ range 3 }}{{ . }}{{ end }}", "012"),
        ("{{ $x := 1 }}{{ range .items }}{{ $x = add $x 1 }}{{ end }}{{ $x }}", "3"),
        ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}", "1"),
        ("{{ (index .items 1).name }}", "b"),
        ('{{ index . "a/b" }} {{ index .labels "z" }}', "c <no value>"),
        ('{{ or .none .no "last" }} {{ or .name "never" }}', "last p"),
        ("{{ and .name .count }} {{ and .none (index .items 9) }}", "3 <no value>"),
        ('{{ not .none }} {{ eq .name "x" "p" }} {{ ne 1 2 }} {{ lt 1 2 }} {{ ge 2 3 }}', "true true true true false"),
        ("{{ len .items }} {{ print 1 2 }}", "2 1 2"),
        ('{{ printf "%s-%03d %q %v%%" .name 7 "z" .no }}', 'p-007 "z" false%'),
        ("{{ .name | Quote }} {{ .count | Quote }} {{ .missing | Quote }}", '"p" "3" "null"'),
        ('{{ .name | printf "%s-%s" "a" }}', "a-p"),
        ("x:{{ YAML .labels 1 }}", 'x:\n  a: "1"\n  b: "2"\n  '),
        ("{{ add 1 2 3 }} {{ sub 3 1 }} {{ mul 2 3 }} {{ div 7 2 }} {{ mod 7 2 }}", "6 2 6 3 1"),
        ("{{ min 3 1 }} {{ max 3 1 }}", "1 3"),
        ('{{ default "d" .none }} {{ default "d" .name }} {{ ternary "y" "n" true }}', "d p y"),
        ('{{ upper "a" }}{{ trimSuffix "m" "1m" }} {{ contains "b" "abc" }} {{ join "," (list 1 2) }}', "A1 true 1,2"),
        ('{{ (dict "a" 1).a }} {{ hasKey .labels "a" }} {{ toJson .labels }}', '1 true {"a":"1","b":"2"}'),
        ("{{ Now }}", "noon"),
    ],
)  # fmt: skip
def test_what_a_template_makes(template: str, text: str) -> None:
    assert made(template, Now=lambda: "noon") == text


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("a\n{{ nope }}", 'line 2: the function "nope" is not known here'),
        ('{{ define "x" }}{{ end }}', 'line 1: the function "define" is not known here'),
        ("{{ .a", "line 1: an action is not closed with }}"),
        ("{{ if .a }}", "an if, with or range is not closed with end"),
        ("{{ end }}", "line 1: end without anything to end"),
        ("{{ if .a }}{{ else range .b }}{{ end }}", "line 1: else range is not understood"),
        ("{{ ( .a }}", "line 1: a parenthesis is not closed"),
        ("{{ .a ) }}", "line 1: a parenthesis is closed that was not opened"),
        ("{{ .a | }}", "line 1: a command is missing"),
        ("{{ .a @ }}", 'line 1: "@" is not understood'),
    ],
)
def test_what_is_refused_when_it_is_read(template: str, sentence: str) -> None:
    with pytest.raises(TemplateError) as error:
        GoTemplate(template)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("{{ $x }}", "line 1: the variable $x is not declared"),
        ("{{ $x = 1 }}", "line 1: the variable $x is not declared"),
        ("{{ index .items 9 }}", "line 1: index 9 is out of range of 2 items"),
        ("{{ .name 1 }}", "line 1: what is not a function cannot be given anything"),
        ("{{ range 99999 }}x{{ end }}", "line 1: range goes over more than 10000 items"),
    ],
)
def test_what_fails_on_an_object(template: str, sentence: str) -> None:
    with pytest.raises(TemplateError) as error:
        made(template)
    assert str(error.value) == sentence


def test_a_function_that_is_given_the_wrong_thing_is_named() -> None:
    with pytest.raises(TemplateError, match="line 1: upper cannot be used so"):
        made("{{ upper }}")
    with pytest.raises(TemplateError, match="line 1: p of type string and 1 of type int are in no order"):
        made("{{ lt .name 1 }}")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (".name", ["p"]),
        (".", [OBJECT]),
        (".missing.deeper", []),
        (".none", []),
        (".items.[].name", ["a", "b"]),
        (".items[].name", ["a", "b"]),
        (".items[1].name", ["b"]),
        (".items[-1].name", ["b"]),
        (".items[7].name", []),
        ('.["a/b"]', ["c"]),
        ('."a/b"', ["c"]),
        ('.items.[] | select( .name == "b" ) | .name', ["b"]),
        ('.items.[] | select( .name != "b" ) | .name', ["a"]),
        (".items.[] | select( .tags == null ) | .name", ["b"]),
        (".labels.[]", ["1", "2"]),
        (".name?", ["p"]),
    ],
)
def test_what_a_query_finds(text: str, values: list[Any]) -> None:
    assert query(text).values(OBJECT) == values


@pytest.mark.parametrize(
    "text", ["", "name", ".a | length", ".a as $x | $x", ".a + .b", 'select( .a == "b" and .c == "d" )']
)
def test_a_query_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        query(text)
