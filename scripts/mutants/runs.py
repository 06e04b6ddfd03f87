"""What the tests say to a mutation: a short run of the nearest files of tests, and a longer one where it lives."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.homes import test_folders
from scripts.mutants.imports import ImportGraph
from scripts.mutants.mutations import Mutation
from scripts.mutants.probes import PROBE_MODULE, probed
from scripts.mutants.trees import Tree

# How many files of tests there are in one run and the next: most faults are noticed by the nearest.
ROUNDS = (3, 12)
# A fault may make a loop endless. The machine may be busy, and tests may wait for other programs.
MAX_SECONDS = 300
NOTHING_RUN = 5


@dataclass(frozen=True)
class Verdict:
    """What became of a mutation: killed, survived, or unreached; with the line of the test that failed."""

    mutation: Mutation
    outcome: str
    note: str = ""


def verdicts(
    trees: Sequence[Tree], sample: Sequence[Mutation], seconds: float, told: Callable[[Verdict], None]
) -> list[Verdict]:
    """As many at once as there are trees; in the order of the sample."""
    graph = ImportGraph(trees[0].folder)
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        (tree.folder / "src" / "mutant_probe.py").write_text(PROBE_MODULE, encoding="utf-8")
        free.put(tree)

    def judged(mutation: Mutation) -> Verdict:
        with _borrowed(free) as tree:
            tests = graph.nearest_tests(mutation.path, test_folders(tree.folder, mutation.path))
            verdict = _judge(tree, mutation, tests, seconds)
        told(verdict)
        return verdict

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(judged, sample))


@contextlib.contextmanager
def _borrowed(free: queue.SimpleQueue[Tree]) -> Iterator[Tree]:
    tree = free.get()
    try:
        yield tree
    finally:
        free.put(tree)


def _judge(tree: Tree, mutation: Mutation, tests: list[str], seconds: float) -> Verdict:
    mark = tree.folder / "reached"
    mark.unlink(missing_ok=True)
    source = (tree.folder / mutation.path).read_bytes()
    tree.write(mutation.path, probed(mutation, source))
    done = 0
    try:
        for count in ROUNDS:
            files, done = tests[done : done + count], done + count
            code, output = _finished(tree, files, mark, seconds) if files else (0, "")
            if code not in (0, NOTHING_RUN):
                return Verdict(mutation, "killed", _told_by(output))
    finally:
        tree.write(mutation.path, source)
    is_reached = mutation.probe is None or mark.exists()
    return Verdict(mutation, "survived" if is_reached else "unreached", f"{min(done, len(tests))} files of tests")


def _finished(tree: Tree, files: list[str], mark: Path, seconds: float) -> tuple[int, str]:
    """The exit code and what was printed; processes that the tests started end with them when the time is over."""
    process = subprocess.Popen(
        tree.pytest("-x", "-p", "scripts.mutants.plugin", *files),
        cwd=tree.folder,
        env=tree.environment(MUTANT_MARK=str(mark), MUTANT_SECONDS=str(seconds)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return -signal.SIGKILL, f"{output}\nno end within {MAX_SECONDS} s"
    return process.returncode, output


def _told_by(output: str) -> str:
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    lines = failed or output.strip().splitlines()[-1:]
    return lines[0][:160] if lines else ""
