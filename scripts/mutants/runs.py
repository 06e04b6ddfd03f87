"""What the tests say to a mutation: first the nearest files of tests, then, where it lives, all tests that come by."""

from __future__ import annotations

import contextlib
import queue
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from scripts.mutants.encounters import record
from scripts.mutants.homes import broad_first, test_folders
from scripts.mutants.imports import ImportGraph
from scripts.mutants.ledger import AWAY, KILLED, LIVES, LONG, MET, Ledger, Sight
from scripts.mutants.mutations import Mutation
from scripts.mutants.probes import PROBE_MODULE, with_probes
from scripts.mutants.programs import Finished, finished
from scripts.mutants.trees import Tree

# Most faults are noticed by the files of tests that are nearest.
NEAREST = 3
# The others that are asked, also by nearness. A fault that acts while its module is imported concerns every test, and
# so each of them has to be run with it.
FURTHER = 45
FURTHER_OF_IMPORTS = 12
# Tests of what is not in the source.
OF_THE_TOOLS = ("tests/scripts/", "tests/repository/")
# How many files of tests are asked at once which faults they meet.
ASKED_AT_ONCE = 12
# Of the processor, for the nearest files: what takes longer is left to those tests that come by.
NEAREST_SECONDS = 6.0
# Of the clock. A fault may make tests wait for ever; a busy machine may make them wait long.
MAX_SECONDS = 900


@dataclass(frozen=True)
class Verdict:
    """What became of a mutation: killed, survived, or unreached; with the line of the test that failed."""

    mutation: Mutation
    outcome: str
    note: str = ""


class Court:
    """The copies of the checkout, as many mutations at once as there are of them, and what was seen so far."""

    def __init__(self, trees: Sequence[Tree], ledger: Ledger, seconds: float, everywhere: bool = False) -> None:
        self._ledger = ledger
        self._seconds = seconds
        self._everywhere = everywhere
        self._graph = ImportGraph(trees[0].folder)
        self._free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        self._trees = trees
        for tree in trees:
            (tree.folder / "src" / "mutant_probe.py").write_text(PROBE_MODULE, encoding="utf-8")
            self._free.put(tree)

    def verdicts(self, sample: Sequence[Mutation], told: Callable[[Verdict], None]) -> list[Verdict]:
        """In the order of the sample; what was judged before is told as it was."""
        files = {each: self._near(each) for each in sample}
        with ThreadPoolExecutor(len(self._trees)) as pool:

            def judge(mutation: Mutation) -> None:
                self._meet_nearest(mutation, files[mutation])
                if self._ledger.killed_by(mutation, files[mutation]) is not None:
                    told(self._verdict(mutation, files[mutation]))

            list(pool.map(judge, sample))
            asked = living = [each for each in sample if self._ledger.killed_by(each, files[each]) is None]
            self._ask(pool, living, files)
            if self._everywhere:
                living = [each for each in asked if each.probe and self._ledger.killed_by(each, files[each]) is None]
                files |= {each: [*files[each], *self._far(files[each])] for each in living}
                self._ask(pool, living, files)
        for mutation in asked:
            told(self._verdict(mutation, files[mutation]))
        return [self._verdict(each, files[each]) for each in sample]

    def _ask(self, pool: Executor, living: Sequence[Mutation], files: Mapping[Mutation, list[str]]) -> None:
        """Which tests of their files come by, and what these say then."""
        asked: dict[str, list[Mutation]] = defaultdict(list)
        for mutation in living:
            for file in self._ledger.unseen(mutation, files[mutation]):
                asked[file].append(mutation)
        names = sorted(asked)
        groups = [names[start : start + ASKED_AT_ONCE] for start in range(0, len(names), ASKED_AT_ONCE)]
        list(pool.map(partial(self._record, asked=asked), groups))
        list(pool.map(lambda each: self._meet_rest(each, files[each]), living))

    def _near(self, mutation: Mutation) -> list[str]:
        folder = self._trees[0].folder
        nearest = self._graph.nearest_tests(mutation.path, test_folders(folder, mutation.path))
        nearest = broad_first(mutation.path, nearest, NEAREST)
        return nearest[: NEAREST + (FURTHER if mutation.probe is not None else FURTHER_OF_IMPORTS)]

    def _far(self, near: list[str]) -> list[str]:
        return [each for each in self._graph.tests if each not in near and not each.startswith(OF_THE_TOOLS)]

    def _meet_nearest(self, mutation: Mutation, files: list[str]) -> None:
        if self._ledger.killed_by(mutation, files) is None:
            first = files[:NEAREST] if mutation.probe is not None else files
            untried = self._ledger.untried(mutation, first)
            for start in range(0, len(untried), NEAREST):
                tests = {file: (file,) for file in untried[start : start + NEAREST]}
                if not self._run(mutation, tests, min(self._seconds, NEAREST_SECONDS)):
                    return

    def _meet_rest(self, mutation: Mutation, files: list[str]) -> None:
        sights = {file: self._ledger.sight(mutation, file) for file in files}
        tests = {file: each.tests for file, each in sights.items() if each is not None and each.outcome == MET}
        if tests:
            self._run(mutation, tests, self._seconds)

    def _run(self, mutation: Mutation, tests: Mapping[str, tuple[str, ...]], seconds: float) -> bool:
        """Writes down what these files say, and whether they all pass."""
        with _borrowed(self._free) as tree:
            source = (tree.folder / mutation.path).read_bytes()
            tree.write(mutation.path, with_probes(source, {self._ledger.fault(mutation): mutation}, mutation))
            try:
                names = [name for each in tests.values() for name in each]
                done = finished(tree, names, seconds, MAX_SECONDS, "-x")
            finally:
                tree.write(mutation.path, source)
            is_met = mutation.probe is None or tree.marks.stat().st_size > 0
        if done.has_failed:
            self._ledger.write(mutation, [(_failed_file(done, list(tests)), Sight(KILLED, done.told_by))])
        elif done.is_whole:
            self._ledger.write(mutation, [(file, Sight(LIVES if is_met else AWAY)) for file in tests])
        else:
            self._ledger.write(mutation, [(file, Sight(LONG)) for file in self._ledger.untried(mutation, list(tests))])
        return not done.has_failed

    def _record(self, files: list[str], asked: dict[str, list[Mutation]]) -> None:
        with _borrowed(self._free) as tree:
            record(tree, self._ledger, files, asked)

    def _verdict(self, mutation: Mutation, files: list[str]) -> Verdict:
        note = self._ledger.killed_by(mutation, files)
        if note is not None:
            return Verdict(mutation, "killed", note)
        seen = f"{len(files) - len(self._ledger.unseen(mutation, files))} of {len(files)} files of tests"
        return Verdict(mutation, "survived" if self._ledger.is_met(mutation, files) else "unreached", seen)


@contextlib.contextmanager
def _borrowed(free: queue.SimpleQueue[Tree]) -> Iterator[Tree]:
    tree = free.get()
    try:
        yield tree
    finally:
        free.put(tree)


def _failed_file(done: Finished, files: list[str]) -> str:
    """Without a word about it, as after an endless loop, the first has to stand for them."""
    return next((file for file in files if file in done.told_by), files[0])
