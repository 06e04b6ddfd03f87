"""A small feature with an effect: a Release is installed by a program outside, once for each of its revisions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind
from mooring.api.meta import Meta
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.effects import Effect, EffectRecord, Report, Run
from mooring.runtime.view import View

GROUP = "effects.example.com"


class ReleaseSpec(Typed, frozen=True):
    revision: int = 1
    script: str = "true"
    suspended: bool = False


class ReleaseStatus(Typed, frozen=True):
    effects: dict[str, EffectRecord] = msgspec.field(default_factory=dict)


class Release(Typed, frozen=True):
    metadata: Meta = Meta()
    spec: ReleaseSpec = ReleaseSpec()
    status: ReleaseStatus = ReleaseStatus()


RELEASE = Kind(f"{GROUP}/v1", "Release", Release)


class Install(Typed, frozen=True):
    script: str


def model(arguments: Install) -> tuple[timedelta, Report]:
    """Scripts of a simulation say how long they take, and whether they fail."""
    seconds, _, end = arguments.script.partition(" ")
    took = timedelta(seconds=int(seconds) if seconds.isdigit() else 30)
    return took, Report("Failed", 1, "no") if end == "fails" else Report("Succeeded", 0, "done")


INSTALL = Effect("install", "process", Install, timedelta(minutes=2), model)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    release = view.get(RELEASE, *key)
    if release is None or release.metadata.deleting or release.spec.suspended:
        return Decision()
    wanted = f"revision-{release.spec.revision}"
    return Decision(effects=(Run(INSTALL, RELEASE, key, wanted, Install(release.spec.script)),))


INSTALLING = Controller("installing", reconcile, of=RELEASE, writes={RELEASE: ("status",)}, effects=(INSTALL,))


def definition() -> Object:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose, "status": loose}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"plural": "releases", "singular": "release", "kind": "Release", "listKind": "ReleaseList"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    meta = {"name": f"releases.{GROUP}"}
    kind = "CustomResourceDefinition"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": kind, "metadata": meta, "spec": spec}


def release(name: str, namespace: str = "default", **spec: Any) -> Object:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Release", "metadata": meta, "spec": spec}


def define(registry: Registry, now: datetime) -> None:
    registry.create(registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"), definition(), now=now)


def put_release(registry: Registry, name: str, now: datetime, **spec: Any) -> None:
    registry.create(registry.resource(f"{GROUP}/v1", "Release"), release(name, **spec), now=now)


def change_release(registry: Registry, name: str, now: datetime, **spec: Any) -> None:
    registry.patch(registry.resource(f"{GROUP}/v1", "Release"), "default", name, "merge", {"spec": spec}, now=now)


def record(registry: Registry, name: str) -> Object:
    found = registry.find(f"{GROUP}/v1", "Release", "default", name) or {}
    records: dict[str, Object] = found.get("status", {}).get("effects", {})
    return records.get("install", {})
