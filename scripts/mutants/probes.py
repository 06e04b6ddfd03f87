"""Which tests reach which mutation: calls put at their places in a copy say so while its tests run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from scripts.mutants.mutations import Mutation

# Lies beside the package in the copy. A child process outlives the test in whose environment it was started, such as a
# server that a file of tests shares: what it reaches counts for the whole file.
PROBE_MODULE = '''"""Writes down once per test which places were reached."""

import os

_seen = set()


def mutant_reached(number):
    place = os.environ.get("MUTANTS_REACHED")
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if place and (number, test) not in _seen:
        _seen.add((number, test))
        own = os.environ.get("MUTANTS_PROCESS") == str(os.getpid())
        with open(place, "a") as file:
            file.write(f"{number}\\t{test if own else test.partition('::')[0]}\\n")
    return False
'''
# A program without the copy on its path, such as a notebook's own Python, goes on without.
_IMPORT = b"""
try:
    from mutant_probe import mutant_reached
except ImportError:
    def mutant_reached(number): return False
"""


def probed(source: bytes, numbered: Sequence[tuple[int, Mutation]]) -> bytes:
    """The source with a call at the place of each mutation that has one."""
    inserts: dict[int, list[bytes]] = defaultdict(list)
    for number, mutation in numbered:
        if mutation.probe is None:
            continue
        call = b"mutant_reached(%d)" % number
        start, end = mutation.probe.start, mutation.probe.end
        if mutation.in_expression:
            inserts[start].append(b"(" + call + b" or (")
            inserts[end].insert(0, b"))")
        else:
            indent = source[source.rfind(b"\n", 0, start) + 1 : start]
            # In a body that begins on its parent's line the call stands before it on the same line.
            inserts[start].insert(0, call + (b"\n" + indent if not indent.strip() else b"; "))
    inserts[_after_imports_of_the_future(source)].insert(0, _IMPORT)
    parts, last = [], 0
    for place in sorted(inserts):
        parts += [source[last:place], *inserts[place]]
        last = place
    return b"".join([*parts, source[last:]])


def _after_imports_of_the_future(source: bytes) -> int:
    line = source.find(b"\nfrom __future__ import")
    if line >= 0:
        return source.index(b"\n", line + 1)
    # A docstring alone: the call may stand before it, since nothing reads it here.
    return 0


def reached(file: Path) -> dict[int, set[str]]:
    """By number of the mutation: the tests, or files of tests, that came by; "" for an import outside of any test."""
    found: dict[int, set[str]] = defaultdict(set)
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        number, _, test = line.partition("\t")
        found[int(number)].add(test)
    return found
