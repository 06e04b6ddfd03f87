"""What is not known of a pod's volumes, by what was read of its cluster."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Pod
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.storage.views import CSIDriver, PersistentVolume, StorageClass
from mooring.kube.objects import Object
from mooring.placement.snapshot import Snapshot
from mooring.testing import pod
from tests.builtin.volumes.objects import claim, local_volume, storage_class


def bound(volume: str) -> Object:
    made = claim("data", "fast")
    made["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    made["spec"]["volumeName"] = volume
    return made


def driver(*, tells: bool) -> Object:
    return {"metadata": {"name": "ebs.csi.aws.com"}, "spec": {"storageCapacity": tells}}


def told(unread: set[str], *, new: Object | None = None, **there: Object) -> list[tuple[str, bool]]:
    """The texts for a pod that mounts `data`, each with whether its volume is set aside."""
    kinds: dict[str, Any] = {
        "claim": PersistentVolumeClaim,
        "volume": PersistentVolume,
        "storage_class": StorageClass,
        "driver": CSIDriver,
    }
    snapshot = Snapshot()
    for name, obj in there.items():
        snapshot.add(msgspec.convert(obj, kinds[name]))
    if new is not None:
        snapshot.add_new_claim(msgspec.convert(new, PersistentVolumeClaim))
    snapshot.unread_kinds = unread
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    info = snapshot.cluster.compiler.compile(msgspec.convert(pod("p", volumes=volumes), Pod))
    return [(unknown.text, bool(unknown.set_aside)) for unknown in snapshot.unknowns(info)]


@pytest.mark.parametrize(
    ("unread", "there", "said"),
    [
        (set(), {}, []),
        (
            {"PersistentVolumeClaim"},
            {},
            [("claim default/data is not known, as no PersistentVolumeClaim was read", True)],
        ),
        (set(), {"claim": bound("disk")}, []),
        (
            {"PersistentVolume"},
            {"claim": bound("disk")},
            [("PersistentVolume disk of claim default/data is not known, as none was read", True)],
        ),
        ({"PersistentVolume"}, {"claim": bound("disk"), "volume": local_volume("disk", "a", "fast")}, []),
        (
            {"StorageClass"},
            {"claim": claim("data", "fast")},
            [("StorageClass fast of claim default/data is not known, as none was read", True)],
        ),
        (set(), {"claim": claim("data", "fast"), "storage_class": storage_class("fast")}, []),
        (
            {"CSIDriver"},
            {"claim": claim("data", "fast"), "storage_class": storage_class("fast")},
            [
                (
                    "whether ebs.csi.aws.com has space for claim default/data is not known, as no CSIDriver was read",
                    False,
                )
            ],
        ),
        (
            {"CSIStorageCapacity"},
            {"claim": claim("data", "fast"), "storage_class": storage_class("fast"), "driver": driver(tells=True)},
            [
                (
                    "whether ebs.csi.aws.com has space for claim default/data is not known, as no CSIStorageCapacity "
                    "was read",
                    True,
                )
            ],
        ),
        (
            {"CSIStorageCapacity"},
            {"claim": claim("data", "fast"), "storage_class": storage_class("fast"), "driver": driver(tells=False)},
            [],
        ),
        (
            {"CSINode"},
            {"claim": bound("disk"), "volume": local_volume("disk", "a", "fast")},
            [("how many volumes a node can attach is not known, as no CSINode was read", False)],
        ),
    ],
)
def test_only_what_was_not_read_is_not_known(
    unread: set[str], there: dict[str, Object], said: list[tuple[str, bool]]
) -> None:
    assert told(unread, **there) == said


def test_a_claim_that_waits_for_nobody_is_known_once_it_is_there() -> None:
    """The scheduler turns its pod away, and that is certain; of a new one nobody can say what it is given."""
    at_once = storage_class("fast", mode="Immediate")
    assert told(set(), claim=claim("data", "fast"), storage_class=at_once) == []
    assert [aside for _, aside in told(set(), new=claim("data", "fast"), storage_class=at_once)] == [True]


def test_a_new_claim_gets_the_default_class() -> None:
    default = storage_class("fast")
    default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    assert told(set(), new=claim("data"), storage_class=default) == []
    assert [aside for _, aside in told(set(), new=claim("data"), storage_class=storage_class("fast"))] == [True]
