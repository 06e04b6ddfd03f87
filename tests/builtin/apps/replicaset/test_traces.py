"""ReplicaSets and ReplicationControllers in drawn stories: adoption, release, refusals, and which pods go first."""

from __future__ import annotations

from random import Random

import pytest

from mooring.builtin.apps.replicaset.controller import CONTROLLER, REPLICATION
from mooring.kube.objects import Object
from mooring.testing import pod
from mooring.testing.workloads import replica_set, replication_controller
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone, chosen, toggle_quota
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

COST = "controller.kubernetes.io/pod-deletion-cost"


def disturb(story: Story, draw: Random, kind: str, number: int) -> None:
    some = anyone(story, draw, "Pod")
    name = some["metadata"]["name"] if some else ""
    match draw.randrange(12):
        case 0 | 1 | 2 | 3:
            story.patch(kind, "web", {"spec": {"replicas": draw.randrange(9)}})
        case 4:
            app = draw.choice(["web", "other"])
            stray = pod(f"stray-{number}", labels={"app": app, **chosen(draw, 0.5, tier="back")})
            story.create(stray)
        case 5:
            toggle_quota(story, draw)
        case 6 if name:
            story.patch("Pod", name, {"metadata": {"labels": {"app": draw.choice(["web", "other"])}}})
        case 7 if name:
            cost = draw.choice(["-5", "10", "much"])
            story.patch("Pod", name, {"metadata": {"annotations": {COST: cost}}})
        case 8 if name:
            story.delete("Pod", name)
        case 9:
            story.patch(kind, "web", {"spec": {"minReadySeconds": draw.choice([0, 3, 20])}})
        case 10 if name:
            zone = {"topology.kubernetes.io/zone": "z1", **chosen(draw, 0.3, extra="yes")}
            story.patch("Pod", name, {"metadata": {"labels": zone}})
        case 11:
            # A set of another kind of pod has a say about none of these.
            story.patch(
                kind, "web", {"spec": {"template": {"metadata": {"labels": {"tier": draw.choice(["a", "b"])}}}}}
            )


def play(number: int) -> str:
    draw = Random(f"replica set {number}")
    kind = "ReplicationController" if number % 3 == 2 else "ReplicaSet"
    build = replication_controller if kind == "ReplicationController" else replica_set
    more = chosen(draw, 0.4, minReadySeconds=[2, 6])
    made: Object = build("web", draw.randrange(8), **more)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "front", "uid": "f" * 8, "controller": True}
    story = Story((CONTROLLER, REPLICATION, GARBAGE), seed=number)
    if kind == "ReplicaSet" and draw.random() < 0.5:
        # Two sets of one Deployment, which nobody looks after here.
        front = {**build("front", 1), "kind": "Deployment"}
        owner["uid"] = (story.create(front) or {})["metadata"]["uid"]
        made["metadata"]["ownerReferences"] = [owner]
        sibling = build("sibling", 3)
        sibling["metadata"]["ownerReferences"] = [owner]
        story.create(sibling)
    story.create(made)
    kubelet = Kubelet(story, ("n0", "n1", "n2"), draw)
    for step in range(10):
        for _ in range(draw.randrange(1, 4)):
            story.run(1)
            kubelet.tick(start=0.6, fail=0.03, unready=0.1)
        some = anyone(story, draw, "Pod")
        if some is not None and some["status"]["phase"] == "Running" and draw.random() < 0.5:
            kubelet.start(some["metadata"]["name"], restarts=draw.randrange(4))
        story.run(draw.choice([1, 5, 30, 200]))
        disturb(story, draw, kind, step)
        story.run(1)
    story.delete(kind, "web", propagation=draw.choice(["Foreground", "Background", "Orphan", None]))
    story.run(1)
    kubelet.tick()
    story.run(5)
    return story.text()


@pytest.mark.parametrize("number", range(14))
def test_a_drawn_set_goes_as_it_did(number: int) -> None:
    agrees("replica-sets", f"drawn {number}", play(number))
