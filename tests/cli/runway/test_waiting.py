"""Commands that wait: what they say on the way, how often they look, and how each story ends."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

import pytest

from mooring.cli.installation import progress
from mooring.cli.runway import waiting
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.providers.registry import read_deployment
from mooring.testing.installations import installation


class Story:
    """A transport whose Installation is another one each time that it is looked at; None when it is gone."""

    def __init__(self, *found: Object | None) -> None:
        self._found = iter(found)
        self.looks = 0

    async def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object:
        assert (kind, namespace, name) == ("Installation", "", "kaito")
        self.looks += 1
        found = next(self._found)
        if found is None:
            raise NotFoundError.of(kind, "", name)
        return found


def at(phase: str, *steps: tuple[str, str], seen: int = 2, output: str = "") -> Object:
    told = [{"name": name, "title": name.title(), "state": state, "output": output} for name, state in steps]
    condition = {"type": "Ready", "status": "False", "observedGeneration": seen}
    return {**installation(), "status": {"phase": phase, "steps": told, "conditions": [condition]}}


MADE = {**installation(), "metadata": {"name": "kaito", "generation": 2}}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []

    async def sleep(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return taken


def follow(story: Any, made: Object = MADE) -> Object:
    return asyncio.run(progress.follow(story, made))


def test_steps_are_told_as_they_end_and_once(pauses: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    story = Story(
        at("Failed", ("old", "Failed"), seen=1),
        at("Installing", ("fetch", "Running")),
        at("Installing", ("fetch", "Done"), ("apply", "Running")),
        at("Installing", ("fetch", "Done"), ("apply", "Running")),
        end := at("Installed", ("fetch", "Done"), ("apply", "Failed"), ("more", "Cancelled"), ("last", "Waiting")),
    )
    assert follow(story) is end
    assert capsys.readouterr().err == "Fetch: done\nApply: failed\nMore: cancelled\n"
    assert pauses == [0.5] * 4


@pytest.mark.parametrize("phase", ["Installed", "Failed", "Cancelled"])
def test_it_has_ended_when_what_was_asked_has(phase: str, pauses: list[float]) -> None:
    story = Story(at(phase, seen=1), at("Installing", seen=3), at(phase, seen=2))
    assert follow(story)["status"]["phase"] == phase
    assert story.looks == 3


def test_one_that_goes_meanwhile_is_an_error(pauses: list[float]) -> None:
    with pytest.raises(InputError, match=r"^Installation kaito was deleted meanwhile$"):
        follow(Story(at("Installing"), None))


def test_one_that_nobody_takes_up_is_told_with_what_to_do(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    moments = itertools.count(100.0, 10.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(moments))
    untouched = installation()
    story = Story(*[untouched] * 9)
    with pytest.raises(InputError, match=r"^nobody has taken up Installation kaito; start mooring run") as told:
        follow(story)
    assert "or type: helm repo add kaito https://charts.example.com; " in str(told.value)
    assert story.looks == 3, "twenty seconds are waited for"
    moments = itertools.count(100.0, 10.0)
    taken_up = Story(untouched, *[at("Failed", seen=1)] * 5, at("Failed"))
    assert follow(taken_up)["status"]["phase"] == "Failed", "one that somebody has looked at is waited for"


def test_an_end_is_waited_for_with_its_steps(pauses: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    story: Any = Story(at("Uninstalling", ("remove", "Done")), at("Uninstalling", ("remove", "Done")), None)
    asyncio.run(progress.follow_end(story, "kaito"))
    assert capsys.readouterr().err == "Remove: done\n"
    assert pauses == [0.5, 0.5]


def test_at_a_terminal_the_step_that_runs_has_a_line_that_changes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    times = iter((5.0, 7.4, 9.0))
    lines = progress.ProgressLines(lambda: next(times))
    lines.show(at("", ("fetch", "Running"), output="one\ntwo\n")["status"])
    lines.show(at("", ("fetch", "Running"), output="x" * 200)["status"])
    lines.show(at("", ("fetch", "Done"))["status"])
    lines.end()
    clear = "\r\033[K"
    long = f"Fetch (4 s): {'x' * 200}"[:100]
    assert capsys.readouterr().err == f"{clear}Fetch (2 s): two{clear}{long}{clear}Fetch: done\n{clear}"


def test_what_changes_at_a_terminal_is_cleared_at_the_end_whatever_that_is(
    pauses: list[float], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with pytest.raises(InputError):
        follow(Story(at("Installing", ("fetch", "Running")), None))
    assert capsys.readouterr().err == "\r\033[KFetch (0 s)\r\033[K"
    story: Any = Story(at("Uninstalling", ("remove", "Running")), None)
    asyncio.run(progress.follow_end(story, "kaito"))
    assert capsys.readouterr().err == "\r\033[KRemove (0 s)\r\033[K"


def test_a_condition_that_does_not_say_what_it_has_seen_has_seen_nothing(pauses: list[float]) -> None:
    silent = at("Installed")
    del silent["status"]["conditions"][0]["observedGeneration"]
    story = Story(silent, at("Failed", seen=1))
    made = {**MADE, "metadata": {"name": "kaito", "generation": 1}}
    assert follow(story, made)["status"]["phase"] == "Failed"


# Deployments


def config() -> DeploymentConfig:
    return read_deployment({"name": "phi", "modelId": "phi-4"}, embedded=True).config


class Deployed:
    """What a deployment is like, look by look; the last goes on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *found: Any) -> None:
        self.found = list(found)
        self.asked: list[Any] = []
        monkeypatch.setattr(waiting, "find_deployment", self._find)

    async def _find(self, transport: Any, *where: str) -> Any:
        self.asked.append(where)
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]


class Model:
    def __init__(self, phase: str, ready: int = 0, *nodes: str, message: str = "") -> None:
        self.name, self.namespace, self.frontend_service = "phi", "team", "phi-vllm:8000"
        self.phase, self.message = phase, message
        self.replicas = type("Replicas", (), {"ready": ready, "desired": 2})
        self.pods = [type("Pod", (), {"node": node}) for node in nodes]


def wait(seconds: float) -> bool:
    transport: Any = None
    return asyncio.run(waiting.wait_until_running(transport, config(), seconds))


def test_a_deployment_is_waited_for_and_told_when_it_changes(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = Model("Pending", 0, "", "n1", message="pulling")
    story = Deployed(monkeypatch, Model("Pending"), slow, slow, Model("Running", 2, "n1", "n2"))
    assert wait(3600)
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "phi: Pending, 0/2 ready",
        "phi: Pending, 0/2 ready, 1 of 2 pods on nodes: pulling",
        "phi: Running, 2/2 ready, 2 of 2 pods on nodes",
    ]
    assert told.out == "phi answers at phi-vllm:8000 in namespace team\n"
    assert story.asked == [("phi", "mooring", "default")] * 4
    assert pauses == [0.5] * 3


@pytest.mark.parametrize(
    ("phase", "seconds", "last"),
    [
        ("Failed", 3600, "phi: Failed, 0/2 ready"),
        ("Terminating", 3600, "phi: Terminating, 0/2 ready"),
        ("Pending", 0.0, "phi does not answer after 0 s; it goes on without this command"),
        ("Deploying", 0.0, "phi does not answer after 0 s; it goes on without this command"),
    ],
)
def test_what_does_not_come_to_run_is_not_waited_for(
    phase: str, seconds: float, last: str, pauses: list[float], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    Deployed(monkeypatch, Model(phase))
    assert not wait(seconds)
    told = capsys.readouterr()
    assert (told.err.splitlines()[-1], told.out) == (last, "")
    assert pauses == []


def test_at_a_terminal_one_line_changes_and_never_wraps(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    Deployed(monkeypatch, Model("Pending", message="m" * 50), Model("Running", 2))
    assert wait(3600)
    told = capsys.readouterr()
    assert told.err == "\r\x1b[Kphi: Pending, 0/2 r\r\x1b[Kphi: Running, 2/2 r\n"
    assert told.out == "phi answers at phi-vllm:8000 in namespace team\n"
