"""Expressions drawn from a seed over the grammar and the functions of Kubernetes' CEL, by types.

A production is a template with the type that it makes. `{int}` stands for an expression of that type, `{T}` for one of
a type that is drawn for the production. Loops, which give names to what is in them, are made here.
"""

from __future__ import annotations

import random
import re
from typing import Final

from tests.conformance.language.words import LITERALS, PRODUCTIONS, TEXTS, WRONG

SCALARS: Final = ("int", "uint", "double", "string", "bytes", "bool", "duration", "timestamp")
# What `self` has, by type; the schema is in `samples.py`.
FIELDS: Final = {
    "int": ("self.i", "self.n.a", "self.ld[0]", "self.lm[0].v", "self.m['a']"),
    "double": ("self.f",),
    "string": ("self.s", "self.n.b", "self.ls[1]", "self.lm[0].k", "self.ms.x", "self.e"),
    "bytes": ("self.y",),
    "bool": ("self.b", "has(self.o)", "has(self.n.a)", "has(self.s)", "has(self.m.zz)"),
    "duration": ("self.d",),
    "timestamp": ("self.t", "self.day"),
    "list<int>": ("self.ld", "self.lset"),
    "list<string>": ("self.ls", "self.lsset"),
    "map<string,int>": ("self.m",),
    "map<string,string>": ("self.ms",),
    "optional<int>": ("self.?i", "self.?o", "self.n.?a", "self.?m['a']", "self.m[?'b']", "self.ld[?1]", "self.ld[?9]"),
    "optional<string>": ("self.?s", "self.ms[?'x']", "self.?ms.x", "self.ls[?0]"),
    "dyn": (
        "self.ios",
        "dyn(self.s)",
        "dyn(self.ld)",
        "dyn(self.n)",
        "self.lm",
        "self.nn",
        "self.emb",
        "self.__dash__x",
    ),
}
LISTS: Final = ("list<int>", "list<string>", "list<double>", "list<bool>", "list<uint>", "list<duration>")
MAPS: Final = ("map<string,int>", "map<string,string>", "map<int,string>", "map<bool,int>", "map<string,list<int>>")
MARK: Final = re.compile(r"\{([^{}]*)\}")
# What is drawn as an element type.
ELEMENTS: Final = ("int", "int", "string", "string", "double", "bool", "uint", "bytes", "duration", "timestamp")
_VARIABLES: Final = ("x", "y", "z", "k", "v", "a1", "_u")


class Expressions:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._scope: list[tuple[str, str]] = []
        self._seen: set[str] = set()

    def shown(self) -> str:
        """An expression whose value can be written out, with what may go wrong when it is evaluated."""
        draw = self._draw
        kind = draw.choice((*SCALARS, *SCALARS, *LISTS, *MAPS, "opaque", "opaque", "optional", "dyn", "type"))
        depth = draw.choice((1, 2, 2, 3, 3, 4))
        if kind == "opaque":
            inner = draw.choice(("ip", "cidr", "url", "quantity", "semver", "format"))
            return self.made(draw.choice(("bool", "string", "int")), depth, first=inner)
        if kind == "optional":
            return self.made(draw.choice(("int", "string", "bool")), depth, first="optional")
        if kind == "dyn":
            return draw.choice(("{0}", "{0}.a", "{0}[0]", "{0} + {0}", "size({0})", "{0} == {0}", "{0} < 1")).format(
                self.made("dyn", depth)
            )
        if kind == "type":
            return f"type({self.made(draw.choice((*SCALARS, *LISTS, *MAPS)), depth)})"
        return self.made(kind, depth)

    def made(self, kind: str, depth: int, *, first: str = "") -> str:
        """An expression of a type. `first` is a type that one of the parts has."""
        draw = self._draw
        if depth <= 0 or (not first and draw.random() < 0.12):
            return self.leaf(kind, depth)
        found = PRODUCTIONS.get(kind.partition("<")[0], ())
        fitting = [each for each in found if first and f"{{{first}" in each] or found
        if draw.random() < 0.14 and not first:
            return self._loop(kind, depth) or self.leaf(kind, depth)
        if not fitting or (not first and draw.random() < 0.1):
            fitting = PRODUCTIONS["any"]
        template = draw.choice(fitting)
        return self._filled(template, kind, depth)

    def _filled(self, template: str, kind: str, depth: int) -> str:
        inner = _parameters(kind)
        names = {"S": kind, "T": inner[0] if inner else self._draw.choice(ELEMENTS)}
        names["V"] = inner[1] if len(inner) > 1 else self._draw.choice(ELEMENTS[:4])
        names["U"] = self._draw.choice(ELEMENTS)

        def part(found: re.Match[str]) -> str:
            wanted = re.sub(r"\b[STUV]\b", lambda name: names[name[0]], found[1])
            if wanted.startswith("'"):
                return _quoted(self._draw.choice(TEXTS[wanted[1:]]), self._draw)
            if wanted == "'":
                return self.leaf("string", 0)
            return self.made(wanted, depth - 1)

        return MARK.sub(part, template).replace("⟨", "{").replace("⟩", "}")

    def leaf(self, kind: str, depth: int) -> str:
        draw = self._draw
        known = [name for name, held in self._scope if held == kind]
        if known and draw.random() < 0.7:
            return draw.choice(known)
        if kind in FIELDS and draw.random() < 0.35:
            return draw.choice(FIELDS[kind])
        if kind.startswith("list<"):
            items = ", ".join(self.leaf(kind[5:-1], 0) for _ in range(draw.choice((0, 1, 2, 3, 3, 4))))
            return f"[{items}]"
        if kind.startswith("map<"):
            key, value = _parameters(kind)
            keys = dict.fromkeys(self.leaf(key, 0) for _ in range(draw.choice((0, 1, 2, 2))))
            return "{" + ", ".join(f"{each}: {self.leaf(value, 0)}" for each in keys) + "}"
        if kind.startswith("optional<"):
            inner = kind[9:-1]
            return f"optional.of({self.leaf(inner, 0)})" if draw.random() < 0.7 else "optional.none()"
        if kind not in LITERALS:
            return self.made(kind, max(depth, 1)) if kind in PRODUCTIONS else self.leaf("int", 0)
        text = draw.choice(LITERALS[kind])
        if kind == "string" and draw.random() < 0.5:
            return _quoted(draw.choice(TEXTS["any"]), draw)
        return self._filled(text, kind, 0)

    def _loop(self, kind: str, depth: int) -> str:
        """A comprehension that makes a value of the type, or nothing where none does."""
        draw, head = self._draw, kind.partition("<")[0]
        if head not in ("bool", "list", "map") or (kind.startswith("map<") and _parameters(kind)[0] not in SCALARS):
            return ""
        one, two = draw.sample(_VARIABLES, 2)
        if draw.random() < 0.03:
            two = one
        element = draw.choice(ELEMENTS)
        over_map = draw.random() < 0.3
        items = self.made(f"map<string,{element}>" if over_map else f"list<{element}>", depth - 1)
        both = draw.random() < 0.45 or head == "map"
        names = (
            [(one, "string" if over_map else "int"), (two, element)]
            if both
            else [(one, "string" if over_map else element)]
        )
        self._scope += names
        said = ", ".join(name for name, _ in names)
        test = self.made("bool", depth - 1)
        if head == "bool":
            macro = draw.choice(("all", "exists", "exists_one", "existsOne" if both else "exists_one"))
            text = f"{items}.{macro}({said}, {test})"
        elif head == "list":
            value = self.made(kind[5:-1], depth - 1)
            if both:
                text = f"{items}.transformList({said}, {draw.choice((value, f'{test}, {value}'))})"
            else:
                text = f"{items}.{draw.choice((f'map({said}, {value})', f'map({said}, {test}, {value})'))}"
                if draw.random() < 0.2 and kind == f"list<{names[0][1]}>":
                    text = f"{items}.filter({said}, {test})"
        else:
            key, inner = _parameters(kind)
            value = self.made(inner, depth - 1)
            if (key == "string") is over_map and key in ("string", "int") and draw.random() < 0.7:
                text = f"{items}.transformMap({said}, {draw.choice((value, f'{test}, {value}'))})"
            else:
                entry = f"{{{self.made(key, depth - 1)}: {value}}}"
                text = f"{items}.transformMapEntry({said}, {draw.choice((entry, f'{test}, {entry}'))})"
        del self._scope[-len(names) :]
        return text

    def ill_typed(self) -> str:
        """One with a wrong type, a name that nobody declared, or whatever else a checker refuses."""
        draw = self._draw
        kind = draw.choice((*SCALARS, *LISTS, *MAPS, "optional<int>", "ip", "cidr", "url", "quantity", "semver", "dyn"))
        one, other = self.made(kind, draw.choice((0, 1, 2))), self.made(draw.choice(SCALARS), draw.choice((0, 1)))
        return draw.choice(WRONG).format(one, other, self.made(draw.choice((*LISTS, *MAPS)), 1))

    def broken(self) -> str:
        """One that cannot be parsed, or was not meant."""
        draw = self._draw
        text = self.made(draw.choice((*SCALARS, *LISTS, *MAPS)), draw.choice((1, 2)))
        at = draw.randrange(len(text) + 1)
        match draw.randrange(4):
            case 0:
                return text[:at] + draw.choice(_JUNK) + text[at:]
            case 1:
                return text[:at] + text[at + 1 :]
            case 2:
                return text[:at]
            case _:
                return f"{text} {draw.choice(_JUNK)} {self.leaf('int', 0)}"

    def fresh(self, way: str) -> str:
        """One that did not come before, all on one line."""
        while True:
            text = {"shown": self.shown, "ill": self.ill_typed, "broken": self.broken}[way]()
            self._scope.clear()
            if text.strip() and text not in self._seen and len(text) < 400 and not {"\n", "\r"} & set(text):
                self._seen.add(text)
                return text


_JUNK: Final = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "?",
    ":",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "$",
    "#",
    "@",
    "'",
    '"',
    "`",
    "\\",
    "==",
    "=",
    "&",
    "in",
    "true",
    "null",
    "as",
    "if",
    "0x",
    "1u",
    "1.5.",
    "e",
    "for",
    "package",
    "//x",
    "..",
    "?.",
    "[?",
)


def _parameters(kind: str) -> list[str]:
    """The types between the brackets of one."""
    if "<" not in kind:
        return []
    found, depth = [""], 0
    for letter in kind[kind.index("<") + 1 : -1]:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


def _quoted(text: str, draw: random.Random) -> str:
    mark = draw.choice("''\"")
    escaped = text.replace("\\", "\\\\").replace(mark, f"\\{mark}").replace("\n", "\\n").replace("\t", "\\t")
    return f"{mark}{escaped}{mark}"
