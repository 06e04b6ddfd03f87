"""What is read of servers that refuse, forget their pages and hold odd objects, and what is said to be left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from functools import partial
from random import Random
from typing import Any, cast

import msgspec

from mooring.catalog import CATALOG
from mooring.client.http import HttpTransport
from mooring.client.transport import EVERYTHING, Page, Scope
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ExpiredError, ForbiddenError, InternalError, NotFoundError, UnauthorizedError
from mooring.placement.snapshot import VIEWS
from mooring.placement.workloads.owners import Workload
from mooring.runway.sources.live_source import LiveSource, left_out
from mooring.testing.builders import deployment, node, pod
from tests.support.golden import same_as_recorded

TROUBLES: dict[str, Callable[[], ApiError]] = {
    "forbidden": lambda: ForbiddenError("you may not"),
    "not served": lambda: NotFoundError("no such kind"),
    "expired": lambda: ExpiredError("too old"),
    "broken": lambda: InternalError("broken"),
    "unknown": lambda: UnauthorizedError("who are you?"),
}


class Drawn:
    """A server with some trouble for some kinds: before the first page, or between two."""

    server = "https://server:6443"

    def __init__(self, troubles: dict[str, tuple[str, int, int]], objects: list[Object]) -> None:
        self.troubles, self.objects = troubles, objects
        self.asked: list[str] = []

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self.asked.append(kind)
        trouble, before, times = self.troubles.get(kind, ("", 0, 0))
        held = [each for each in self.objects if each["kind"] == kind]
        pages = [held[:1], held[1:]]
        for number, items in enumerate(pages):
            await asyncio.sleep(0)
            if trouble and number == before and self.asked.count(kind) <= times:
                raise TROUBLES[trouble]()
            yield Page([msgspec.Raw(msgspec.json.encode(each)) for each in items], "7")

    async def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object:
        trouble, _, times = self.troubles.get(kind, ("", 0, 0))
        if trouble and times:
            raise TROUBLES[trouble]()
        for each in self.objects:
            metadata = each["metadata"]
            if (each["kind"], metadata.get("namespace"), metadata["name"]) == (kind, namespace, name):
                return each
        raise NotFoundError("there is none")

    async def close(self) -> None:
        self.asked.append("closed")


def objects(draw: Random) -> list[Object]:
    made = [
        node("n0"),
        node("n1"),
        pod("p0", on="n0"),
        pod("p1"),
        deployment("web", pod("web")),
        deployment("db", pod("db")),
    ]
    for each in made[2:]:
        each["metadata"].setdefault("namespace", "default")
    made[5]["metadata"]["namespace"] = "ml"
    decided = {"namespace": CATALOG.pool_report().decisions[0], "name": CATALOG.pool_report().decisions[1]}
    made.append({"kind": "ConfigMap", "metadata": decided, "data": draw.choice(({"a": "b"}, None))})
    odd = draw.random()
    if odd < 0.2:
        made[1]["spec"] = {"taints": None, "unschedulable": None}
    elif odd < 0.3:
        made[1]["spec"] = {"taints": 5}
    elif odd < 0.4:
        made[3]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "much"}}
    return made


def said(ask: Callable[[], Any]) -> str:
    try:
        found = ask()
        if isinstance(found, list) and found and isinstance(found[0], Workload):
            return f"{[(each.metadata.namespace, each.metadata.name, each.spec.replicas) for each in found]}"
        return str(found)
    except MooringError as error:
        return f"! {type(error).__name__} {error}"


def read(server: Drawn) -> list[str]:
    source = LiveSource(cast(HttpTransport, server), "default")
    try:

        def load() -> str:
            snapshot = source.load(lambda each: True)
            cluster = snapshot.cluster
            return f"{sorted(cluster.slots)} {sorted(cluster.pods)} {sorted(snapshot.unread_kinds)}"

        asked: list[Callable[[], Any]] = [load, lambda: source.gaps]
        asked += [partial(source.find, "Deployment", "web", each) for each in (None, "default", "ml")]
        asked += [partial(_names, source, each) for each in (None, "ml")]
        asked += [source.pools, source.pool_decisions, lambda: source.name]
        return [said(each) for each in asked]
    finally:
        source.close()
        assert server.asked[-1] == "closed"


def _names(source: LiveSource, namespace: str | None) -> list[str]:
    return sorted(source.names("Deployment", namespace))


def test_drawn_servers_are_read_as_far_as_they_let_themselves_be() -> None:
    draw, found = Random(8), dict[str, str]()
    kinds = [*(kind for _, kind in VIEWS), "ConfigMap", "MachineDeployment", "Deployment"]
    cases: list[dict[str, tuple[str, int, int]]] = [{}]
    cases += [{kind: (trouble, 0, 9)} for kind in kinds for trouble in ("forbidden", "not served")]
    cases += [{kind: ("expired", before, times)} for kind in kinds[:4] for before in (0, 1) for times in (1, 9)]
    cases += [{kind: ("expired", 1, 1)} for kind in ("Node", "Pod", "Deployment")]
    for _ in range(100):
        many = draw.sample(["Node", "Pod", "Deployment", *kinds], draw.choice((1, 1, 2)))
        cases.append(
            {kind: (draw.choice([*TROUBLES, "expired"]), draw.randrange(2), draw.choice((1, 9))) for kind in many}
        )
    for number, troubles in enumerate(cases):
        server = Drawn(troubles, objects(draw) if troubles else objects(Random(0)))
        lines = read(server)
        found[f"{number} {json.dumps(troubles)}"] = "\n".join(lines)
        if not lines[0].startswith("!"):
            assert "['n0', 'n1']" in lines[0], (troubles, lines)
    found["left out"] = "\n".join(f"{kind}: {left_out(kind)}" for kind in dict.fromkeys(kinds))
    same_as_recorded("runway-readings", found)
