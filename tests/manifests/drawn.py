"""Drawn YAML: documents of one object in every style that YAML 1.1 knows, some of them broken."""

from __future__ import annotations

import random

SCALARS = (
    *("true", "Yes", "off", "y", "N", "null", "~", "Null", "nULL", "True", "tRUE", "=", "<<"),
    *("0", "-0", "+1", "007", "0o17", "0x1F", "0b101", "1_000", "08", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775808", "18446744073709551616", "1e3", "1.50", ".5", "5.", "-1.0", "1e400", "1E-7", "6.02e23"),
    *("0.1", "123456789012345678901", "1e20", "1e21", "0x", "0b2", "0o8", "1__0", "_1", "+", "-", "-.5", "+.5e1"),
    *("22:22", "1:30:00", "2026-11-15", "2026-11-15T10:00:00Z", "12e03", "1.2.3", "v1.2", "a: b", "a #b", "a:b", "#a"),
    *("app", "a b c", "a, b", "x]", "}", "{}", "[]", "a'b", 'a"b', "\\n", "é", "日本", "@at", "%p", "`b`", "&x", "*x"),
    *("- x", "? q", "|", ">", "a\\b", "~a", "http://example.com:80/a?b=c&d", "100m", "1Gi", "--flag=yes", "..."),
)
KEYS = (
    *(
        "a",
        "b",
        "c-d",
        "e.f/g",
        "1",
        "0x10",
        "1.5",
        "true",
        "null",
        "no",
        '"quoted"',
        "'single'",
        "a b",
        "~",
        "é",
        "-k",
    ),
    *("2026-11-15", "<<", "=", "[x]", "{y: 1}", "? z", "k#k", "http://x", '"with: colon"', "''", "1e3", "*x", "&x a"),
)
# What mostly makes a document unreadable.
ODD = "@%`&*|>?!-{}[#x}"
COMMENT = ("", "", "", "", " # why", "  #", " #:x")


class Drawing:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.anchors = 0

    def document(self) -> str:
        """An object of a kind that no program knows, with drawn content."""
        pick, chance = self.random.choice, self.random.random
        lines = ["apiVersion: example.com/v1", "kind: Thing", "metadata:", "  name: drawn"]
        for _ in range(self.random.randint(1, 4)):
            lines += self.entry(pick(("spec", "data", "more", "other")) + str(len(lines)), 0, 0)
        if chance() < 0.1:
            lines.insert(0, pick(("---", "--- # first", "# comment", "")))
        if chance() < 0.05:
            lines.append(pick(("...", "---", "# end", "  # end", "   ")))
        if chance() < 0.05:
            place = self.random.randrange(len(lines))
            lines[place] = self._broken(lines[place])
        end = "\r\n" if chance() < 0.03 else "\n"
        return end.join(lines) + (end if chance() < 0.9 else "")

    def _broken(self, line: str) -> str:
        pick = self.random.choice
        return pick(
            (line + ":", "\t" + line, line.replace(":", "", 1), " " + line, line + " ]", "- " + line, line + '"')
        )

    def entry(self, key: str, indent: int, depth: int) -> list[str]:
        """A key and its value."""
        pick, chance = self.random.choice, self.random.random
        margin = " " * indent
        head = f"{margin}{key}:"
        kind = self.random.randrange(10 if depth < 3 else 6)
        if chance() < 0.03:
            head += f" &anchor{self.anchors}"
            self.anchors += 1
        elif chance() < 0.03 and self.anchors:
            return [f"{head} *anchor{self.random.randrange(self.anchors)}"]
        elif chance() < 0.06 and kind < 3:
            head += pick((" !!str", " !!int", " !!float", " !!bool", " !!null"))
        match kind:
            case 0 | 1 | 2:
                return [f"{head} {self.scalar()}{pick(COMMENT)}"]
            case 3:
                return [f"{head} {self.flow(0)}{pick(COMMENT)}"]
            case 4:
                return self.block(head, indent)
            case 5:
                return [head + pick(COMMENT)] if chance() < 0.4 else [f"{head} {self.scalar()}", *self.rest(indent)]
            case 6 | 7:
                return [head + pick(COMMENT), *self.mapping(indent + pick((1, 2, 2, 2, 4)), depth + 1)]
        return [head + pick(COMMENT), *self.sequence(indent + pick((0, 0, 2)), depth + 1)]

    def mapping(self, indent: int, depth: int) -> list[str]:
        lines: list[str] = []
        for number in range(self.random.randint(1, 3)):
            key = self.random.choice(KEYS) if self.random.random() < 0.15 else f"key{number}"
            lines += self.entry(key, indent, depth)
            if self.random.random() < 0.1:
                lines.append(self.random.choice(("", "# between", " " * indent + "# between", "   ")))
        return lines

    def sequence(self, indent: int, depth: int) -> list[str]:
        pick = self.random.choice
        margin, lines = " " * indent, list[str]()
        for _ in range(self.random.randint(1, 3)):
            match self.random.randrange(6):
                case 0 | 1 | 2:
                    lines.append(f"{margin}- {self.scalar()}{pick(COMMENT)}")
                case 3:
                    lines.append(f"{margin}-{pick((' ', '  ', ''))}{self.flow(0)}")
                case 4:
                    inner = self.mapping(indent + 2, depth + 1)
                    lines += [f"{margin}- {inner[0].strip()}", *inner[1:]]
                case 5:
                    inner = self.sequence(indent + 2, depth + 1) if depth < 3 else [f"{margin}  - deep"]
                    lines += [f"{margin}- {inner[0].strip()}", *inner[1:]]
        return lines

    def scalar(self) -> str:
        pick, text = self.random.choice, self.random.choice(SCALARS)
        if text[0] in ODD and self.random.random() < 0.8:
            text = "plain"
        match self.random.randrange(8):
            case 0:
                return "'" + text.replace("'", "''") + "'"
            case 1:
                return (
                    '"' + text.replace("\\", "\\\\").replace('"', '\\"') + pick(("", "\\n", "\\x41", "\\u00e9")) + '"'
                )
            case 2:
                return text + pick(("", " ", " x", "  # c", ":"))
        return text

    def rest(self, indent: int) -> list[str]:
        """Lines that a plain scalar goes on in."""
        margin = " " * (indent + self.random.choice((1, 2, 4)))
        return [margin + self.random.choice(("goes on", "and on # not", "", "- on", "k: v"))]

    def block(self, head: str, indent: int) -> list[str]:
        pick = self.random.choice
        style = pick("|>") + pick(("", "", "-", "+", "2", "2-", "+2"))
        margin = " " * (indent + 2)
        lines = [f"{head} {style}{pick(('', '', ' # c'))}"]
        inner = ("", margin + "text", margin + "  more", margin + "# no comment", margin + "a: b", "  ")
        return [*lines, *[pick(inner) for _ in range(self.random.randint(1, 4))]]

    def flow(self, depth: int) -> str:
        pick = self.random.choice
        inner = ["1", "a", "true", '"q"', "'s'", "null", "a b", "1.0", "x:y", "~"]
        if depth < 2 and self.random.random() < 0.3:
            inner.append(self.flow(depth + 1))
        if self.random.random() < 0.5:
            values = [pick(inner) for _ in range(self.random.randint(0, 3))]
            return f"[{pick((', ', ',', ' , ')).join(values)}{pick(('', '', ','))}]"
        keys = ("a", "b", '"c"', "1", "d e", "null")
        pairs = [f"{pick(keys)}{pick((': ', ': ', ':'))}{pick(inner)}" for _ in range(self.random.randint(0, 3))]
        return f"{{{', '.join(pairs)}}}"
