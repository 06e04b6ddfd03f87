"""The parent's rules, with small programs in place of the real ones: what it shows, what it bears, when it gives up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.supervisor import console
from mooring.supervisor.console import Console, Log
from tests.cli.embedded import eventually

ROOT = Path(__file__).parent.parent.parent
PATIENT = "import time\nwhile True: time.sleep(60)\n"
CONFIG = "from mooring.supervisor.parent_watchdog import read_config\nconfig = read_config()\n"
READY = "open(config['folder'] + '/ready', 'w').close()\n"


class Trial:
    """Programs, and the supervisor over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("patient", CONFIG + PATIENT)

    def write(self, module: str, code: str) -> None:
        (self.folder / f"{module}.py").write_text(code)

    def start(self, *modules: str) -> subprocess.Popen[str]:
        path = os.pathsep.join((str(self.folder), str(ROOT)))
        return subprocess.Popen(
            [sys.executable, "-m", "tests.cli.supervised", str(self.folder), *modules],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *modules: str) -> tuple[int, list[str]]:
        """To its end, which it must come to by itself."""
        process = self.start(*modules)
        out, _ = process.communicate(timeout=60)
        return process.returncode, out.splitlines()


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)


def test_a_program_that_fails_again_and_again_is_given_up_with_its_last_lines(trial: Trial) -> None:
    trial.write("weak", CONFIG + "print('I am weak')\nraise SystemExit(3)\n")
    code, lines = trial.run("weak", "patient")
    assert code == 1
    assert lines == [
        *["The weak process ended with exit code 3; starting it again."] * 4,
        "error: the weak process ended with exit code 3, 5 times in quick succession; giving up. "
        f"Its last lines, of those in {trial.folder}/weak.log:",
        *["  I am weak"] * 5,
    ]
    assert (trial.folder / "weak.log").read_text() == "I am weak\n" * 5


def test_a_program_that_says_why_it_cannot_run_is_not_tried_again(trial: Trial) -> None:
    trial.write("broken", CONFIG + "print('error: the data are newer than this version')\nraise SystemExit(1)\n")
    assert trial.run("broken", "patient") == (1, ["error: the data are newer than this version"])


def test_errors_and_news_are_shown_and_everything_else_is_kept(trial: Trial) -> None:
    trial.write(
        "talker",
        CONFIG
        + "import json\n"
        + "print('a plain line')\n"
        + "print(json.dumps({'level': 'warning', 'message': 'a warning'}))\n"
        + "print(json.dumps({'level': 'error', 'message': 'an error\\nwith a trace'}))\n"
        + "print(json.dumps({'level': 'error', 'message': 'an error\\nwith a trace'}))\n"
        + "print(json.dumps({'level': 'info', 'message': 'all is well', 'news': 'x'}), flush=True)\n"
        + READY
        + "raise SystemExit(0)\n",
    )
    code, lines = trial.run("talker", "patient")
    assert code == 1
    assert lines[0] == "talker process: an error"
    assert lines[1] == "news: all is well"
    assert "warning" not in "".join(lines[:2])
    assert "a plain line" in (trial.folder / "talker.log").read_text()


def test_a_program_that_will_not_stop_is_killed_when_asked_twice(trial: Trial) -> None:
    trial.write("deaf", CONFIG + "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + READY + PATIENT)
    process = trial.start("deaf", "patient")
    assert process.stdout is not None
    assert process.stdout.readline() == "welcome\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "Stopping.\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(8) == 0
    process.stdout.close()


def test_a_program_that_hangs_before_its_first_answer_is_killed_and_started_again(trial: Trial) -> None:
    trial.write(
        "sleeper",
        CONFIG
        + "import os, signal\n"
        + "seen = config['folder'] + '/seen'\n"
        + "if not os.path.exists(seen):\n"
        + "    open(seen, 'w').close()\n"
        + "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        + READY
        + PATIENT,
    )
    (trial.folder / "startup").write_text("2")
    process = trial.start("sleeper", "patient")
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(3)] == [
        "The sleeper process is there but does not answer; it is killed.\n",
        "The sleeper process was killed by SIGKILL; starting it again.\n",
        "welcome\n",
    ]
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    process.stdout.close()


def test_a_log_that_has_grown_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "LOG_BYTES", 10)
    log = Log(tmp_path / "x.log", "x", Console())
    log.feed(b"0123456789\n")
    log.feed(b"new\n")
    assert ((tmp_path / "x.log.1").read_text(), (tmp_path / "x.log").read_text()) == ("0123456789\n", "new\n")


def test_a_flood_of_errors_is_cut_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(tmp_path / "x.log", "x", Console())
    for number in range(50):
        log.feed(f'{{"level": "error", "message": "number {number}"}}\n'.encode())
    shown = capsys.readouterr().err.splitlines()
    assert shown == [*(f"x: number {number}" for number in range(5)), f"x: more errors are in {tmp_path}/x.log"]


def test_a_child_without_orders_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mooring.supervisor.server"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, check=False, timeout=30).returncode == 1


def test_a_child_whose_parent_closes_its_input_ends(tmp_path: Path) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    code = CONFIG + deaf + f"open({str(tmp_path / 'up')!r}, 'w').close()\n" + PATIENT
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert child.stdin is not None
    child.stdin.write(b'{"a": 1}\n')
    child.stdin.flush()
    eventually(lambda: (tmp_path / "up").exists(), "it runs")
    child.stdin.close()
    assert child.wait(10) == 1
