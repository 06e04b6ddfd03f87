"""What the tests say to a sample: one run that finds who reaches what, then one short run for each mutation."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.homes import nearness, test_folders
from scripts.mutants.mutations import Mutation
from scripts.mutants.probes import PROBE_MODULE, probed, reached
from scripts.mutants.trees import Tree

# A mutation may make a loop endless. Starting pytest and its imports is part of a run.
START_SECONDS = 60
SLOWNESS = 10
NO_TEST_COLLECTED = (4, 5)


@dataclass(frozen=True)
class Reach:
    """The tests that passed without any mutation with their seconds, and those that come by a mutation, by number."""

    seconds: dict[str, float]
    tests: dict[int, set[str]]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutation: killed, survived, or unreached; with how many tests and the last line they printed."""

    mutation: Mutation
    outcome: str
    tests: int = 0
    note: str = ""


def find_reach(tree: Tree, sample: Sequence[Mutation], jobs: int) -> Reach:
    by_path: dict[Path, list[tuple[int, Mutation]]] = defaultdict(list)
    for number, mutation in enumerate(sample):
        by_path[mutation.path].append((number, mutation))
    originals = {path: (tree.folder / path).read_bytes() for path in by_path}
    for path, numbered in by_path.items():
        tree.write(path, probed(originals[path], numbered))
    (tree.folder / "src" / "mutant_probe.py").write_text(PROBE_MODULE, encoding="utf-8")
    tests_file, reached_file = tree.folder / "tests.tsv", tree.folder / "reached.tsv"
    folders = sorted({folder for path in by_path for folder in test_folders(tree.folder, path)})
    outermost = [each for each in folders if not any(each.startswith(f"{other}/") for other in folders)]
    with (tree.folder / "reach.log").open("wb") as log:
        subprocess.run(
            tree.pytest(
                "-p", "scripts.mutants.plugin", "-p", "xdist", "-n", str(jobs), "--dist", "loadfile", *outermost
            ),
            cwd=tree.folder,
            env=tree.environment(MUTANTS_TESTS=str(tests_file), MUTANTS_REACHED=str(reached_file)),
            check=False,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    for path, source in originals.items():
        tree.write(path, source)
    return Reach(_passed(tests_file), reached(reached_file))


def _passed(file: Path) -> dict[str, float]:
    if not file.exists():
        raise SystemExit(f"mutants: no test ran before any mutation; {file.with_name('reach.log')} says why.")
    seconds: dict[str, float] = {}
    others = set()
    for line in file.read_text(encoding="utf-8").splitlines():
        test, outcome, took = line.split("\t")
        if outcome == "passed":
            seconds[test] = float(took)
        else:
            others.add(test)
    return {test: took for test, took in seconds.items() if test not in others}


def chosen_tests(root: Path, number: int, mutation: Mutation, reach: Reach, limit_seconds: float) -> list[str]:
    """The nearest and quickest first, as many as the limit allows, at least one; none where nothing comes by."""
    folders = test_folders(root, mutation.path)
    came_by = reach.tests.get(number, set())
    everywhere = mutation.probe is None or "" in came_by
    candidates = [
        test
        for test in reach.seconds
        if nearness(test, folders) < len(folders)
        and (everywhere or test in came_by or test.partition("::")[0] in came_by)
    ]
    candidates.sort(key=lambda test: (nearness(test, folders), reach.seconds[test]))
    chosen: list[str] = []
    for test in candidates:
        limit_seconds -= reach.seconds[test]
        if chosen and limit_seconds < 0:
            break
        chosen.append(test)
    return chosen


def verdicts(
    trees: Sequence[Tree], sample: Sequence[Mutation], reach: Reach, limit_seconds: float,
    told: Callable[[Verdict], None],
) -> list[Verdict]:  # fmt: skip
    """As many at once as there are trees; in the order of the sample."""
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def judged(number: int) -> Verdict:
        mutation = sample[number]
        with _borrowed(free) as tree:
            tests = chosen_tests(tree.folder, number, mutation, reach, limit_seconds)
            verdict = _judge(tree, mutation, tests, reach) if tests else Verdict(mutation, "unreached")
        told(verdict)
        return verdict

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(judged, range(len(sample))))


@contextlib.contextmanager
def _borrowed(free: queue.SimpleQueue[Tree]) -> Iterator[Tree]:
    tree = free.get()
    try:
        yield tree
    finally:
        free.put(tree)


def _judge(tree: Tree, mutation: Mutation, tests: list[str], reach: Reach) -> Verdict:
    listed = tree.folder / "chosen.txt"
    listed.write_text("\n".join(tests) + "\n", encoding="utf-8")
    source = tree.apply(mutation)
    try:
        seconds = START_SECONDS + SLOWNESS * sum(reach.seconds[test] for test in tests)
        code, output = _finished(tree.pytest("-x", f"@{listed}"), tree, seconds)
    finally:
        tree.write(mutation.path, source)
    if code in NO_TEST_COLLECTED and "error" not in output.lower():
        raise SystemExit(f"mutants: pytest found none of {len(tests)} tests for {mutation.path}:\n{output}")
    return Verdict(mutation, "killed" if code else "survived", len(tests), _told_by(output))


def _finished(command: list[str], tree: Tree, seconds: float) -> tuple[int, str]:
    """The exit code and what was printed; processes that the tests started end with them when the time is over."""
    process = subprocess.Popen(
        command,
        cwd=tree.folder,
        env=tree.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return -signal.SIGKILL, f"{output}\nno end within {seconds:.0f} s"
    return process.returncode, output


def _told_by(output: str) -> str:
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    lines = failed or output.strip().splitlines()[-1:]
    return lines[0][:160] if lines else ""
