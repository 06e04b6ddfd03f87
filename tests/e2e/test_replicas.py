"""Two replicas of `mooring run`: the audit log of the API server shows that never both act.

One of them has a clock that is an hour ahead. Leaders are stopped for longer than their lease and go on, are killed,
and end in good order, while pods come and go all the time.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.controlplane import write_kubeconfig
from mooring.testing.fixtures import running
from mooring.testing.homes import HOMES, Home, api_only, simulated
from mooring.testing.processes import ProgramProcess

USERS = {"replica-a": ("system:masters",), "replica-b": ("system:masters",)}
AHEAD_SECONDS = 3600
# How long a leader that was stopped is watched when it goes on.
RETURN_SECONDS = 2.0
LEASE = ["--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=250ms"]
NODES = 3
PODS = "/api/v1/namespaces/default/pods"
PATIENCE_SECONDS = 40.0


@pytest.fixture(scope="module", params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    yield from running(api_only(request.param, tmp_path_factory.mktemp(f"{request.param}-replicas"), USERS))


class Replica:
    """One process, which the API knows by a name of its own."""

    def __init__(self, home: Home, name: str, ahead: int = 0) -> None:
        self.user = f"replica-{name}"
        kubeconfig = home.folder / f"{self.user}.kubeconfig"
        write_kubeconfig(kubeconfig, self.user, home.url, home.ca, home.tokens[self.user])
        module = ["tests.e2e.skewed_run", str(ahead)] if ahead else ["mooring"]
        command = [sys.executable, "-m", *module, "run", "--controllers", "nodes", "--kubeconfig", str(kubeconfig)]
        self.process = ProgramProcess([*command, *LEASE], home.folder / f"{self.user}.log")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)


class Audit:
    """The writes of replicas, as the API server recorded them; what they did to their Lease is apart."""

    def __init__(self, home: Home) -> None:
        events = [event for event in home.audited() if event["user"].get("username") in USERS]
        events.sort(key=lambda event: event["requestReceivedTimestamp"])
        changes = [event for event in events if event["verb"] in ("create", "update", "patch", "delete")]
        self.writes = [event for event in changes if not _is_lease(event)]
        # A Lease is somebody's from when it was answered.
        kept = [event for event in changes if _is_lease(event) and event["responseStatus"]["code"] < 300]
        self._leases = sorted(kept, key=lambda event: event["stageTimestamp"])

    @property
    def terms(self) -> list[str]:
        """Who wrote, one after the other."""
        return [user for user, _ in itertools.groupby(event["user"]["username"] for event in self.writes)]

    def writes_without_lease(self) -> list[str]:
        """Writes that came when another replica had the Lease."""
        found = []
        for event in self.writes:
            moment, user = event["requestReceivedTimestamp"], event["user"]["username"]
            holders = [lease["user"]["username"] for lease in self._leases if lease["stageTimestamp"] <= moment]
            if holders[-1:] != [user]:
                found.append(f"{moment} {user} {event['verb']} {event['requestURI']}, held by {holders[-1:]}")
        return found


def _is_lease(event: Object) -> bool:
    reference = event["objectRef"]
    return (reference["resource"], reference.get("namespace")) == ("leases", "default")


@contextmanager
def churn(home: Home) -> Iterator[None]:
    """Pods on simulated nodes that come and go: there is always something to write."""
    over = threading.Event()
    failures: list[str] = []

    def work() -> None:
        with home.api() as api:
            for number in itertools.count():
                pod = {
                    "metadata": {"name": f"p{number}"},
                    "spec": {"nodeName": f"n{number % NODES}", "containers": [{"name": "c", "image": "i"}]},
                }
                answer = api.post(PODS, {"apiVersion": "v1", "kind": "Pod", **pod})
                if answer.code != 201:
                    failures.append(str(answer.body))
                    return
                if number >= 20:
                    api.delete(f"{PODS}/p{number - 20}", {"gracePeriodSeconds": 0})
                if over.wait(0.05):
                    return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert failures == []


def wait_until(look: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not look():
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS:.0f} s: {what}"
        time.sleep(0.1)


@pytest.mark.slow
def test_never_both_act(home: Home) -> None:
    with home.api() as api:
        api.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
        for number in range(NODES):
            assert api.post("/api/v1/nodes", simulated(node(f"n{number}"))).code == 201
    replicas: list[Replica] = []

    def start(name: str, ahead: int = 0) -> Replica:
        replicas.append(Replica(home, name, ahead))
        return replicas[-1]

    def terms(*users: str) -> None:
        wait_until(lambda: Audit(home).terms == [f"replica-{user}" for user in users], f"{users} write in this order")
        # Long enough for the one that does not lead to have had its chance.
        time.sleep(1.0)

    try:
        with churn(home):
            first = start("a")
            terms("a")
            second = start("b", AHEAD_SECONDS)
            first.signal(signal.SIGSTOP)
            terms("a", "b")
            first.signal(signal.SIGCONT)
            time.sleep(RETURN_SECONDS)
            second.process.kill()
            terms("a", "b", "a")
            start("b", AHEAD_SECONDS)
            assert first.process.stop() == 0
            terms("a", "b", "a", "b")
    finally:
        for replica in replicas:
            replica.process.kill()
    audit = Audit(home)
    assert audit.terms == ["replica-a", "replica-b", "replica-a", "replica-b"]
    assert audit.writes_without_lease() == []
