"""What the runtime makes of faults: every write that is tried, when it is tried again, and what is counted in the end.

The controllers are those of workloads, and one of the test's own that uses whatever a decision may hold.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

import pytest

from mooring.api.kinds import Key
from mooring.builtin.apps.deployment.controller import CONTROLLER as DEPLOYMENTS
from mooring.builtin.apps.replicaset.controller import CONTROLLER as REPLICA_SETS
from mooring.builtin.batch.job.controller import CONTROLLER as JOBS
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import Counter, Gauge
from mooring.runtime.decision import Apply, Create, Decision, Delete, Event, Patch, Write
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.view import View
from mooring.testing.workloads import deployment, job, template
from mooring.workloads.kinds import SERVICE
from mooring.workloads.ownerrefs import controller_reference
from tests.builtin.town import GARBAGE
from tests.runtime.sample import CONFIG_MAP, COPIER
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

WORKLOADS = (DEPLOYMENTS, REPLICA_SETS, JOBS, GARBAGE)


class Turns(NamedTuple):
    """How often a key has run."""

    number: int = 0


TURNS = Counter("juggler_turns_total", "Turns.", ("name",))
SEEN = Gauge("juggler_seen", "Seen.", ("name",))


def juggle(key: Key, view: View, now: datetime) -> Decision:
    """Whatever the entries of a ConfigMap say."""
    source = view.get(CONFIG_MAP, *key)
    if source is None or not key.name.startswith("juggler"):
        return Decision()
    turns = view.memory(Turns) or Turns()
    said = source.data
    children: list[Write] = []
    owned = {each.metadata.name: each for each in view.owned(CONFIG_MAP, source)}
    body = {"metadata": {"namespace": key.namespace, "ownerReferences": [controller_reference(CONFIG_MAP, source)]}}
    for name in said.get("apply", "").split():
        made = {**body, "metadata": {**body["metadata"], "name": name}, "data": {"text": said.get("text", "")}}
        children.append(Apply(CONFIG_MAP, made))
    children += [
        Create(CONFIG_MAP, {**body, "metadata": {**body["metadata"], "name": name}})
        for name in said.get("create", "").split()
        if name not in owned
    ]
    children += [
        Delete(CONFIG_MAP, Key(key.namespace, name)) for name in said.get("delete", "").split() if name in owned
    ]
    if "again" in said:
        view.reached(now + timedelta(seconds=int(said["again"])))
    if "poll" in said:
        view.poll_again(now + timedelta(seconds=int(said["poll"])))
    noted = str(len(owned))
    service = view.get(SERVICE, key.namespace, said.get("service", ""))
    told = (Patch(CONFIG_MAP, key, {"data": {"noted": noted}}),) if said.get("noted") != noted else ()
    problem = (Event(CONFIG_MAP, key, "Warning", "Trouble", view.problem),) if view.problem else ()
    seen = Event(
        CONFIG_MAP, key, "Normal", "Seen", f"{noted} of {said.get('text')}, {service is not None}", action="Seeing"
    )
    after = tuple(
        Event(CONFIG_MAP, key, "Normal", "Made", write.key.name, after=(CONFIG_MAP, write.key)) for write in children
    )
    return Decision(
        children=tuple(children),
        status=told,
        events=(*problem, seen, *after),
        memory=Turns(turns.number + 1),
        metrics=(TURNS.add(key.name), SEEN.set(key.name, value=turns.number)),
        log=(f"turn {turns.number}",),
    )


JUGGLER = Controller(
    "juggler",
    juggle,
    of=CONFIG_MAP,
    reads=(SERVICE,),
    writes={CONFIG_MAP: ("create", "patch", "delete", "finalizers")},
    memory=Turns,
    min_interval=timedelta(seconds=3),
    metrics=(TURNS, SEEN),
)


def counted(story: Story) -> str:
    """What was counted, but for how long it took."""
    lines = story.simulation.metrics.text().splitlines()
    told = [line for line in lines if "seconds" not in line and not line.startswith("#") and not line.endswith(" 0")]
    return "\n".join([*told, f"steps {story.simulation.steps}", f"crashes {story.simulation.crashes}", ""])


def workloads(number: int) -> str:
    draw = Random(f"faults {number}")
    faults = Faults.everything(draw.choice([0.02, 0.08, 0.2]))
    objects = deployment("web", draw.randrange(4)), job("train", pods=template("train"), completions=2, parallelism=2)
    story = Story(WORKLOADS, *objects, seed=number, faults=faults)
    kubelet = Kubelet(story, draw=draw)
    for step in range(5):
        story.run(draw.choice([0, 1, 5]))
        kubelet.tick(start=0.7, fail=0.05, succeed=0.1)
        match draw.randrange(3):
            case 0:
                story.patch("Deployment", "web", {"spec": {"replicas": draw.randrange(5)}})
            case 1:
                story.patch("Deployment", "web", {"spec": {"template": template("web", version=step)}})
    story.quiet()
    story.run(60)
    return story.text() + counted(story)


@pytest.mark.parametrize("number", range(8))
def test_workloads_go_through_drawn_faults_as_they_did(number: int) -> None:
    agrees("faults", f"workloads {number}", workloads(number))


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def entries(draw: Random) -> dict[str, str | None]:
    found: dict[str, str | None] = dict.fromkeys(("apply", "create", "delete", "again", "poll", "service"))
    names = ["a", "b", "c", "d"]
    for verb in ("apply", "create", "delete"):
        if draw.random() < 0.5:
            picked = draw.sample(names, min(len(names), draw.randrange(3)))
            names = [name for name in names if name not in picked]
            found[verb] = " ".join(picked)
    for moment in ("again", "poll"):
        if draw.random() < 0.3:
            found[moment] = draw.choice(["1", "7", "20"])
    found["service"] = draw.choice([None, "web"])
    return found | {"text": draw.choice(["one", "two"])}


def juggled(number: int) -> str:
    draw = Random(f"juggler {number}")
    story = Story((JUGGLER, COPIER, GARBAGE), seed=number, faults=Faults.everything(draw.choice([0, 0.05, 0.15])))
    story.create(config_map("juggler-1", **{key: text for key, text in entries(draw).items() if text}))
    story.create(config_map("copied", copies="2"))
    for step in range(12):
        match draw.randrange(9):
            case 0 | 1 | 2 | 3:
                story.patch("ConfigMap", draw.choice(["juggler-1", "juggler-2"]), {"data": entries(draw)})
            case 4:
                story.create(config_map("juggler-2"))
            case 5:
                story.delete("ConfigMap", draw.choice(["juggler-1", "juggler-2", "a", "b"]))
            case 6:
                spec = {"spec": {"ports": [{"port": 80}]}}
                story.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, **spec})
            case 7:
                hard = {"spec": {"hard": {"count/configmaps": str(draw.randrange(3, 7))}}}
                story.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": f"q{step}"}, **hard})
            case 8:
                story.patch("ConfigMap", "copied", {"data": {"copies": str(draw.randrange(4))}})
        story.run(draw.choice([0, 1, 2, 30]))
    story.quiet()
    story.run(120)
    return story.text() + counted(story)


@pytest.mark.parametrize("number", range(16))
def test_a_controller_of_all_trades_goes_as_it_did(number: int) -> None:
    agrees("faults", f"juggler {number}", juggled(number))
