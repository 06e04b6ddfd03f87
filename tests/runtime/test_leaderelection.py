"""Leader election: one leads, the next takes over when it stops, dies or is cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from mooring.client.transport import Request, Unreachable
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.drivers.leaderelection import Election, LeaseConfig, LeaseRecord, next_step, seen
from tests.client.stories import awaited, now, until
from tests.runtime.living import Hooked, transport_in

QUICK = LeaseConfig(duration=1.0, deadline=0.5, retry=0.05)


@pytest.mark.parametrize(
    ("record", "moment", "step"),
    [
        (None, 0.0, "create"),
        (LeaseRecord("me", 15, 0, "1", 0.0), 100.0, "renew"),
        (LeaseRecord("her", 15, 0, "1", 0.0), 14.9, "wait"),
        (LeaseRecord("her", 15, 0, "1", 0.0), 15.0, "take"),
        (LeaseRecord("", 1, 0, "1", 0.0), 0.0, "take"),
    ],
    ids=["no lease yet", "our own", "held by another", "run out", "let go"],
)
def test_what_a_candidate_does(record: LeaseRecord | None, moment: float, step: str) -> None:
    assert next_step(record, "me", moment) == step


def lease(holder: str, version: str, renewed: str = "1970-01-01T00:00:00.000000Z") -> Object:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed, "leaseTransitions": 3}
    return {"metadata": {"resourceVersion": version}, "spec": spec}


def test_a_lease_counts_from_when_it_was_seen_to_change_whatever_time_its_holder_writes() -> None:
    first = seen(lease("her", "7"), None, 100.0)
    again = seen(lease("her", "7"), first, 110.0)
    assert again.at == 100.0
    assert next_step(again, "me", 114.0) == "wait"
    renewed = seen(lease("her", "8"), again, 114.0)
    assert renewed.at == 114.0
    assert next_step(renewed, "me", 120.0) == "wait"


def worker(name: str, log: list[str]) -> Callable[[asyncio.Event], Awaitable[None]]:
    async def work(end: asyncio.Event) -> None:
        log.append(f"{name} begins")
        await end.wait()
        log.append(f"{name} ends")

    return work


def held(registry: Registry) -> Object:
    found = registry.find("coordination.k8s.io/v1", "Lease", "default", "crew")
    assert found is not None
    spec: Object = found["spec"]
    return spec


@awaited
async def test_one_leads_and_the_next_takes_over_at_once_when_it_stops() -> None:
    registry = Registry(now=now())
    log: list[str] = []
    stops = {name: asyncio.Event() for name in ("a", "b")}
    tasks = {}
    for name in ("a", "b"):
        election = Election(transport_in(registry), "default", "crew", name, config=QUICK)
        tasks[name] = asyncio.create_task(election.run(worker(name, log), stops[name]))
        await until(lambda: log)
    assert log == ["a begins"]
    assert held(registry)["holderIdentity"] == "a"
    stops["a"].set()
    await tasks["a"]
    await until(lambda: "b begins" in log)
    assert log == ["a begins", "a ends", "b begins"]
    assert held(registry)["leaseTransitions"] == 1
    stops["b"].set()
    await tasks["b"]
    assert held(registry)["holderIdentity"] == ""


@awaited
async def test_a_leader_that_dies_is_followed_when_its_lease_has_run_out() -> None:
    registry = Registry(now=now())
    log: list[str] = []
    dead = Election(transport_in(registry), "default", "crew", "dead", config=QUICK)
    dying = asyncio.create_task(dead.run(worker("dead", log), asyncio.Event()))
    await until(lambda: log)
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    registry.patch(
        registry.resource("coordination.k8s.io/v1", "Lease"),
        "default",
        "crew",
        "merge",
        {"spec": {"holderIdentity": "dead"}},
        now=now(),
    )
    stop = asyncio.Event()
    began = asyncio.get_running_loop().time()
    heir = Election(transport_in(registry), "default", "crew", "heir", config=QUICK)
    task = asyncio.create_task(heir.run(worker("heir", log), stop))
    await until(lambda: "heir begins" in log)
    assert asyncio.get_running_loop().time() - began >= QUICK.duration
    stop.set()
    await task


@awaited
async def test_a_leader_that_cannot_renew_stops_working() -> None:
    registry = Registry(now=now())
    log: list[str] = []
    reachable = asyncio.Event()
    reachable.set()

    async def check(request: Request) -> None:
        if not reachable.is_set():
            raise Unreachable("gone")

    stop = asyncio.Event()
    election = Election(Hooked(registry, before=check), "default", "crew", "a", config=QUICK)
    task = asyncio.create_task(election.run(worker("a", log), stop))
    await until(lambda: log == ["a begins"])
    assert election.leading
    first = held(registry)["renewTime"]
    await until(lambda: held(registry)["renewTime"] != first)
    reachable.clear()
    await until(lambda: log == ["a begins", "a ends"])
    reachable.set()
    await until(lambda: log[2:] == ["a begins"])
    stop.set()
    await task


@awaited
async def test_a_leader_whose_lease_was_taken_stops_working() -> None:
    registry = Registry(now=now())
    log: list[str] = []
    stop = asyncio.Event()
    election = Election(transport_in(registry), "default", "crew", "a", config=QUICK)
    task = asyncio.create_task(election.run(worker("a", log), stop))
    await until(lambda: log)
    leases = registry.resource("coordination.k8s.io/v1", "Lease")
    body = {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3600}}
    registry.patch(leases, "default", "crew", "merge", body, now=now())
    await until(lambda: log == ["a begins", "a ends"])
    stop.set()
    await task
    assert held(registry)["holderIdentity"] == "thief"


@awaited
async def test_work_that_ends_by_itself_ends_the_candidacy() -> None:
    async def work(end: asyncio.Event) -> None:
        return

    registry = Registry(now=now())
    await Election(transport_in(registry), "default", "crew", "a", config=QUICK).run(work, asyncio.Event())
    assert held(registry)["holderIdentity"] == ""


@awaited
async def test_a_leader_that_was_stopped_for_too_long_may_not_write_until_it_has_renewed() -> None:
    registry = Registry(now=now())
    log: list[str] = []
    time, answers = [100.0], asyncio.Event()
    answers.set()

    async def wait(request: Request) -> None:
        await answers.wait()

    election = Election(Hooked(registry, before=wait), "default", "crew", "a", config=QUICK, monotonic=lambda: time[0])
    assert not election.may_write()
    stop = asyncio.Event()
    task = asyncio.create_task(election.run(worker("a", log), stop))
    await until(lambda: log)
    assert election.may_write()
    # As it is for a process in SIGSTOP: the time goes on, and nothing was done in it.
    answers.clear()
    time[0] += QUICK.deadline
    assert not election.may_write()
    answers.set()
    await until(election.may_write)
    stop.set()
    await task
    assert not election.may_write()


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(hours=-1)], ids=["ahead", "behind"])
@awaited
async def test_a_candidate_whose_clock_is_wrong_waits_as_long_as_any_other(ahead: timedelta) -> None:
    registry = Registry(now=now())
    log: list[str] = []
    stops = {name: asyncio.Event() for name in ("right", "wrong")}
    right = Election(transport_in(registry), "default", "crew", "right", config=QUICK)
    skewed = Election(transport_in(registry), "default", "crew", "wrong", config=QUICK, clock=lambda: now() + ahead)
    leading = asyncio.create_task(right.run(worker("right", log), stops["right"]))
    await until(lambda: log)
    waiting = asyncio.create_task(skewed.run(worker("wrong", log), stops["wrong"]))
    # A whole lease, in which it sees renewals at moments that its own clock calls long gone or yet to come.
    await asyncio.sleep(QUICK.duration)
    assert log == ["right begins"]
    stops["right"].set()
    await leading
    await until(lambda: "wrong begins" in log)
    again = Election(transport_in(registry), "default", "crew", "right", config=QUICK)
    stops["again"] = asyncio.Event()
    back = asyncio.create_task(again.run(worker("again", log), stops["again"]))
    await asyncio.sleep(QUICK.duration)
    assert log == ["right begins", "right ends", "wrong begins"]
    stops["wrong"].set()
    stops["again"].set()
    await asyncio.gather(waiting, back)
