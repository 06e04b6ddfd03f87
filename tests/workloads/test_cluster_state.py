"""What the state of the cluster tells of changes that may let a waiting pod land."""

from __future__ import annotations

import msgspec

from mooring.api.core.views import Namespace, PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.resource.views import ResourceSlice
from mooring.testing.devices import resource_slice
from mooring.workloads.cluster_state import ClusterEvent, ClusterState

KEY = Key("", "team")


def namespace(**labels: str) -> Namespace:
    return msgspec.convert({"metadata": {"name": "team", "labels": labels}}, Namespace)


def told(old: Namespace | None, new: Namespace | None) -> list[ClusterEvent]:
    state = ClusterState()
    if old is not None:
        state.change_namespace(KEY, None, old)
    position = state.position
    state.change_namespace(KEY, old, new)
    return list(state.since(position) or ())


def test_a_namespace_is_told_of_when_it_comes_goes_or_gets_other_labels() -> None:
    """Terms of pods select namespaces by label, and by nothing else."""
    event = [ClusterEvent("namespace", namespace="team")]
    assert told(None, namespace()) == event
    assert told(namespace(), None) == event
    assert told(namespace(), namespace(tier="web")) == event
    assert told(namespace(tier="web"), namespace(tier="web")) == []


def test_storage_and_devices_that_come_or_go_are_told_of() -> None:
    """A pod may have waited for either, and for room in either."""
    state = ClusterState()
    position = state.position
    claim = msgspec.convert({"metadata": {"name": "data", "namespace": "team"}}, PersistentVolumeClaim)
    offer = msgspec.convert(resource_slice("n0"), ResourceSlice)
    state.change_storage(None, claim)
    state.change_storage(claim, None)
    state.change_devices(None, offer)
    state.change_devices(offer, None)
    storage, devices = ClusterEvent("storage"), ClusterEvent("devices")
    assert list(state.since(position) or ()) == [storage, storage, devices, devices]
