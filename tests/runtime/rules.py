"""What the tests of the rules share: controllers, a dispatcher that is fed by hand, and runs without a server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random
from typing import Any

from mooring.api.kinds import Key
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.drivers.simulation import START
from mooring.runtime.view import View
from tests.runtime.sample import CONFIG_MAP

A = Key("default", "a")


def controller(reconcile: Callable[[Key, View, datetime], Decision], **more: Any) -> Controller:
    more = {"of": CONFIG_MAP, "writes": {CONFIG_MAP: ("create", "patch", "delete", "finalizers")}, **more}
    return Controller("tried", reconcile, **more)


def seen(name: str, version: int, **data: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": meta, "data": data}


def dispatcher(*controllers: Controller) -> Dispatcher:
    made = Dispatcher(controllers, Random(0))
    for kind in made.kinds:
        made.resync(kind, [], "1")
    return made


def step(made: Dispatcher, now: datetime = START) -> list[str]:
    """Run everything in line without carrying anything out; the names of the keys that ran."""
    ran = []
    made.flush(now)
    while (task := made.next(now)) is not None:
        ran.append(task.request.key.name)
        made.settle(task, Outcome(), now)
        made.flush(now)
    return ran
