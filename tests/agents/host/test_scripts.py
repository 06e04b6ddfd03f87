"""Scripts and services as real processes: time limits, output, what a killed agent left, and restarts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.scripts import LONGEST_OUTPUT_CHARACTERS, SCRIPT_VARIABLE, expand_script, run_script
from mooring.agents.host.services.process_record import ProcessRecord, parse_stat, read_record
from mooring.agents.host.services.service import NodeService
from mooring.agents.host.services.supervisor import ServiceSupervisor, restart_pause
from mooring.agents.host.services.systemd import SystemdServices
from mooring.kube.errors import MooringError

SECONDS = 10.0


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits for being reaped by whoever has adopted it."""
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text())[1] == "Z"
    except OSError:
        return True


def script(folder: Path, text: str) -> Path:
    path = folder / "install.sh"
    path.write_text(text)
    return path


def test_a_script_is_run_and_the_end_of_its_output_kept(tmp_path: Path) -> None:
    path = script(tmp_path, "echo out; echo err >&2; exit 3")
    done = asyncio.run(run_script(RootFolder(tmp_path), path, SECONDS))
    assert (done.code, done.output) == (3, "out\nerr\n")
    assert done.problem("install", 60) == "the install script ended with exit code 3: out\nerr"
    long = script(tmp_path, f"yes | head -c {LONGEST_OUTPUT_CHARACTERS * 20}; echo the end")
    done = asyncio.run(run_script(RootFolder(tmp_path), long, SECONDS))
    assert done.problem("install", 60) == ""
    assert len(done.output) == LONGEST_OUTPUT_CHARACTERS
    assert done.output.endswith("the end\n")


def test_a_script_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    path = script(tmp_path, f"sleep 1000 & echo $! > {tmp_path}/child; echo begun; wait")
    done = asyncio.run(run_script(RootFolder(tmp_path), path, 1.5))
    assert done.code is None
    assert done.problem("install", 1.5) == "the install script took longer than 2 s: begun"
    child = int((tmp_path / "child").read_text())
    until(lambda: has_ended(child), "the child ended")


def test_a_script_that_hangs_when_it_is_told_to_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.agents.host.scripts._TERMINATION_SECONDS", 0.1)
    path = script(tmp_path, "trap '' TERM; while true; do sleep 0.05; done")
    assert asyncio.run(run_script(RootFolder(tmp_path), path, 0.2)).code is None


def test_a_script_that_is_told_to_end_has_time_for_it(tmp_path: Path) -> None:
    busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    path = script(tmp_path, f"trap '{busy}; echo cleaned; exit 3' TERM; echo begun; sleep 1000 & wait")
    assert asyncio.run(run_script(RootFolder(tmp_path), path, 0.5)) == (None, "begun\ncleaned\n")


def test_a_script_has_its_own_session_and_the_mark_of_the_agent(tmp_path: Path) -> None:
    root = RootFolder(tmp_path)
    text = 'pwd; echo "$MOORING_HOST_AGENT $MOORING_HOST_SCRIPT"; read -r line || echo nothing to read\n'
    done = asyncio.run(run_script(root, script(tmp_path, f"{text}cut -d' ' -f1,6 /proc/$$/stat"), 5))
    *said, session = done.output.splitlines()
    assert said == ["/", f"{root.mark} {root.mark}-install.sh", "nothing to read"]
    assert len(set(session.split())) == 1


def test_a_script_that_cannot_be_started_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    done = asyncio.run(run_script(RootFolder(tmp_path), tmp_path / "install.sh", 5))
    assert done.problem("install", 5) == (
        "the install script ended with exit code 126: it cannot be started: [Errno 12] Cannot allocate memory"
    )


async def refused(*words: str, **named: object) -> None:
    raise OSError(12, "Cannot allocate memory")


def test_a_cancelled_script_is_ended(tmp_path: Path) -> None:
    path = script(tmp_path, f"echo $$ > {tmp_path}/pid; sleep 1000")

    async def cancelled() -> None:
        task = asyncio.create_task(run_script(RootFolder(tmp_path), path, SECONDS))
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(cancelled())
    until(lambda: has_ended(int((tmp_path / "pid").read_text())), "the script ended")


def test_a_script_that_is_cancelled_while_it_starts_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it has begun by then, which would live on."""
    path = script(tmp_path, f"sleep 1000 & echo $! > {tmp_path}/begun; mv {tmp_path}/begun {tmp_path}/pid; wait")
    start = asyncio.create_subprocess_exec

    async def cancelled() -> None:
        async def slow(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
            process = await start(*arguments, **options)
            while not (tmp_path / "pid").exists():
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.sleep(0.01)
            return process

        monkeypatch.setattr(asyncio, "create_subprocess_exec", slow)
        task = asyncio.create_task(run_script(RootFolder(tmp_path), path, SECONDS))
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(cancelled())
    until(lambda: has_ended(int((tmp_path / "pid").read_text())), "the script ended")


def test_a_script_that_a_killed_agent_left_is_ended_before_it_is_run_again(tmp_path: Path) -> None:
    root = RootFolder(tmp_path)
    environment = {**os.environ, SCRIPT_VARIABLE: f"{root.mark}-install.sh"}
    with subprocess.Popen(["sleep", "1000"], env=environment) as left:
        done = asyncio.run(run_script(root, script(tmp_path, "echo fresh"), SECONDS))
        assert done.output == "fresh\n"
        assert left.wait(SECONDS) == -signal.SIGKILL


def test_variables_of_scripts_are_filled_in() -> None:
    text = "tar -C {{.BundleDownloadPath}} && hostname {{ .Hostname }} && echo {{.Other}}"
    expanded = expand_script(text, {"BundleDownloadPath": "/b", "Hostname": "node10"})
    assert expanded == "tar -C /b && hostname node10 && echo {{.Other}}"


# Services


def service(folder: Path, text: str) -> NodeService:
    return NodeService("kubelet", ("/bin/sh", "-c", text), dict(os.environ), folder / "log")


def test_a_process_is_told_by_its_number_and_start_time(tmp_path: Path) -> None:
    record, state = parse_stat("42 (a) b ) R 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 2 3")
    assert (record, state) == (ProcessRecord(42, 777), "R")
    own, _ = parse_stat(Path("/proc/self/stat").read_text())
    assert own.pid == os.getpid()
    assert own.is_running()
    assert not own._replace(start=own.start + 1).is_running()
    (tmp_path / "record").write_text("nonsense")
    assert read_record(tmp_path / "record") is None
    assert read_record(tmp_path / "missing") is None


def test_restarts_wait_longer_each_time() -> None:
    assert [restart_pause(restarts) for restarts in range(9)] == [0, 1, 2, 4, 8, 16, 32, 60, 60]


def test_a_service_that_ends_is_started_again(tmp_path: Path) -> None:
    async def story() -> None:
        supervisor = ServiceSupervisor(tmp_path / "services")
        await supervisor.ensure(service(tmp_path, f"echo x >> {tmp_path}/runs; exec sleep 1000"))
        first = read_record(tmp_path / "services" / "kubelet")
        assert first is not None
        # The record is there before the command runs.
        for _ in range(int(SECONDS / 0.01)):
            if (tmp_path / "runs").exists():
                break
            await asyncio.sleep(0.01)
        os.kill(first.pid, signal.SIGKILL)
        for _ in range(int(SECONDS / 0.01)):
            if (tmp_path / "runs").read_text() == "x\nx\n":
                break
            await asyncio.sleep(0.01)
        second = read_record(tmp_path / "services" / "kubelet")
        assert second not in (None, first)
        await supervisor.stop("kubelet")
        assert not await supervisor.is_running("kubelet")
        assert second is not None
        assert not second.is_running()

    asyncio.run(story())


AGENT = """
import asyncio, os, sys
from pathlib import Path
from mooring.agents.host.services.service import NodeService
from mooring.agents.host.services.supervisor import ServiceSupervisor
folder = Path(sys.argv[1])
async def main():
    supervisor = ServiceSupervisor(folder / "services")
    words = ("/bin/sh", "-c", f"echo x >> {folder}/runs; exec sleep 1000")
    await supervisor.ensure(NodeService("kubelet", words, dict(os.environ), folder / "log"))
    print("up", flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""


def test_a_service_of_a_killed_agent_is_taken_over_and_not_started_twice(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", AGENT, str(tmp_path)], stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "up\n"
        agent.kill()
    until((tmp_path / "runs").exists, "the service runs")

    async def story() -> None:
        supervisor = ServiceSupervisor(tmp_path / "services")
        before = read_record(tmp_path / "services" / "kubelet")
        assert before is not None
        await supervisor.ensure(service(tmp_path, f"echo x >> {tmp_path}/runs; exec sleep 1000"))
        assert read_record(tmp_path / "services" / "kubelet") == before
        assert (tmp_path / "runs").read_text() == "x\n"
        # Its end is heard of, though it is nobody's child here.
        os.kill(before.pid, signal.SIGKILL)
        for _ in range(int(SECONDS / 0.01)):
            if read_record(tmp_path / "services" / "kubelet") not in (None, before):
                break
            await asyncio.sleep(0.01)
        await supervisor.close()
        # Closing leaves it running; the next agent would find it.
        assert await supervisor.is_running("kubelet")
        await ServiceSupervisor(tmp_path / "services").stop("kubelet")
        assert not await supervisor.is_running("kubelet")

    asyncio.run(story())


# Stands for systemctl and systemd-run: a unit is active while a file of its name is there.
SYSTEMD = """#!/bin/sh
echo "$(basename "$0") $*" >> {folder}/calls
case "$(basename "$0") $1" in
  "systemctl is-active") [ -e "{folder}/$2" ] && echo active || {{ echo inactive; exit 3; }} ;;
  "systemctl stop") rm -f "{folder}/$2" ;;
  "systemctl reset-failed") exit 1 ;;
  *) [ ! -e {folder}/refuses ] || {{ echo no; exit 1; }}
     for word; do case "$word" in --unit=*) touch "{folder}/${{word#*=}}" ;; esac; done ;;
esac
"""


def test_services_are_units_of_systemd_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, state = tmp_path / "bin", tmp_path / "state"
    for folder in (programs, state):
        folder.mkdir()
    for name in ("systemctl", "systemd-run"):
        (programs / name).write_text(SYSTEMD.format(folder=state))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    async def story() -> None:
        services = SystemdServices("mooring-1234")
        kubelet = service(tmp_path, "exec sleep 1000")
        assert not await services.is_running("kubelet")
        await services.ensure(kubelet)
        await services.ensure(kubelet)
        assert await services.is_running("kubelet")
        # The agent ends, and the unit does not.
        await services.close()
        assert (state / "mooring-1234-kubelet.service").exists()
        await services.stop("kubelet")
        await services.stop("kubelet")
        assert not await services.is_running("kubelet")
        await services.stop_pods()
        (state / "refuses").touch()
        with pytest.raises(MooringError, match="systemd does not start mooring-1234-kubelet"):
            await services.ensure(kubelet)

    asyncio.run(story())
    calls = (state / "calls").read_text().splitlines()
    assert "systemctl stop kubepods.slice" in calls
    assert len([call for call in calls if call.startswith("systemd-run")]) == 2
