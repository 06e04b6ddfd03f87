"""Draws mutations, lets the tests of their packages at them, and prints those that live as differences."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scripts.made import ROOT
from scripts.mutants.explained import FILE, explanations, reason
from scripts.mutants.ledger import Ledger
from scripts.mutants.mutations import Mutation
from scripts.mutants.runs import Court, Verdict
from scripts.mutants.sample import draw, every_mutation
from scripts.mutants.trees import Tree

# What was seen stays here, so that a run goes on where the last one stopped.
LEDGER = ROOT / ".mutants" / "seen.jsonl"


def main(arguments: Sequence[str]) -> int:
    """The exit code is 1 where a mutation that nobody explained survives or is reached by no test."""
    asked = _parser().parse_args(arguments)
    sample = draw(every_mutation(ROOT, asked.only), asked.seed, asked.count)
    if asked.list:
        for mutation in sample:
            print(difference(mutation, (ROOT / mutation.path).read_bytes()))
        return 0
    known = explanations(FILE.read_text(encoding="utf-8"))
    explained: list[tuple[Mutation, str]] = []
    left: list[Mutation] = []
    for mutation in sample:
        why = reason(mutation, (ROOT / mutation.path).read_bytes(), known)
        if why is None:
            left.append(mutation)
        else:
            explained.append((mutation, why))
    found = _found(left, asked) if left else []
    _report(found, explained)
    return 0 if all(each.outcome == "killed" for each in found) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same sample")
    parser.add_argument("--count", type=int, default=40, help="how many mutations are drawn")
    parser.add_argument("--only", metavar="PACKAGE", help="of src/mooring, such as runtime or features/groups")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run at once")
    parser.add_argument("--seconds", type=float, default=30, help="of the processor that one run of tests may take")
    parser.add_argument("--everywhere", action="store_true", help="show those that live to all tests (an hour)")
    parser.add_argument("--list", action="store_true", help="show the sample and run nothing")
    return parser


def _found(sample: list[Mutation], asked: argparse.Namespace) -> list[Verdict]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [Tree(ROOT, Path(folder) / str(number)) for number in range(asked.jobs)]
        court = Court(trees, Ledger(ROOT, LEDGER), asked.seconds, asked.everywhere)
        return court.verdicts(sample, _tell)


def _tell(verdict: Verdict) -> None:
    mutation = verdict.mutation
    print(f"{verdict.outcome:9} {mutation.path}:{mutation.line} {mutation.kind} ({verdict.note})", flush=True)


def difference(mutation: Mutation, source: bytes) -> str:
    """A unified difference of a few lines, with file and line above it."""
    before, after = source.decode().splitlines(), mutation.applied(source).decode().splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    return "\n".join([f"{mutation.path}:{mutation.line} {mutation.kind}", *lines, ""])


def _report(found: list[Verdict], explained: list[tuple[Mutation, str]]) -> None:
    for heading, outcome in (("Survived", "survived"), ("No test reaches", "unreached")):
        for verdict in found:
            if verdict.outcome == outcome:
                print(f"\n{heading}: {difference(verdict.mutation, (ROOT / verdict.mutation.path).read_bytes())}")
    for mutation, why in explained:
        print(f"\nExplained: {mutation.path}:{mutation.line} {mutation.kind}: {why}")
    counts = Counter(verdict.outcome for verdict in found)
    real = len(found)
    share = f"{100 * counts['killed'] / real:.1f} %" if real else "-"
    print(
        f"\ndrawn                          {real + len(explained):4}"
        f"\nexplained, nothing to be seen  {len(explained):4}"
        f"\nkilled                         {counts['killed']:4}  {share} of the rest"
        f"\nsurvived                       {counts['survived']:4}"
        f"\nno test reaches it             {counts['unreached']:4}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
