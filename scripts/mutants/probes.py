"""Whether a test comes by at all: a mutated source in which a call at the place of the fault leaves a mark."""

from __future__ import annotations

from scripts.mutants.mutations import Mutation

# Lies beside the package in the copy, so that child processes of the tests find it too.
PROBE_MODULE = '''"""Leaves a mark when the place is reached."""

import os

_reached = False


def mutant_reached():
    global _reached
    place = os.environ.get("MUTANT_MARK")
    if place and not _reached:
        _reached = True
        open(place, "a").close()
    return False
'''
# A program without the copy on its path, such as a notebook's own Python, goes on without.
_IMPORT = b"""
try:
    from mutant_probe import mutant_reached
except ImportError:
    def mutant_reached(): return False
"""
_CALL = b"mutant_reached()"


def probed(mutation: Mutation, source: bytes) -> bytes:
    """The mutated source, with the call."""
    edits = [(mutation.span.start, mutation.span.end, mutation.text.encode())]
    if mutation.probe is not None:
        start, end = mutation.probe.start, mutation.probe.end
        if mutation.in_expression:
            edits = [(start, start, b"(" + _CALL + b" or ("), *edits, (end, end, b"))")]
        else:
            indent = source[source.rfind(b"\n", 0, start) + 1 : start]
            # In a body that begins on its parent's line the call stands before it on the same line.
            edits = [(start, start, _CALL + (b"\n" + indent if not indent.strip() else b"; ")), *edits]
        edits.append((_after_imports_of_the_future(source),) * 2 + (_IMPORT,))
    parts, last = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[0]):
        parts += [source[last:start], text]
        last = end
    return b"".join([*parts, source[last:]])


def _after_imports_of_the_future(source: bytes) -> int:
    line = source.find(b"\nfrom __future__ import")
    # Before a docstring it may stand, since nothing reads that here.
    return source.index(b"\n", line + 1) if line >= 0 else 0
