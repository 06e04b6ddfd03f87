"""The tools that tests of both homes stand on: finding programs, running them, and a control plane's own mistakes."""

from __future__ import annotations

import contextlib
import http.server
import socket
import sys
import threading
from pathlib import Path

import pytest

from mooring.testing import processes
from mooring.testing.controlplane import ControlPlane, answers
from mooring.testing.processes import ProgramEnded, ProgramProcess, free_port
from mooring.testing.tools import ToolMissing, folder, tool


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder for programs."""
    monkeypatch.setenv("MOORING_TOOLS", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.touch(mode=0o755)
    return path


def test_a_missing_program_is_named_with_the_way_to_get_it(cache: Path) -> None:
    with pytest.raises(ToolMissing, match=r"There is no etcd in .*`sh scripts/tools.sh etcd` in a checkout builds it"):
        tool("etcd")


def test_the_usual_assets_come_before_what_was_built(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = program(cache, "etcd")
    assert tool("etcd") == built
    assets = cache.parent / "assets"
    assets.mkdir()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert tool("etcd") == built
    preferred = program(assets, "etcd")
    assert tool("etcd") == preferred


def test_a_process_that_ends_early_shows_its_last_words(tmp_path: Path) -> None:
    process = ProgramProcess(
        [sys.executable, "-c", "print('the harbour is full'); raise SystemExit(3)"], tmp_path / "log"
    )
    with pytest.raises(ProgramEnded, match=r"(?s)ended with exit code 3.*the harbour is full"):
        process.wait_until(lambda: False, 30)


def test_a_process_that_is_never_ready_is_given_up(tmp_path: Path) -> None:
    process = ProgramProcess([sys.executable, "-c", "import signal; signal.pause()"], tmp_path / "log")
    with pytest.raises(ProgramEnded, match="was not ready after"):
        process.wait_until(lambda: False, 0.1)
    assert process.running()
    assert process.stop() != 0
    assert not process.running()


def test_a_control_plane_knows_its_parts(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='A control plane has no "kubelet"'):
        ControlPlane(tmp_path, ["kubelet"])


def test_a_control_plane_without_programs_leaves_nothing_running(cache: Path, tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path / "plane")
    with pytest.raises(ToolMissing, match="etcd"):
        plane.start()
    assert plane.pids() == {}


def test_programs_are_looked_for_where_they_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOORING_TOOLS", "XDG_CACHE_HOME", "KUBEBUILDER_ASSETS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert folder() == tmp_path / ".cache" / "mooring" / "tools" / "bin"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert folder() == tmp_path / "caches" / "mooring" / "tools" / "bin"
    monkeypatch.setenv("MOORING_TOOLS", str(tmp_path / "named"))
    assert folder() == tmp_path / "named" / "bin"


def test_a_program_that_may_not_be_run_is_none(cache: Path) -> None:
    (cache / "etcd").touch(mode=0o644)
    with pytest.raises(ToolMissing):
        tool("etcd")


def test_a_process_is_in_a_session_of_its_own_and_adds_to_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEPT", "as it is")
    (tmp_path / "log").write_text("earlier\n", encoding="utf-8")
    says = "import os, sys; print(os.getsid(0) == os.getpid(), os.environ['KEPT'], os.environ['GIVEN'])"
    says += "; sys.stdout.flush(); print(repr(sys.stdin.read()), file=sys.stderr)"
    process = ProgramProcess([sys.executable, "-c", says], tmp_path / "log", {"GIVEN": "by the test"})
    assert process.name == Path(sys.executable).name
    with pytest.raises(ProgramEnded, match="ended with exit code 0"):
        process.wait_until(lambda: False, 30)
    words = process.tail().splitlines()
    assert (words[0], sorted(words[1:])) == ("earlier", ["''", "True as it is by the test"])
    assert process.stop() == 0


def test_no_more_than_the_end_of_a_log_is_shown(tmp_path: Path) -> None:
    process = ProgramProcess([sys.executable, "-c", ""], tmp_path / "log")
    process.kill()
    (tmp_path / "log").write_bytes(b"x" + b"y" * 1999 + b"\xff")
    assert process.tail() == "y" * 1999 + "\ufffd"


def test_a_process_that_will_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "STOP_SECONDS", 0.2)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"
    process = ProgramProcess([sys.executable, "-c", deaf], tmp_path / "log")
    process.wait_until(lambda: "deaf" in process.tail(), 30)
    assert process.pid > 1
    assert process.stop() == -9
    assert not process.running()


def test_a_free_port_can_be_had(tmp_path: Path) -> None:
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", free_port()))
        assert free_port() != taken.getsockname()[1]


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_request(self, *_: object) -> None:
        pass


def test_only_200_is_an_answer() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            assert [answers(f"{url}/{code}") for code in (200, 201, 404, 500)] == [True, False, False, False]
        finally:
            server.shutdown()
            thread.join()
    assert not answers(url)
