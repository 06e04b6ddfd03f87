"""Whatever a client sends is stored or refused in words; nothing a client sends breaks the server."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from tests.registry.world import World, config, definition, job, pod, refused, workload

_CLAIM = {
    "metadata": {"name": "d"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
_SCALE = {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}
_TAINTS = [{"key": "a", "effect": "NoSchedule"}]
_SUCCESS = {"rules": [{"succeededCount": 1}]}
_RULES = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}
GOOD: dict[str, Object] = {
    "pod": pod(tolerations=[{"key": "a", "operator": "Exists"}], schedulingGates=[{"name": "a/b"}]),
    "node": {
        "metadata": {"name": "n"},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "1"}},
    },
    "namespace": {"metadata": {"name": "x"}, "spec": {"finalizers": ["kubernetes"]}},
    "configmap": config(),
    "secret": {"metadata": {"name": "s"}, "stringData": {"a": "b"}, "data": {"c": "ZA=="}},
    "service": {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80, "name": "a"}], "selector": {"a": "b"}}},
    "event": {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "eventTime": None},
    "pvc": _CLAIM,
    "deployment": workload(strategy={"rollingUpdate": {"maxSurge": 1}}),
    "statefulset": workload(volumeClaimTemplates=[_CLAIM], ordinals={"start": 1}),
    "daemonset": workload(updateStrategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
    "job": job(
        podFailurePolicy=_RULES,
        successPolicy={"rules": [{"succeededCount": 1}]},
        completionMode="Indexed",
        completions=2,
    ),
    "cronjob": {"metadata": {"name": "n"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job()["spec"]}}},
    "pdb": {"metadata": {"name": "b"}, "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}},
    "priorityclass": {"metadata": {"name": "p"}, "value": 1},
    "lease": {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 1}},
    "crd": definition(
        subresources={"status": {}, "scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}}
    ),
}
_NOTHING: list[Any] = [None, "", [], {}, 0, True]
_WRONG: list[Any] = [-1, 2**40, 1.5, "x", "A_b", "\u2028", "1Gi", "25%", [None], [{}], [1], {"a": None}, {"name": "x"}]
JUNK = st.sampled_from(_NOTHING + _WRONG)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def damaged(value: Any, path: tuple[Any, ...], junk: Any, *, drop: bool) -> Any:
    made = copy.deepcopy(value)
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    if drop:
        del holder[path[-1]]
    else:
        holder[path[-1]] = junk
    return made


def refusal(request: Callable[[], Any]) -> str:
    """What the API says against a request; empty when it is carried out."""
    try:
        request()
    except ApiError as error:
        return str(error) or "a refusal without words"
    return ""


@pytest.mark.parametrize("word", sorted(GOOD))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_object_is_stored_or_refused(word: str, data: st.DataObject) -> None:
    world = World()
    path = data.draw(st.sampled_from(places(GOOD[word])))
    bad = damaged(GOOD[word], path, data.draw(JUNK), drop=data.draw(st.booleans()))
    before = world.registry.revision
    if refusal(lambda: world.make(word, bad)):
        assert world.registry.revision == before
    world.storage.verify()


@pytest.mark.parametrize("word", sorted(set(GOOD) - {"crd"}))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_change_is_stored_or_refused(word: str, data: st.DataObject) -> None:
    world = World()
    made = world.make(word, GOOD[word])
    path = data.draw(st.sampled_from(places(made)))
    bad = damaged(made, path, data.draw(JUNK), drop=data.draw(st.booleans()))
    subresource = data.draw(st.sampled_from(["", "status"] if world.kind(word).has_status else [""]))
    before = world.registry.revision
    if refusal(lambda: world.put(word, bad, subresource=subresource)):
        assert world.registry.revision == before
    world.storage.verify()


def test_an_object_that_is_none_is_refused(world: World) -> None:
    junk: Any
    for junk in (None, [], "x", 3):
        with refused(400, "the object provided is unrecognized (must be of type ConfigMap): "):
            world.make("configmap", junk)


def test_an_object_of_another_kind_is_refused(world: World) -> None:
    with refused(400, 'Pod in version "v1" cannot be handled as a ConfigMap: '):
        world.make("configmap", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}})
    with refused(400, 'no kind "ConfigMap" is registered for version "v2"'):
        world.make("configmap", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}})
