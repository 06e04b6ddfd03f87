"""`mooring explain --watch`: another answer when something changed it, and none when nothing did."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from mooring.cli.answers import display, watch
from mooring.cli.answers.answer import ShownAnswer
from mooring.cli.answers.display import AnswerDisplay
from mooring.cli.render.page import TextPage
from mooring.testing.http import Api
from tests.cli.embedded import eventually
from tests.cli.live import Live
from tests.cli.world import requests

CONTAINER = {"name": "main", "image": "registry.example.com/app:1"}
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[ShownAnswer]:
    """The answers that were made, shown or not."""
    made: list[ShownAnswer] = []
    show = AnswerDisplay.show

    def recorded(self: AnswerDisplay, answer: ShownAnswer) -> None:
        show(self, answer)
        made.append(answer)

    monkeypatch.setattr(AnswerDisplay, "show", recorded)
    monkeypatch.setattr(watch, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(watch, "PAUSE_FACTOR", 0.0)
    return made


def watched(live: Live, story: Callable[[Api], None], *arguments: str) -> Result:
    """What the command prints while a story happens, and until it is interrupted."""
    failed: list[BaseException] = []

    def play() -> None:
        try:
            with Api(live.cluster.url) as api:
                story(api)
        except BaseException as error:
            failed.append(error)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=play)
    thread.start()
    result = live.run("explain", *arguments, "--watch")
    thread.join(20)
    assert not failed, failed
    return result


def count(answers: list[ShownAnswer], wanted: int) -> None:
    eventually(lambda: len(answers) >= wanted or None, f"{wanted} answers", 10)


def open_up(api: Api, node: str) -> None:
    """Take its taint off."""
    assert api.patch(f"/api/v1/nodes/{node}", "merge", {"spec": {"taints": None}}).code == 200


def test_a_pod_that_waits_is_told_when_a_node_opens(town: Live, answers: list[ShownAnswer]) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        town.cluster.front.asked.clear()
        open_up(api, "gpu-1")
        count(answers, 2)

    result = watched(town, story, "pods")
    first, second = result.stdout.split("---\n")
    assert first.startswith("default/llm-5d4f-x7x7x cannot be placed: 0 of 3 nodes fit")
    assert second.startswith("default/llm-5d4f-x7x7x would be scheduled on gpu-1")
    assert result.exit_code == 0
    listed = [path for _, path in town.cluster.front.asked if path.endswith(("/nodes", "/pods"))]
    assert not listed, "nothing is listed again"


def test_what_changes_no_answer_is_not_shown(town: Live, answers: list[ShownAnswer]) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        patch = {"metadata": {"labels": {"color": "blue"}}}
        assert api.patch("/api/v1/nodes/cpu-1", "merge", patch).code == 200
        count(answers, 2)

    result = watched(town, story, "pods")
    assert "---" not in result.stdout
    assert result.exit_code == 2


def test_as_json_every_answer_is_a_line(town: Live, answers: list[ShownAnswer]) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        open_up(api, "gpu-1")
        count(answers, 2)

    result = watched(town, story, "pods", "-o", "json")
    assert [json.loads(line)["lands"] for line in result.stdout.splitlines()] == [False, True]


def test_a_workload_is_followed_with_its_template(town: Live, answers: list[ShownAnswer]) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        path, change = "/apis/apps/v1/namespaces/default/deployments/llm", {"containers": [CONTAINER]}
        assert api.patch(path, "merge", {"spec": {"template": {"spec": change}}}).code == 200
        count(answers, 2)

    result = watched(town, story, "deploy/llm")
    assert "cannot be placed" in result.stdout.split("---\n")[0]
    assert "would be scheduled on cpu-1" in result.stdout.split("---\n")[1]


def test_a_pod_that_goes_is_told_and_the_exit_code_is_that_of_the_last_answer(
    town: Live, answers: list[ShownAnswer]
) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        assert api.delete(f"{PODS}/llm-5d4f-x7x7x").code == 200
        count(answers, 2)

    result = watched(town, story, "pod/llm-5d4f-x7x7x")
    assert 'error: pod "llm-5d4f-x7x7x" not found in namespace "default"' in result.stdout.split("---\n")[1]
    assert result.exit_code == 1


def test_a_node_is_watched_too(town: Live, answers: list[ShownAnswer]) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        assert api.patch("/api/v1/nodes/cpu-1", "merge", {"spec": {"unschedulable": True}}).code == 200
        count(answers, 2)

    assert "cpu-1 is ready and cordoned" in watched(town, story, "node/cpu-1").stdout.split("---\n")[1]


def test_manifests_are_placed_on_the_cluster_of_the_moment(town: Live, answers: list[ShownAnswer]) -> None:
    def story(api: Api) -> None:
        count(answers, 1)
        open_up(api, "gpu-1")
        count(answers, 2)

    town.world.manifest(town.world.pod("new", resources=requests(gpu=8)))
    result = watched(town, story, "-f", "pod.yaml")
    assert "default/new would be scheduled on gpu-1" in result.stdout


def test_what_is_wrong_from_the_start_ends_it(town: Live) -> None:
    assert 'pod "none" not found' in town.complaint("explain", "pod/none", "--watch")
    town.cluster.front.forbidden = {"nodes"}
    assert "Node objects cannot be followed" in town.complaint("explain", "pods", "--watch")


def test_a_kind_that_may_not_be_followed_is_named(town: Live, answers: list[ShownAnswer]) -> None:
    town.cluster.front.forbidden = {"priorityclasses"}
    result = watched(town, lambda api: count(answers, 1), "pods")
    assert "Note: PriorityClass objects cannot be followed, may not be listed and watched" in result.stdout


@pytest.mark.parametrize("given", [("--snapshot", "x.yaml"), ("-f", "-")])
def test_what_does_not_change_cannot_be_watched(world: Any, given: tuple[str, str]) -> None:
    result = world.explain("--watch", *given, *(() if "-f" in given else ("pods",)), "--snapshot", "x.yaml")
    assert result.exit_code == 1
    assert "--watch follows a cluster" in result.stderr


def test_on_a_terminal_an_answer_takes_the_place_of_the_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(display, "is_terminal", lambda: True)
    shown = AnswerDisplay("text", colour=False, watched=True)
    for text in ("one", "one", "two"):
        page = TextPage()
        page.line(text)
        shown.show(ShownAnswer(lambda page=page: page, dict, 0))  # type: ignore[misc]
    clear = "\x1b[H\x1b[2J\x1b[3J"
    assert capsys.readouterr().out == f"{clear}one\n{clear}two\n"
