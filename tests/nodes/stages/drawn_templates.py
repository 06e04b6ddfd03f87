"""Go templates and queries drawn from a seed: what Stages are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.recordings import Draw

OBJECT: dict[str, Any] = {
    "name": "web-0",
    "nothing": "",
    "count": 3,
    "zero": 0,
    "ratio": 1.5,
    "large": 12345678901,
    "below": -7,
    "yes": True,
    "no": False,
    "none": None,
    "items": [{"name": "a", "tags": ["x", "y"], "port": 80}, {"name": "b", "ready": True}, {"name": "c", "port": 0}],
    "words": ["beta", "alpha", ""],
    "numbers": [3, 1, 2],
    "labels": {"b": "2", "a": "1", "app.kubernetes.io/name": "web"},
    "nest": {"deep": {"er": "v"}},
    "said": 'so "quoted" <&> é\nand more',
    "emptylist": [],
    "emptymap": {},
}
_TEXTS = (".name", ".nothing", ".said", ".nest.deep.er", "(index .items 1).name", "$.name", ".missing", ".none")
_WORDS = ('"a"', '"web"', '"-0"', '`raw "x"`', '"b,c"', '""', '" pad "', '"\\tx\\u00e9"')
_NUMBERS = ("0", "1", "2", "7", "-3", "10", ".count", ".below", ".zero", ".large", "len .words", "2.5", ".ratio")
_LISTS = (".words", ".items", ".numbers", ".emptylist", '(list 1 "b" true)', ".missing", ".labels", "(list)", ".none")
_MAPS = (".labels", ".nest", ".emptymap", '(dict "a" 1 "b" "c")', "(index .items 0)", ".none")

_OF_TEXTS = ('"%s-%s"', '"%v.%5s|"', '"%q %-4s|"', '"%s%%"', '"%s %s %s"')
_OF_NUMBERS = ('"%d"', '"%03d"', '"%x"', '"%v"', '"%5d|"', '"%-5d|"', '"%+d"', '"%s"')
_OF_FLOATS = ('"%.2f"', '"%f"', '"%g"', '"%6.1f|"', '"%e"')
_INDICES = ("0", "1", "3", '"a"', '"z"')
_NAMES = ('"a"', '"name"', '"z"', '"deep"')
_INTS = ('"12"', '"x"', '"2.7"', ".ratio", ".none", ".yes")
_ATOI = ('"12"', '"-4"', '"x"', '""', '"07"')
_COMPARED = ((".name", '"a"', '"b"'), ('"a"', '"b"', ".name", ".nothing"))
_MIXED = ((".count", ".yes", ".none", "1", "1.5"), ("3", "true", "nil", "1", ".count", '"a"'))
_PIPED = ("upper", "Quote", 'default "d"', 'printf "%s/%s" "a"', "trim", "len")


class Templates:
    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._names = 0

    def whole(self) -> str:
        return "".join(self._part(2) for _ in range(1 + self._draw.below(3)))

    def _part(self, depth: int) -> str:
        draw = self._draw
        kind = draw.below(14 if depth else 8)
        if kind < 8:
            return draw.one(("", "", "x ", "\n  ", "k: ")) + self._action(self.any(depth)) + draw.one(("", " y", "\n"))
        inner, other = self._part(depth - 1), self._part(depth - 1)
        closed = self._action("end")
        otherwise = self._action("else") + other if draw.chance(0.5) else ""
        if kind < 10:
            more = self._action(f"else if {self.truth(1)}") + self._part(0) if draw.chance(0.4) else ""
            return self._action(f"if {draw.one((self.truth, self.any))(1)}") + inner + more + otherwise + closed
        if kind == 10:
            more = self._action(f"else with {self.text(1)}") + self._part(0) if draw.chance(0.3) else ""
            return self._action(f"with {self.any(1)}") + self._action(".") + more + otherwise + closed
        if kind == 11:
            form = draw.one(("range %s", "range $e := %s", "range $i, $e := %s"))
            shown = {"range %s": ".", "range $e := %s": "$e"}.get(form, "$i")
            body = self._action(shown) + "," + (self._action("$e") if "$e" in form else "")
            return self._action(form % draw.one((*_LISTS, "3", ".labels"))) + body + otherwise + closed
        self._names += 1
        name = f"$v{self._names}"
        set_again = self._action(f"{name} = {self.any(1)}") if draw.chance(0.5) else ""
        block = self._action(f"if {self.truth(1)}") + set_again + closed if draw.chance(0.5) else set_again
        return self._action(f"{name} := {self.any(1)}") + block + self._action(name)

    def _action(self, inside: str) -> str:
        left, right = self._draw.one(("", "", "", "", "- ")), self._draw.one(("", "", "", "", " -"))
        comment = self._draw.one(("", "", "", "", "", "{{/* a comment */}}"))
        return f"{comment}{{{{{left or ' '}{inside}{right or ' '}}}}}"

    def any(self, depth: int) -> str:
        draw = self._draw
        kind = draw.below(12)
        if kind == 0:
            return draw.one(("toJson ", "YAML ", "Quote ", "toString ", "quote ", "squote ")) + draw.one(
                (*_LISTS, *_MAPS)
            )
        if kind == 1:
            return f"{self.text(depth)} | {draw.one(_PIPED)}"
        if kind == 2:
            return draw.one((*_LISTS, *_MAPS))
        return draw.one((self.text, self.text, self.text, self.number, self.number, self.truth))(depth)

    def _inner(self, made: str) -> str:
        return f"({made})" if " " in made and made[0] not in '"`(' else made

    def text(self, depth: int) -> str:
        draw = self._draw
        if not depth or draw.chance(0.2):
            return draw.one((*_TEXTS, *_WORDS))

        def some() -> str:
            return self._inner(self.text(depth - 1))

        def amount() -> str:
            return self._inner(self.number(depth - 1))

        forms: tuple[Callable[[], str], ...] = (
            lambda: f"{draw.one(('upper', 'lower', 'trim', 'toString', 'quote', 'squote', 'Quote'))} {some()}",
            lambda: f"{draw.one(('trimPrefix', 'trimSuffix'))} {draw.one(_WORDS)} {some()}",
            lambda: f"replace {draw.one(_WORDS)} {draw.one(_WORDS)} {some()}",
            lambda: f"printf {draw.one(_OF_TEXTS)} {some()} {some()}",
            lambda: f"printf {draw.one(_OF_NUMBERS)} {amount()}",
            lambda: f"printf {draw.one(_OF_FLOATS)} {draw.one(('1.5', '2.0', '0.25', '3', '.ratio'))}",
            lambda: f"join {draw.one(_WORDS)} {draw.one(_LISTS)}",
            lambda: f"default {some()} {some()}",
            lambda: f"ternary {some()} {some()} {self._inner(self.truth(depth - 1))}",
            lambda: f"index {draw.one(('.words', '.labels', '.numbers', '.items', '.name'))} {draw.one(_INDICES)}",
            lambda: f"{draw.one(('print', 'println'))} {some()} {amount()} {some()}",
            lambda: f"coalesce {some()} {some()} {some()}",
            lambda: f"get {draw.one(_MAPS)} {draw.one(_NAMES)}",
            lambda: f"{draw.one(('first', 'last'))} {draw.one(_LISTS)}",
            lambda: f"{draw.one(('or', 'and'))} {some()} {some()}",
            lambda: draw.one(("Now", "NodeName", "NodeIP", "(index NodeConditions 1).reason", "NodeIPs")),
            lambda: f"YAML {draw.one((*_MAPS, *_LISTS))} {draw.one(('0', '1', '2'))}",
        )
        return draw.one(forms)()

    def number(self, depth: int) -> str:
        draw = self._draw
        if not depth or draw.chance(0.25):
            return draw.one(_NUMBERS)

        def some() -> str:
            return self._inner(self.number(depth - 1))

        forms: tuple[Callable[[], str], ...] = (
            lambda: f"add {some()} {some()} {draw.one(('', '4'))}".strip(),
            lambda: f"{draw.one(('sub', 'div', 'mod', 'mul'))} {some()} {some()}",
            lambda: f"{draw.one(('max', 'min'))} {some()} {some()}",
            lambda: f"{draw.one(('int', 'int64'))} {draw.one((some(), *_INTS))}",
            lambda: f"atoi {draw.one(_ATOI)}",
            lambda: f"len {draw.one((*_LISTS, *_MAPS, *_TEXTS))}",
        )
        return draw.one(forms)()

    def truth(self, depth: int) -> str:
        draw = self._draw
        if not depth or draw.chance(0.2):
            return draw.one(("true", "false", ".yes", ".no", ".missing", ".name", ".zero", "0", '""', ".emptylist"))

        def some() -> str:
            return self._inner(self.truth(depth - 1))

        numbers = ("1", "2", "(add 1 1)", "(len .words)", "-1", "(sub 3 1)")
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"{draw.one(('eq', 'ne', 'lt', 'le', 'gt', 'ge'))} {draw.one(numbers)} {draw.one(numbers)}",
            lambda: (
                f"{draw.one(('eq', 'ne', 'lt', 'le', 'gt', 'ge'))} {draw.one(_COMPARED[0])} {draw.one(_COMPARED[1])}"
            ),
            lambda: f"eq {draw.one(_TEXTS)} {draw.one(_WORDS)} {draw.one(_TEXTS)}",
            lambda: f"{draw.one(('eq', 'ne', 'lt'))} {draw.one(_MIXED[0])} {draw.one(_MIXED[1])}",
            lambda: f"not {some()}",
            lambda: f"{draw.one(('and', 'or'))} {some()} {some()}",
            lambda: f"{draw.one(('contains', 'hasPrefix', 'hasSuffix'))} {draw.one(_WORDS)} {draw.one(_TEXTS)}",
            lambda: f"hasKey {draw.one(_MAPS)} {draw.one(_NAMES)}",
            lambda: f"empty {draw.one((*_LISTS, *_MAPS, *_TEXTS, *_NUMBERS[:3]))}",
        )
        return draw.one(forms)()


_BROKEN = (
    "{{ .a",
    "{{ end }}",
    "{{ if .name }}",
    "{{ else }}",
    "{{ nope .name }}",
    "{{ .name | }}",
    "{{ ( .name }}",
    "{{ .name ) }}",
    "{{ $x }}",
    "{{ $x = 1 }}",
    "{{ .name 1 }}",
    "{{ index .words 9 }}",
    "{{ range .name }}{{ . }}{{ end }}",
    "{{ if .yes }}{{ else }}{{ else }}{{ end }}",
    "{{ @ }}",
    "{{}}",
    "{{ }}",
    "{{- -}}",
    '{{ "a }}',
    "{{ 'a' }}",
    "{{ 1 | 2 }}",
    "{{ range $a, $b, $c := .words }}{{ end }}",
    "{{ with }}{{ end }}",
    "{{ if }}{{ end }}",
    "{{ end .name }}",
    "{{ .name..x }}",
    "{{ len 3 }}",
    "{{ len .none }}",
    "{{ not }}",
    "{{ upper }}",
    "{{ 1.5.name }}",
    "{{ add }}",
    "{{ div 1 0 }}",
    "{{ mod 1 0 }}",
    "{{ lt .name 1 }}",
    "{{ lt true false }}",
    "{{ eq 1 1.0 }}",
    '{{ dict "a" }}',
    "{{ .words.name }}",
    "{{ .name.first }}",
    "{{ .items.name }}",
    "{{ printf }}",
    '{{ printf "%d" }}',
    '{{ printf "%d" "x" }}',
    '{{ printf "%s" 1 2 }}',
    "a }} b",
    "{ {",
    "{{/* a",
    "{{ if eq 1 1 }}{{/* in */}}yes{{ end }}",
    "{{ /* spaced */ }}",
    "{{- /* trimmed */ -}} x",
    "{{\n.name\n}}",
    "{{ nil }}",
    "{{ print nil }}",
    "{{ true }}",
    "{{ `a` }}",
    '{{ "\\x41\\101\\u00e9\\a" }}',
    "{{ 0x10 }}",
    "{{ 1e3 }}",
    "{{ 1_000 }}",
    "{{ +5 }}",
    "{{ .5 }}",
    "{{ $ }}",
    "{{ $.count }}",
    "{{ $x := 1 }}{{ $y := 2 }}{{ $x }}{{ $y }}",
    "{{ $x := .count }}{{ with .name }}{{ $x }}{{ end }}",
    "{{ range 0 }}a{{ else }}b{{ end }}",
    "{{ range -1 }}a{{ else }}b{{ end }}",
    "{{ range .count }}a{{ end }}",
    "{{ range .no }}a{{ end }}",
    '{{ range .words }}{{ if eq . "alpha" }}{{ break }}{{ end }}{{ . }}{{ end }}',
    "{{ range .words }}{{ continue }}{{ . }}{{ end }}",
    '{{ define "x" }}y{{ end }}{{ template "x" }}',
    '{{ block "x" . }}y{{ end }}',
    "{{ .name | len | add 1 }}",
    '{{ list 1 2 | join "-" | upper }}',
    "{{ and }}",
    '{{ or 0 "" nil }}',
    "{{ and 1 2 3 }}",
    "{{ or .none .nothing .zero }}",
    "{{ not .zero }} {{ not 0 }} {{ not .none }}",
    '{{ index .nest "deep" "er" }}',
    "{{ index .none 1 }}",
    '{{ index .items 0 "tags" 1 }}',
    "{{ index .items -1 }}",
    '{{ index .items "a" }}',
    "{{ index 3 1 }}",
    "{{ index }}",
    "{{ index .items }}",
    "{{ .none.x }}",
    "{{ range $i, $e := 3 }}{{ $i }}{{ end }}",
    "{{ .labels.a.b }}",
)


def templates(seed: str, count: int) -> list[str]:
    draw = Draw(seed)
    return [*_BROKEN, *(Templates(draw).whole() for _ in range(count))]


def queries(seed: str, count: int) -> list[str]:
    """Paths and selects; a few that are no queries."""
    draw = Draw(seed)
    steps = (
        ".name",
        ".items",
        ".items[]",
        ".items.[]",
        "[0]",
        "[-1]",
        "[1]",
        "[7]",
        "[]",
        ".tags",
        ".port",
        '.labels["a"]',
    )
    more = ('."a"', '.["name"]', ".nest", ".deep", ".er", ".none", ".missing", ".labels", ".yes", ".no", ".count", "?")
    compared = ('"a"', '"b"', "80", "0", "null", "true", "false", '"x|y"')
    made = [
        "",
        ".",
        "name",
        ".a b",
        ".[",
        "..",
        ".items[",
        '."a',
        "select(.a)",
        ".items[0",
        "|",
        ". | .",
        ".name |",
        ".words[1:]",
    ]
    for _ in range(count):
        path = draw.one(("", ".")) + "".join(draw.one((*steps, *more)) for _ in range(1 + draw.below(3)))
        path = "." + path.replace("..", ".").lstrip(".?")
        if draw.chance(0.45):
            inner = draw.one((".name", ".port", ".ready", ".tags[0]", ".", ".missing", ".tags"))
            path = draw.one((".items[]", ".items.[]", path, ".words[]", ".labels[]"))
            path += f" | select({draw.one(('', ' '))}{inner} {draw.one(('==', '!='))} {draw.one(compared)} )"
            path += draw.one(("", " | .name", " | .port", " | .tags[]", "|.name"))
        made.append(path)
    return made
