"""Survivors that somebody looked at: those that change nothing a test could see, each with the reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from scripts.mutants.mutations import Mutation

FILE = Path(__file__).with_name("explained.toml")


def explanations(text: str) -> dict[tuple[str, str, str], str]:
    """Reasons by module, line as it is and line as it becomes; numbers of lines change too often."""
    listed = tomllib.loads(text).get("survivor", [])
    return {(each["module"], each["line"], each["becomes"]): each["reason"] for each in listed}


def reason(mutation: Mutation, source: bytes, known: Mapping[tuple[str, str, str], str]) -> str | None:
    was, becomes = changed_lines(mutation, source)
    return known.get((str(mutation.path), was, becomes))


def changed_lines(mutation: Mutation, source: bytes) -> tuple[str, str]:
    """The lines that a mutation touches, before and after it, each as one line."""
    start = source.rfind(b"\n", 0, mutation.span.start) + 1
    end = source.find(b"\n", mutation.span.end)
    end = len(source) if end < 0 else end
    was = source[start:end]
    becomes = source[start : mutation.span.start] + mutation.text.encode() + source[mutation.span.end : end]
    return _one_line(was), _one_line(becomes)


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())
