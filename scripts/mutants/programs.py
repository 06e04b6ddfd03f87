"""One run of pytest over a copy of the source, which ends with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.mutants.plugin import OUT_OF_TIME
from scripts.mutants.trees import Tree

SOME_FAILED = 1
NOTHING_RUN = 5


@dataclass(frozen=True)
class Finished:
    """What a run of tests said."""

    code: int
    output: str
    process: int

    @property
    def has_failed(self) -> bool:
        return self.code not in (0, NOTHING_RUN)

    @property
    def is_whole(self) -> bool:
        """Whether every test had its turn."""
        return self.code in (0, SOME_FAILED, NOTHING_RUN) and OUT_OF_TIME not in self.output

    @property
    def told_by(self) -> str:
        """The line of the first test that failed, or the last line where there is none."""
        failed = [line for line in self.output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        lines = failed or self.output.strip().splitlines()[-1:]
        return lines[0][:160] if lines else ""


def finished(tree: Tree, tests: Sequence[str], seconds: float, longest: float, *options: str) -> Finished:
    """`seconds` are of the processor, after which no test begins; after `longest` of the clock it is killed."""
    tree.marks.write_text("", encoding="utf-8")
    names = tree.folder / "tests-to-run"
    names.write_text("\n".join(tests) + "\n", encoding="utf-8")
    process = subprocess.Popen(
        tree.pytest("-p", "scripts.mutants.plugin", *options, f"@{names}"),
        cwd=tree.folder,
        env=tree.environment(MUTANT_MARKS=str(tree.marks), MUTANT_SECONDS=str(seconds)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Finished(-signal.SIGKILL, f"{output}\nno end within {longest:.0f} s", process.pid)
    return Finished(process.returncode, output, process.pid)
