"""A small operator on kopf, run by tests in a process of its own: a Buoy gets a status, events and a finalizer."""

from __future__ import annotations

from typing import Any

import kopf


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.posting.enabled = True
    settings.persistence.finalizer = "buoys.example.com/kopf"


@kopf.on.create("example.com", "v1", "buoys")
def created(spec: kopf.Spec, **_: Any) -> dict[str, int]:
    return {"depth": spec["depth"]}


@kopf.on.update("example.com", "v1", "buoys", field="spec.depth")  # type: ignore[arg-type]
def deepened(old: int, new: int, patch: kopf.Patch, **_: Any) -> None:
    patch.status["deepened"] = f"{old} to {new}"


@kopf.on.delete("example.com", "v1", "buoys")
def deleted(body: kopf.Body, name: str, **_: Any) -> None:
    kopf.info(body, reason="HauledIn", message=f"Buoy {name} is hauled in.")
