"""Own writes that no watch will show, and writes that were not answered: the driver looks for itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from mooring.api.kinds import Key, Kind
from mooring.client.transport import Request, UnknownOutcome
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, TooManyRequestsError, UnauthorizedError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Decision
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import View
from tests.client.stories import awaited, now, until
from tests.runtime.living import Blind, at_work, data_of, put
from tests.runtime.sample import CONFIG_MAP, COPIER, ConfigMap
from tests.runtime.worlds import change, config_map, create, get, names

TEAM = Kind("v1", "ConfigMap", ConfigMap, labels="team=a")


def labelled(name: str) -> Object:
    made = config_map(name)
    return {**made, "metadata": {**made["metadata"], "labels": {"team": "a"}}}


def test_an_object_that_leaves_a_watch_by_label_while_it_is_written_holds_its_key_until_a_list_only() -> None:
    """Its watch tells that it left, and nothing of the write that came after that."""
    moments: list[datetime] = []

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        moments.append(moment)
        if view.get(TEAM, *key) is None:
            return Decision()
        change(simulation, key.name, {"metadata": {"labels": {"team": None}}})
        applied = {"metadata": {"namespace": key.namespace, "name": key.name}, "data": {"told": "yes"}}
        return Decision(status=(Apply(TEAM, applied),))

    simulation = Simulation([Controller("telling", reconcile, of=TEAM, writes={TEAM: ("create", "patch")})])
    listed = simulation.metrics.relists.value(TEAM.described)
    create(simulation, labelled("a"))
    ended = simulation.run(timedelta(seconds=5))
    assert get(simulation, "a")["data"] == {"told": "yes"}
    assert not ended.moving
    assert len(moments) == 2, "It ran again, and found the object gone from its view."
    assert simulation.metrics.relists.value(TEAM.described) == listed + 1


def test_after_a_lost_answer_the_simulation_lists_what_may_have_been_written_and_nothing_else() -> None:
    node = Kind("v1", "Node", ConfigMap)

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        view.list(node)
        return COPIER.reconcile(key, view, moment)

    copier = Controller("copier", reconcile, of=CONFIG_MAP, reads=(node,), writes=COPIER.writes)
    simulation = Simulation([copier], faults=Faults(lost_answer=1.0))
    before = {kind: simulation.metrics.relists.value(kind.described) for kind in (CONFIG_MAP, node)}
    create(simulation, config_map("a", copies="1"))
    simulation.run(timedelta(0), until=lambda: "a-0" in names(simulation))
    assert simulation.metrics.relists.value(CONFIG_MAP.described) == before[CONFIG_MAP] + 1
    assert simulation.metrics.relists.value(node.described) == before[node]


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(lambda: UnauthorizedError("the token is renewed"), id="401"),
        pytest.param(lambda: TooManyRequestsError("the server asks for patience"), id="429"),
    ],
)
@awaited
async def test_a_look_after_a_lost_answer_is_tried_again_until_the_server_lets_it(
    refusal: Callable[[], ApiError],
) -> None:
    refused: list[str] = []
    lost: list[str] = []

    class Refusing(Blind):
        async def get(
            self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
        ) -> Object:
            if lost and not refused:
                refused.append(name)
                raise refusal()
            return await super().get(api_version, kind, namespace, name, metadata_only=metadata_only)

    async def lose(request: Request) -> None:
        if request.verb == "create" and not lost:
            lost.append(request.name)
            raise UnknownOutcome("the answer was lost")

    registry = Registry(now=now())
    put(registry, {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a", copies="1")})
    live = Live([COPIER], Refusing(registry, after=lose))
    async with at_work(live):
        # No watch has told of the copy: only the second look can have.
        await until(lambda: data_of(registry, "a").get("seen") == "1")
    assert refused == lost == ["a-0"]
    assert live.metrics.writes.value("copier", "create") == 1
