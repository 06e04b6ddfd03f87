"""Whether a test comes by at all: a source in which a call at the place of a fault leaves a mark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scripts.mutants.mutations import Mutation

# In a mark, of the process that runs the tests.
TESTS = "tests"
# Lies beside the package in the copy, so that child processes of the tests find it too. A mark is a line with the name
# of the place, whether it was the process of the tests, and the test: a process that outlives its first test serves
# others under its name. A number does not say which process it was, as there may be several of one number.
PROBE_MODULE = '''"""Leaves a mark when a place is reached."""

import os
import sys

_seen = set()


def mutant_reached(place):
    marks = os.environ.get("MUTANT_MARKS")
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if marks and (place, test) not in _seen:
        _seen.add((place, test))
        plugin = sys.modules.get("scripts.mutants.plugin")
        by = "tests" if plugin is not None and plugin.PROCESS == os.getpid() else "another"
        with open(marks, "a", encoding="utf-8") as file:
            file.write(f"{place}\\t{by}\\t{test}\\n")
    return False
'''
# A program without the copy on its path, such as a notebook's own Python, goes on without.
_IMPORT = b"""
try:
    from mutant_probe import mutant_reached
except ImportError:
    def mutant_reached(place): return False
"""


def with_probes(source: bytes, places: Mapping[str, Mutation], fault: Mutation | None = None) -> bytes:
    """The source with a call at the place of each of these faults of one module, under their names; one may be put in.

    Where two expressions begin or end at one place, the wider one is around the other.
    """
    edits = [_Edit(_after_imports_of_the_future(source), _BEFORE, 0, _IMPORT)]
    if fault is not None:
        edits.append(_Edit(fault.span.start, _INSTEAD, 0, fault.text.encode(), fault.span.end - fault.span.start))
    for name, mutation in places.items():
        if mutation.probe is None:
            continue
        call = f"mutant_reached({name!r})".encode()
        start, end = mutation.probe.start, mutation.probe.end
        if mutation.in_expression:
            edits.append(_Edit(start, _OPENING, -end, b"(" + call + b" or ("))
            edits.append(_Edit(end, _CLOSING, -start, b"))"))
        else:
            indent = source[source.rfind(b"\n", 0, start) + 1 : start]
            # In a body that begins on its parent's line the call stands before it on the same line.
            edits.append(_Edit(start, _BEFORE, 0, call + (b"\n" + indent if not indent.strip() else b"; ")))
    parts, last = [], 0
    for edit in sorted(edits, key=lambda each: (each.at, each.rank, each.tie)):
        parts += [source[last : edit.at], edit.text]
        last = edit.at + edit.replaced
    return b"".join([*parts, source[last:]])


# What comes first where several are at one place.
_CLOSING, _BEFORE, _OPENING, _INSTEAD = range(4)


class _Edit(NamedTuple):
    """Text at a place, and how many bytes it replaces."""

    at: int
    rank: int
    tie: int
    text: bytes
    replaced: int = 0


def _after_imports_of_the_future(source: bytes) -> int:
    line = source.find(b"\nfrom __future__ import")
    # Before a docstring it may stand, since nothing reads that here.
    return source.index(b"\n", line + 1) if line >= 0 else 0
