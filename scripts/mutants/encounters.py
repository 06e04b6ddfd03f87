"""Which tests come by a fault: they run once over a source with a probe at the place of every fault in question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from scripts.mutants.ledger import AWAY, MET, Ledger, Sight
from scripts.mutants.mutations import Mutation
from scripts.mutants.probes import TESTS, with_probes
from scripts.mutants.programs import finished
from scripts.mutants.trees import Tree

# Of one run of a few files of tests; none of the source is at fault there.
MAX_SECONDS = 1200


def record(tree: Tree, ledger: Ledger, files: Sequence[str], asked: Mapping[str, Sequence[Mutation]]) -> None:
    """Writes for every file of tests which of the faults asked of it its tests meet, and which they do not."""
    faults = {ledger.fault(each): each for file in files for each in asked[file]}
    sources = {each.path: (tree.folder / each.path).read_bytes() for each in faults.values()}
    for path, source in sources.items():
        tree.write(path, with_probes(source, {name: each for name, each in faults.items() if each.path == path}))
    try:
        done = finished(tree, files, MAX_SECONDS, MAX_SECONDS)
    finally:
        for path, source in sources.items():
            tree.write(path, source)
    met = _met(tree.marks.read_text(encoding="utf-8"))
    for file in files:
        for mutation in asked[file]:
            fault = ledger.fault(mutation)
            # What runs while tests are collected concerns all of them.
            tests = met.get((fault, file)) or ({file} if (fault, "") in met else set())
            if tests:
                ledger.write(mutation, [(file, Sight(MET, tests=tuple(sorted(tests))))])
            elif done.is_whole:
                ledger.write(mutation, [(file, Sight(AWAY))])


def _met(marks: str) -> dict[tuple[str, str], set[str]]:
    """Tests by fault and file; what is made for a test, or started as a process, may serve the others of its file."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in marks.splitlines():
        fault, by, test = line.split("\t")
        name, _, phase = test.rpartition(" ")
        file = name.partition("::")[0]
        found[fault, file].add(name if by == TESTS and phase == "(call)" else file)
    return {(fault, file): {file} if file in tests else tests for (fault, file), tests in found.items()}
