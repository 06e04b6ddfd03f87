"""One host, one machine: two controllers at once, stale views, crashes and lost answers never break it.

Every run has two instances of the controllers on one API server, as when a leader that was thought dead still writes.
After every single write the ledger compares what is stored with what must hold. A seed that fails is named, and
`story(seed)` repeats it.
"""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from mooring.client.inprocess import InProcess
from mooring.client.transport import EVERYTHING, Listed, Request, Scope, Stream
from mooring.features.hosts.api.names import API_VERSION, BYOMACHINE_NAME, UNREGISTERING
from mooring.features.hosts.controllers import CONTROLLERS
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.drivers.faults import Faults, FaultyTransport
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.settings import Configuration
from mooring.testing.hosts import byo_host, create, put_cluster, put_machine
from tests.features.hosts.world import new_registry

SEEDS = 1000
# So many run with every test run; the rest, which take half a minute, with the slow tests.
FIRST_SEEDS = 200
POOLS = ("worker", "gpu")
FAULTS = Faults(
    conflict=0.03,
    fail_before=0.03,
    fail_after=0.03,
    lost_answer=0.05,
    crash=0.03,
    lag=0.5,
    drop=0.02,
    repeat=0.05,
    expire=0.02,
)
SETTINGS = Configuration(settings={"host-cleanup-timeout": "120s", "host-orphan-timeout": "30s"})


class Ledger:
    """What was written about hosts and ByoMachines, and what must hold after every write."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.writes = 0
        # Who has claimed a host, by its uid; and the host that a ByoMachine was given, by its uid.
        self._claimers: dict[str, str] = {}
        self._given: dict[str, str] = {}

    def check(self, obj: Object) -> None:
        self.writes += 1
        if obj.get("kind") == "ByoHost":
            self._check_host(obj)
        elif obj.get("kind") == "ByoMachine":
            self._check_machine(obj)

    def _check_host(self, host: Object) -> None:
        uid, ref = host["metadata"]["uid"], host.get("status", {}).get("machineRef")
        before, now = self._claimers.get(uid, ""), ref["uid"] if ref else ""
        name = host["metadata"]["name"]
        assert not (before and now and before != now), f"host {name} went from one machine to another"
        secret = host["spec"].get("bootstrapSecret")
        cleaning = UNREGISTERING in host["metadata"].get("annotations", {})
        if now and not before:
            assert not secret, f"host {name} was claimed while it still had a Secret"
            assert not cleaning, f"host {name} was claimed while it was being cleaned"
            claimer = self._registry.find(API_VERSION, "ByoMachine", "default", ref["name"])
            # What both agreed on is taken back whatever its labels are, after a decision on an old view gave it away.
            agreed = {"name": name, "uid": uid, "claimed": True}
            if claimer is not None and claimer.get("status", {}).get("hostRef") != agreed:
                wanted = claimer["spec"].get("selector", {}).get("matchLabels", {})
                assert wanted.items() <= host["metadata"]["labels"].items(), f"host {name} went to the wrong pool"
        self._claimers[uid] = now
        if secret and not cleaning:
            assert ref, f"host {name} has a Secret and no machine"
            assert host["metadata"]["labels"][BYOMACHINE_NAME] == f"default.{ref['name']}"
            others = self._with_secret_of(ref["uid"])
            assert others == [name], f"machine {ref['name']} has brought its Secret to {others}"
            given = self._given.setdefault(ref["uid"], uid)
            assert given == uid, f"machine {ref['name']} has had two hosts"

    def _with_secret_of(self, machine: str) -> list[str]:
        found = self._registry.list(self._registry.resource(API_VERSION, "ByoHost")).items
        return [
            each["metadata"]["name"]
            for each in found
            if each["spec"].get("bootstrapSecret") and (each["status"].get("machineRef") or {}).get("uid") == machine
        ]

    def _check_machine(self, machine: Object) -> None:
        ref = machine.get("status", {}).get("hostRef")
        given = self._given.get(machine["metadata"]["uid"])
        if given is not None:
            assert ref, f"machine {machine['metadata']['name']} forgot its host"
            assert ref["uid"] == given, f"machine {machine['metadata']['name']} chose again"


class CheckedTransport:
    """An API server under the eyes of the ledger."""

    def __init__(self, inner: InProcess, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger

    def get(self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False) -> Object:
        return self._inner.get(api_version, kind, namespace, name, metadata_only=metadata_only)

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> Listed:
        return self._inner.list(api_version, kind, scope)

    def watch(self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING) -> Stream:
        return self._inner.watch(api_version, kind, resource_version, scope)

    def write(self, request: Request) -> Object:
        result = self._inner.write(request)
        self._ledger.check(result)
        return result


class Instance(Simulation):
    """One of two instances of the controllers on one API server."""

    def __init__(self, registry: Registry, ledger: Ledger, seed: int, faults: Faults | None) -> None:
        self._ledger, self._faults = ledger, faults
        super().__init__(CONTROLLERS, registry=registry, seed=seed, events=False, configuration=SETTINGS)
        checked = CheckedTransport(InProcess(registry, lambda: self.now), ledger)
        self.transport = checked if faults is None else FaultyTransport(checked, faults, self._draw)
        self._boot()

    def steps_of(self, count: int) -> None:
        """A few runs of keys, and no more."""
        end = self.steps + count
        self.run(timedelta(seconds=20), until=lambda: self.steps >= end)


def story(seed: int) -> None:
    draw = random.Random(seed)
    registry = new_registry()
    ledger = Ledger(registry)
    instances = [Instance(registry, ledger, seed * 2 + i, FAULTS) for i in range(2)]
    first = instances[0]
    put_cluster(first)
    hosts = {pool: draw.randrange(1, 4) for pool in POOLS}
    for pool, count in hosts.items():
        for i in range(count):
            create(first, byo_host(f"{pool}-{i}", labels={"purpose": pool}))
    machines = []
    for i in range(draw.randrange(2, 7)):
        selector = {"purpose": draw.choice(POOLS)} if draw.random() < 0.8 else None
        machines.append(f"m{i}")
        put_machine(first, f"m{i}", selector)
    for _ in range(draw.randrange(6, 14)):
        instance = draw.choice(instances)
        # Clocks of two processes are never the same, and never far apart.
        instance.now = max(each.now for each in instances)
        instance.steps_of(draw.randrange(1, 25))
        if machines and draw.random() < 0.25:
            gone = machines.pop(draw.randrange(len(machines)))
            registry.delete(registry.resource(API_VERSION, "ByoMachine"), "default", gone, now=instance.now)
        if draw.random() < 0.1:
            pool = draw.choice(POOLS)
            body = {"metadata": {"labels": {"purpose": draw.choice(POOLS)}}}
            registry.patch(
                registry.resource(API_VERSION, "ByoHost"), "default", f"{pool}-0", "merge", body, now=instance.now
            )
    settle(instances)
    check_end(registry)


def settle(instances: list[Instance]) -> None:
    """Without faults, one after the other, until neither has anything to do."""
    for instance in instances:
        instance.quiet()
    for instance in (*instances, *instances, *instances):
        instance.now = max(each.now for each in instances)
        instance.run()


def check_end(registry: Registry) -> None:
    machines = {
        each["metadata"]["name"]: each for each in registry.list(registry.resource(API_VERSION, "ByoMachine")).items
    }
    hosts = registry.list(registry.resource(API_VERSION, "ByoHost")).items
    for host in hosts:
        ref = host["status"].get("machineRef")
        if ref is None:
            assert not host["spec"].get("bootstrapSecret"), "a free host has a Secret"
            assert BYOMACHINE_NAME not in host["metadata"]["labels"], "a free host has labels of a claim"
            continue
        owner = machines.get(ref["name"])
        assert owner is not None, f"{host['metadata']['name']} belongs to {ref['name']}, which is gone"
        chosen = owner.get("status", {}).get("hostRef") or {}
        assert chosen.get("uid") == host["metadata"]["uid"], "host and machine do not agree"
        assert owner["status"].get("ready"), f"{ref['name']} has a host and is not ready"
    free = [host for host in hosts if host["status"].get("machineRef") is None]
    for name, machine in machines.items():
        if machine.get("status", {}).get("hostRef") is None:
            wanted = machine["spec"].get("selector", {}).get("matchLabels", {})
            fitting = [h["metadata"]["name"] for h in free if wanted.items() <= h["metadata"]["labels"].items()]
            assert not fitting, f"{name} waits while {fitting} are free"


def run_seeds(first: int, count: int) -> None:
    for seed in range(first, first + count):
        try:
            story(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_no_interleaving_gives_a_host_to_two_machines_or_a_machine_two_hosts() -> None:
    run_seeds(0, FIRST_SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST_SEEDS, SEEDS, FIRST_SEEDS))
def test_none_of_a_thousand_interleavings_does(first: int) -> None:
    run_seeds(first, FIRST_SEEDS)
