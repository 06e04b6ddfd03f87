"""`mooring shadow` beside a scheduler that the test plays: what it prints, and what it keeps."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.placement.shadow import WATCHED, Judgement, Shadow
from mooring.placement.shadow.world import Place
from mooring.testing.http import Api
from tests.cli.embedded import eventually
from tests.cli.served import ServedCluster, served
from tests.cli.world import World, requests

PODS = "/api/v1/namespaces/default/pods"
FULL = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: "
    "2 Preemption is not helpful for scheduling."
)


class Play:
    """Verbs that create pods, and that bind them as a scheduler would."""

    def __init__(self, cluster: ServedCluster, world: World) -> None:
        self.cluster, self.world = cluster, world
        self.api = Api(cluster.url)

    def arrives(self, name: str, cpu: int = 1, **spec: Any) -> None:
        pod = self.world.pod(name, resources=requests(cpu=cpu), **spec)
        answer = self.api.post(PODS, pod)
        assert answer.code == 201, answer.body

    def bind(self, name: str, node: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        assert self.api.post(f"{PODS}/{name}/binding", body).code == 201

    def refuse(self, name: str, message: str) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        answer = self.api.patch(f"{PODS}/{name}/status", "merge", {"status": {"conditions": [condition]}})
        assert answer.code == 200, answer.body

    def watched(self) -> None:
        """Until the shadow follows all kinds: it has listed each, and asked once more to watch it."""

        def follows_all() -> bool:
            times = Counter(path for _, path in list(self.cluster.front.asked))
            return sum(count >= 2 for count in times.values()) >= len(WATCHED)

        eventually(lambda: follows_all() or None, "a watch of every kind")


@pytest.fixture
def play(world: World, tmp_path: Path) -> Iterator[Play]:
    with served(tmp_path) as cluster:
        world.node("a").node("b")
        cluster.add(*world.objects)
        play = Play(cluster, world)
        yield play
        play.api.close()


def shadowed(play: Play, story: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> str:
    """What the command prints while a story of so many changes happens."""
    failed: list[BaseException] = []
    seen: list[str] = []
    take = Shadow.take

    def notice(shadow: Shadow, place: Place, new: Any, now: float) -> list[Judgement]:
        found = take(shadow, place, new, now)
        seen.append(place.key)
        return found

    monkeypatch.setattr(Shadow, "take", notice)

    def perform() -> None:
        try:
            play.watched()
            changes = story()
            eventually(lambda: len(seen) >= changes or None, f"{changes} changes, of which {seen} were seen")
        except BaseException as error:
            failed.append(error)
        os.kill(os.getpid(), signal.SIGINT)

    performing = threading.Thread(target=perform)
    performing.start()
    result = CliRunner().invoke(cli, ["shadow", "--kubeconfig", play.cluster.kubeconfig(), "--keep", "kept"])
    performing.join()
    assert not failed, failed
    assert result.exit_code == 0, result.output
    return result.output


def test_agreement_is_counted_and_ctrl_c_ends_in_a_summary(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def story() -> int:
        play.arrives("one")
        play.bind("one", "a")
        play.arrives("two")
        play.bind("two", "b")
        play.arrives("large", cpu=100)
        play.refuse("large", FULL)
        return 6

    output = shadowed(play, story, monkeypatch)
    assert f"Following {play.cluster.url}: 2 nodes, 0 pods, of which 0 wait for a node.\n" in output
    assert output.endswith("In all: 3 of 3 outcomes as predicted (100.0 %); 3 exactly.\n")
    assert not Path("kept").exists()


def test_a_disagreement_is_told_and_kept_for_explain(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def story() -> int:
        play.arrives("picky", nodeSelector={"disk": "ssd"})
        play.bind("picky", "a")
        return 2

    output = shadowed(play, story, monkeypatch)
    assert "default/picky: predicted left pending: 0/2 nodes are available: 2 node(s) didn't match Pod's" in output
    assert "but it was bound to a\n  kept in kept/default.picky.1.yaml.gz\n" in output
    assert "In all: 0 of 1 outcome as predicted (0.0 %); 1 otherwise.\n" in output
    assert "\r" not in output
    replayed = CliRunner().invoke(cli, ["explain", "pod/picky", "--snapshot", "kept/default.picky.1.yaml.gz"])
    assert replayed.exit_code == 2
    assert replayed.stdout.startswith("default/picky cannot be placed: 0 of 2 nodes fit\n")


def test_the_time_can_be_limited(play: Play) -> None:
    result = CliRunner().invoke(cli, ["shadow", "--kubeconfig", play.cluster.kubeconfig(), "--for", "1s"])
    assert result.exit_code == 0
    assert result.output.endswith("In all: nothing to compare yet.\n")


def test_a_terminal_has_one_line_that_changes(play: Play) -> None:
    command = [sys.executable, "-m", "mooring", "shadow", "--kubeconfig", play.cluster.kubeconfig()]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        play.watched()
        play.arrives("one")
        play.bind("one", "a")
        while b"1 of 1 outcome as predicted" not in seen:
            seen += os.read(ours, 4096)
        play.arrives("picky", nodeSelector={"disk": "ssd"})
        play.bind("picky", "a")
        while b"1 of 2 outcomes as predicted" not in seen:
            seen += os.read(ours, 4096)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        seen += os.read(ours, 4096)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"\r\x1b[K1 of 1 outcome as predicted (100.0 %); 1 exactly" in seen
    assert b"\r\x1b[Kdefault/picky: predicted left pending: " in seen
    assert b"  kept in mooring-shadow/default.picky.1.yaml.gz\r\n1 of 1 outcome as predicted" in seen
    assert b"In all: 1 of 2 outcomes as predicted" in seen


def test_bad_input_is_one_line(play: Play) -> None:
    Path("file").write_text("")
    for arguments, problem in (
        (("--keep", "file"), "Invalid value for '--keep': Directory 'file' is a file."),
        (("--for", "soon"), "Invalid value for '--for': \"soon\" is not a duration such as 90s, 5m or 1h30m"),
    ):
        result = CliRunner().invoke(cli, ["shadow", *arguments])
        assert result.exit_code == 1
        assert result.stderr.startswith(f"error: {problem}")
