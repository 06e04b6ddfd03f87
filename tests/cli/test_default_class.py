"""The default StorageClass of `mooring up`: brought where there is none, and never against what people made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mooring.kube.objects import Object
from mooring.nodes.storage.default_class import default_class
from mooring.registry import Registry
from mooring.supervisor.storage import have_default_class

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROVISIONER = ("volume-provisioner",)


def other(name: str, **notes: str) -> Object:
    return {**default_class(), "metadata": {"name": name, "annotations": notes}, "provisioner": "example.com/disks"}


@pytest.mark.parametrize(
    ("before", "controllers", "expected"),
    [
        ((), PROVISIONER, ["standard"]),
        ((), ("scheduler",), []),
        ((other("disks"),), PROVISIONER, ["disks", "standard"]),
        ((other("disks", **{"storageclass.kubernetes.io/is-default-class": "true"}),), PROVISIONER, ["disks"]),
        ((other("standard"),), PROVISIONER, ["standard"]),
    ],
)
def test_a_default_class_is_brought_where_there_is_none(
    before: tuple[Object, ...], controllers: tuple[str, ...], expected: list[str]
) -> None:
    registry = Registry(now=NOW)
    resource = registry.resource("storage.k8s.io/v1", "StorageClass")
    for each in before:
        registry.create(resource, each, now=NOW)
    for _ in range(2):
        have_default_class(registry, controllers, NOW)
    found = registry.list(resource).items
    assert [each["metadata"]["name"] for each in found] == expected
    kept = {each["metadata"]["name"]: each["provisioner"] for each in before}
    assert kept.items() <= {each["metadata"]["name"]: each["provisioner"] for each in found}.items()
