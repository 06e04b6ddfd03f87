"""One run of pytest over a copy of the source, which ends with all that it started and touches no mount but its own."""

from __future__ import annotations

import functools
import os
import shutil
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
        own_mounts() + tree.pytest("-p", "scripts.mutants.plugin", *options, f"@{names}"),
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
        return Finished(-signal.SIGKILL, f"{output}\nno end within {longest:.0f} s")
    return Finished(process.returncode, output)


@functools.cache
def own_mounts() -> list[str]:
    """What a command begins with to have mounts and processes of its own, where this user may; nothing elsewhere.

    A fault in what mounts or kills would reach those of the machine. The shell is the parent of what has lost its own:
    the tests themselves must not be the first process, which no signal ends.
    """
    command = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += ["sh", "-c", '"$@"; exit $?', "run"]
    if os.geteuid() != 0 or shutil.which(command[0]) is None:
        return []
    return command if subprocess.run([*command, "true"], capture_output=True).returncode == 0 else []
