"""What a server does unasked."""

from __future__ import annotations

from mooring.apiserver.maintenance import Maintenance
from tests.apiserver.world import CONFIGMAPS, Api
from tests.registry.world import config

EVENTS = "/api/v1/namespaces/default/events"


def maintenance(api: Api) -> Maintenance:
    return Maintenance(api.registry, api.app.group_commit, lambda: api.now)


def test_events_are_forgotten_after_an_hour(api: Api) -> None:
    api.made(EVENTS, {"metadata": {"name": "old"}, "involvedObject": {"namespace": "default"}})
    api.wait(3000)
    api.made(EVENTS, {"metadata": {"name": "new"}, "involvedObject": {"namespace": "default"}})
    api.wait(700)
    api.server.call(maintenance(api).round)
    assert api.names(EVENTS) == ["new"]
    assert api.names("/apis/events.k8s.io/v1/namespaces/default/events") == ["new"]


def test_history_is_kept_for_five_minutes_and_forgotten_after_ten(api: Api) -> None:
    keeping = maintenance(api)
    version = api.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    api.made(CONFIGMAPS, config("c"))
    for _ in range(5):
        api.server.call(keeping.round)
    with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
        assert lines.told() == ("ADDED", "c")
    for _ in range(5):
        api.server.call(keeping.round)
    with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
        assert lines.next()["object"]["code"] == 410
