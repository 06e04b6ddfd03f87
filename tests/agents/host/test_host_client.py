"""What an agent reads and writes of the API, request by request, for whatever comes back."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import mooring
from mooring.agents.host import host_client
from mooring.agents.host.detection.hardware import Hardware
from mooring.agents.host.host_client import HostClient, SecretUnavailable
from mooring.agents.host.host_informer import HostInformer, typed_host
from mooring.agents.host.progress import ClaimRecord
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.settings import AgentSettings
from mooring.client.transport import Change, Request, UnknownOutcome, Unreachable
from mooring.features.hosts.api.references import Reference
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ConflictError, ForbiddenError, NotFoundError
from tests.support.virtual_time import clock, in_virtual_time

DOMAIN = "infrastructure.cluster.x-k8s.io"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HARDWARE = Hardware("linux", "Debian 12", "arm64", 4, 2048, 2, "NVIDIA H200")
SETTINGS = AgentSettings(
    "node10", "team", RootFolder(Path("/r")), Path("/b"), labels={"rack": "a", "nvidia.com/gpu.count": "9"}
)
NETWORK = [{"networkInterfaceName": "eth0"}]
HEAD: Object = {
    "apiVersion": f"{DOMAIN}/v1beta1",
    "kind": "ByoHost",
    "metadata": {"name": "node10", "namespace": "team", "annotations": {f"byoh.{DOMAIN}/agent": mooring.__version__}},
}
CREATED = Request("create", f"{DOMAIN}/v1beta1", "ByoHost", "team", "node10", HEAD, manager="mooring-agent")
LABELS = {
    f"byohost.{DOMAIN}/host": "node10",
    f"capacity.{DOMAIN}/cpu": "4",
    f"capacity.{DOMAIN}/memory": "2048Ki",
    f"capacity.{DOMAIN}/gpu": "2",
    "nvidia.com/gpu.present": "true",
    # What the command line says stands above what was found.
    "nvidia.com/gpu.count": "9",
    "nvidia.com/gpu.model": "NVIDIA-H200",
    "rack": "a",
}
DESCRIBED = Request(
    "apply",
    f"{DOMAIN}/v1beta1",
    "ByoHost",
    "team",
    "node10",
    {
        **HEAD,
        "metadata": {**HEAD["metadata"], "labels": LABELS},
        "spec": {"capacity": {"cpu": "4", "memory": "2048Ki", "nvidia.com/gpu": "2"}},
    },
    manager="mooring-agent",
)


def host(version: int = 1, uid: str = "u", **status: Any) -> Object:
    metadata = {"name": "node10", "namespace": "team", "uid": uid, "resourceVersion": str(version)}
    # By which a typed host shows which version it is.
    return {"metadata": metadata, "spec": {"kubernetesVersion": str(version)}, "status": status}


class Answers:
    """A server that gives one answer after another, and notes what was asked and when."""

    def __init__(self, *answers: Object | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.times: list[float] = []

    async def write(self, request: Request) -> Object:
        return await self._answer(request)

    async def get(self, *which: str) -> Object:
        return await self._answer(list(which))

    async def _answer(self, asked: Any) -> Object:
        self.asked.append(asked)
        self.times.append(clock())
        await asyncio.sleep(0)
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


class Unjittered:
    def random(self) -> float:
        return 0.0


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What was left out of the networks that were looked for."""
    passed_over: list[tuple[str, ...]] = []

    def found(names: tuple[str, ...]) -> list[Object]:
        passed_over.append(names)
        return NETWORK

    monkeypatch.setattr(host_client, "find_network", found)
    monkeypatch.setattr("mooring.agents.host.host_client.random.Random", Unjittered)
    return passed_over


def client(answers: Answers) -> tuple[HostClient, HostInformer]:
    informer = HostInformer()
    played: Any = answers
    return HostClient(SETTINGS, played, informer, lambda: NOON + timedelta(seconds=clock())), informer


def told(answers: Answers, story: Callable[[HostClient], Awaitable[Any]]) -> tuple[Any, HostInformer]:
    """What a client's method comes to."""

    async def play() -> tuple[Any, HostInformer]:
        found, informer = client(answers)
        return await story(found), informer

    return in_virtual_time(play())


@pytest.mark.parametrize("first", [host(), AlreadyExistsError("there")])
def test_a_host_is_created_bare_and_then_described(first: Object | Exception) -> None:
    answers = Answers(first, host(2))
    _, informer = told(answers, lambda c: c.register(HARDWARE))
    assert answers.asked == [CREATED, DESCRIBED]
    assert informer.host is not None
    assert informer.host.spec.kubernetes_version == "2"
    assert informer.news.is_set()


def test_a_host_is_registered_as_long_as_it_takes_and_the_same_trouble_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    denied, away = ForbiddenError("no rights"), Unreachable("no route")
    failures: list[Object | Exception] = [denied, denied, denied, ForbiddenError("still none"), denied, denied]
    failures += [away, UnknownOutcome("cut off"), host(), denied, AlreadyExistsError("there"), host(2)]
    answers = Answers(*failures)
    told(answers, lambda c: c.register(HARDWARE))
    assert answers.asked == [*[CREATED] * 9, DESCRIBED, CREATED, DESCRIBED]
    # Each wait is twice as long, and none longer than 15 seconds.
    waits = [round(after - before, 6) for before, after in zip(answers.times, answers.times[1:], strict=False)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 0, 15, 0]
    start = "host node10 cannot be registered yet: "
    # The first four refusals are those of rights that come a moment later.
    assert caplog.messages == [f"{start}{each}" for each in ("no rights", "no route", "cut off", "no rights")]


def test_a_status_is_applied_with_the_time_and_what_the_machine_has(machine: list[tuple[str, ...]]) -> None:
    since = "2025-12-31T00:00:00Z"
    known = [
        {"type": "HostClean", "status": "True", "lastTransitionTime": since},
        {"type": "HostHealthy", "status": "True", "lastTransitionTime": since},
    ]
    wanted = [{"type": "HostClean", "status": "True"}, {"type": "Other", "status": "False", "reason": "Why"}]
    answers = Answers(host(5))
    done, informer = told(answers, lambda c: c.tell(typed_host(host(conditions=known)), HARDWARE, wanted))
    assert done is True
    (request,) = answers.asked
    stamp = "2026-01-01T12:00:00Z"
    assert request == Request(
        "apply",
        f"{DOMAIN}/v1beta1",
        "ByoHost",
        "team",
        "node10",
        {
            "apiVersion": f"{DOMAIN}/v1beta1",
            "kind": "ByoHost",
            "metadata": {"name": "node10", "namespace": "team"},
            "status": {
                "lastHeartbeatTime": stamp,
                "hostinfo": {"osname": "linux", "osimage": "Debian 12", "architecture": "arm64"},
                "network": NETWORK,
                "conditions": [
                    {"type": "HostClean", "status": "True", "lastTransitionTime": since},
                    {"type": "Other", "status": "False", "reason": "Why", "lastTransitionTime": stamp},
                ],
            },
        },
        "status",
        manager="mooring-agent",
    )
    assert machine == [(SETTINGS.root.bridge,)]
    assert informer.host is not None


def test_a_heartbeat_counts_only_when_it_was_written() -> None:
    async def story() -> None:
        answers = Answers(Unreachable("no route"), host(5))
        found, _ = client(answers)
        assert found.last_heartbeat is None
        assert await found.tell(typed_host(host()), HARDWARE, []) is False
        assert found.last_heartbeat is None
        await asyncio.sleep(7)
        assert await found.tell(typed_host(host()), HARDWARE, []) is True
        assert found.last_heartbeat == NOON + timedelta(seconds=7)

    in_virtual_time(story())


MINE = ClaimRecord("default", "w1", "c1")
CLEAN = {"type": "HostClean", "status": "True", "reason": "Cleaned"}


def claimed(uid: str | None = "c1", version: int = 3, *, unregistering: bool = False, conditions: Any = ()) -> Object:
    status: Object = {"conditions": list(conditions)}
    if uid is not None:
        status["machineRef"] = {"kind": "ByoMachine", "namespace": "default", "name": "w1", "uid": uid}
    found = host(version, **status)
    found["metadata"]["annotations"] = {f"byoh.{DOMAIN}/unregistering": ""} if unregistering else {}
    return found


def releasing(found: Object, conditions: list[Object]) -> Request:
    stamp = "2026-01-01T12:00:00Z"
    body = {"status": {"machineRef": None, "lastHeartbeatTime": stamp, "conditions": conditions}}
    return Request(
        "patch",
        f"{DOMAIN}/v1beta1",
        "ByoHost",
        "team",
        "node10",
        body,
        "status",
        "mooring-agent",
        uid=found["metadata"]["uid"],
        resource_version=found["metadata"]["resourceVersion"],
    )


def test_a_release_takes_the_claim_and_the_conditions_of_the_agent_in_one_write() -> None:
    since = "2025-12-31T00:00:00Z"
    known = [
        {"type": "K8sNodeBootstrapSucceeded", "status": "True", "lastTransitionTime": since},
        {"type": "HostHealthy", "status": "True", "lastTransitionTime": since},
        {"type": "HostClean", "status": "False", "reason": "Cleaning", "lastTransitionTime": since},
        {"type": "KubeletVersionMatches", "status": "False", "lastTransitionTime": since},
    ]
    found = claimed(conditions=known)
    answers = Answers(found, host(4))
    _, informer = told(answers, lambda c: c.release(MINE))
    clean = {**CLEAN, "lastTransitionTime": "2026-01-01T12:00:00Z"}
    assert answers.asked == [
        [f"{DOMAIN}/v1beta1", "ByoHost", "team", "node10"],
        releasing(found, [known[1], clean]),
    ]
    assert informer.host is not None
    # A host that says already that it is clean says so since then.
    already = claimed(conditions=[{**CLEAN, "lastTransitionTime": since}])
    answers = Answers(already, host(4))
    told(answers, lambda c: c.release(MINE))
    assert answers.asked[1] == releasing(already, [{**CLEAN, "lastTransitionTime": since}])


@pytest.mark.parametrize(
    ("found", "claim", "written"),
    [
        pytest.param(claimed("c2"), MINE, False, id="another claim has it"),
        pytest.param(claimed("c2"), None, False, id="a claim that this agent knows nothing of"),
        pytest.param(claimed("c2", unregistering=True), MINE, True, id="it is asked to unregister"),
        pytest.param(claimed(None), MINE, True, id="the claim is gone already"),
        pytest.param(claimed(None), None, True, id="there was no claim"),
    ],
)
def test_a_host_is_left_to_whoever_has_claimed_it_since(
    found: Object, claim: ClaimRecord | None, written: bool
) -> None:
    answers = Answers(found, host(4))
    told(answers, lambda c: c.release(claim))
    assert len(answers.asked) == 1 + written


def test_a_release_is_decided_anew_on_what_is_there_until_it_is_on_record(caplog: pytest.LogCaptureFixture) -> None:
    answers = Answers(
        Unreachable("no route"),
        claimed(version=3),
        ConflictError("changed"),
        claimed(version=4),
        UnknownOutcome("cut off"),
        NotFoundError("gone"),
    )
    told(answers, lambda c: c.release(MINE))
    versions = [each.resource_version for each in answers.asked if isinstance(each, Request)]
    assert versions == ["3", "4"]
    assert [round(time, 6) for time in answers.times] == [0, 0.1, 0.1, 0.1, 0.1, 0.3]
    start = "host node10 is clean, but cannot be released: "
    assert caplog.messages == [f"{start}no route", f"{start}cut off"]


def secret(**data: str) -> Object:
    return {"data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}}


def test_a_secret_is_read_where_the_claim_says_even_if_the_right_to_it_comes_late() -> None:
    answers = Answers(ForbiddenError("no rights"), NotFoundError("gone"), secret(install="echo"))
    found, _ = told(answers, lambda c: c.secret(Reference(name="s", namespace="other"), "install"))
    assert found == b"echo"
    assert answers.asked == [["v1", "Secret", "other", "s"]] * 3
    assert [round(time, 6) for time in answers.times] == [0, 0.1, 0.3]
    answers = Answers(secret(install="echo"))
    told(answers, lambda c: c.secret(Reference(name="s"), "install"))
    assert answers.asked == [["v1", "Secret", "team", "s"]]


def test_a_secret_that_cannot_be_read_for_10_seconds_or_lacks_its_key_is_told() -> None:
    answers = Answers(*[ForbiddenError("no rights")] * 20)
    with pytest.raises(SecretUnavailable, match=r"^Secret team/s cannot be read: no rights$"):
        told(answers, lambda c: c.secret(Reference(name="s"), "install"))
    # No wait is longer than a second.
    assert [round(time, 6) for time in answers.times] == [0, 0.1, 0.3, 0.7, *(1.5 + n for n in range(10))]
    for lacking in ({}, {"data": None}, secret(other="x"), secret(install="")):
        with pytest.raises(SecretUnavailable, match=r'^Secret team/s has no key "install"$'):
            told(Answers(lacking), lambda c: c.secret(Reference(name="s"), "install"))


# What the agent knows of its host


def test_the_newest_version_of_the_host_is_kept_whatever_comes_in_which_order() -> None:
    informer = HostInformer()

    def known() -> tuple[str, str] | None:
        found = informer.host
        return None if found is None else (found.metadata.uid, found.spec.kubernetes_version)

    def step(act: Callable[[], None]) -> tuple[tuple[str, str] | None, bool]:
        informer.news.clear()
        act()
        return known(), informer.news.is_set()

    def changed(kind: Any, version: int, uid: str = "u") -> Callable[[], None]:
        return lambda: informer.changed([Change(kind, host(version, uid))])

    synced = [informer.synced]
    informer.begin()
    synced.append(informer.synced)
    assert step(lambda: informer.listed("1")) == (None, True)
    assert [*synced, informer.synced] == [False, False, True]
    assert step(changed("ADDED", 5)) == (("u", "5"), True)
    assert step(changed("MODIFIED", 4)) == (("u", "5"), False)
    assert step(changed("MODIFIED", 5)) == (("u", "5"), True)
    assert step(changed("BOOKMARK", 9)) == (("u", "5"), False)
    assert step(lambda: informer.observe(host(10))) == (("u", "10"), True)
    assert step(changed("ADDED", 2, "v")) == (("v", "2"), True)
    assert step(changed("DELETED", 11, "u")) == (("v", "2"), False)
    assert step(changed("DELETED", 3, "v")) == (None, True)
    assert step(changed("DELETED", 3, "v")) == (None, False)
    # A list takes the place of what was known, and what it began with before is forgotten.
    informer.page([host(20)])
    informer.begin()
    informer.page([host(21)])
    assert step(lambda: informer.listed("22")) == (("u", "21"), True)
    informer.begin()
    assert step(lambda: informer.listed("23")) == (None, True)
    # A version that is no number is older than all others.
    odd = host(30)
    odd["metadata"]["resourceVersion"] = "odd"
    assert step(lambda: informer.observe(odd)) == (("u", "30"), True)
    assert step(lambda: informer.observe(host(0))) == (("u", "0"), True)


def test_trouble_with_the_api_is_told_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    informer = HostInformer()
    for why in ("", "away", "away", "refused"):
        informer.troubled(why)
    informer.lost("is not served")
    informer.lost("is not served")
    assert informer.trouble == "its ByoHost is not served"
    for _ in range(2):
        informer.troubled("")
    start = "the API server cannot be followed: "
    assert caplog.messages == [
        f"{start}away",
        f"{start}refused",
        f"{start}its ByoHost is not served",
        "the API server can be followed again",
    ]
