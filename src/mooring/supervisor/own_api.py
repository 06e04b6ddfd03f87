"""What our features add to the API, as data: definitions as an API server stores them, and webhooks as it lists them.

The API server of `mooring up` starts with it and loads no feature: to make definitions from their types, and to check
what was made, took half of its start. `python -m scripts.crds` writes it, by `declared_api.py`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from mooring.kube.objects import Object
from mooring.kube.times import timestamp

if TYPE_CHECKING:
    from mooring.registry import Registry

__all__ = ["DATA", "EPOCH", "OwnApi", "OwnWebhook", "have", "read_own_api"]

DATA: Final = Path(__file__).parent / "data" / "own_api.json"
# Stands for the time of the first start, wherever that is told.
EPOCH: Final = "1970-01-01T00:00:00Z"
_MANAGER: Final = "mooring"


class OwnWebhook(msgspec.Struct):
    """A webhook as a configuration lists it, and the word that switches it on."""

    switch: str
    phase: Literal["mutating", "validating"]
    entry: Object


class OwnApi(msgspec.Struct):
    """What one feature adds. `definitions` are complete but for uid and resource version."""

    definitions: list[Object]
    webhooks: list[OwnWebhook]


def read_own_api(now: datetime) -> dict[str, OwnApi]:
    """By the names of features. What is told of times is `now`."""
    text = DATA.read_bytes().replace(EPOCH.encode(), timestamp(now).encode())
    return msgspec.json.decode(text, type=dict[str, OwnApi])


def have(registry: Registry, wanted: Object, now: datetime) -> None:
    """Have an object as this version of Mooring knows it; what others added to it stays."""
    name = wanted["metadata"]["name"]
    resource = registry.resource(wanted["apiVersion"], wanted["kind"])
    registry.patch(resource, "", name, "apply", wanted, now=now, manager=_MANAGER, force=True)
