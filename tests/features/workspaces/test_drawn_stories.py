"""Workspaces in the hands of busy users, as recorded: nodes that come, go and fail, and changes that were drawn."""

from __future__ import annotations

from random import Random

import pytest

from mooring.features.workspaces.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.runtime.webhooks.direct import install
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.chance import Deed, busy_hours
from tests.features.workspaces.town import WorkspaceTown, types

H100 = "Standard_NC40ads_H100_v5"


def drawn_workspace(dice: Random, provisions: bool) -> Object:
    preset = dice.choice(("", "phi-4", "phi-4"))
    annotations = {"kaito.sh/bypass-resource-checks": "true"} if dice.random() < 0.2 else None
    tuned: Object = {"config": "settings"} if preset and dice.random() < 0.3 else {}
    return workspace(
        preset=preset,
        gpu=0 if preset else dice.choice((0, 1, 1)),
        count=dice.choice((None, 1, 2, 3)),
        instance_type=A100 if provisions else "",
        annotations=annotations,
        inference=tuned,
    )


class Users:
    def __init__(self, town: WorkspaceTown, provisions: bool) -> None:
        self.town = town
        self.provisions = provisions
        self.made = 0

    def some(self, kind: str, dice: Random) -> str:
        return dice.choice(sorted(self.town.all(kind)) or ["nobody"])

    def bring(self, dice: Random) -> None:
        self.made += 1
        gpus = dice.choice((1, 1, 1, 2))
        self.town.create(gpu_node(f"n{self.made}", gpu=gpus, instance_type=dice.choice((A100, H100)), memory_mib=81920))

    def relabel(self, dice: Random) -> None:
        self.town.relabel(self.some("Node", dice), apps=dice.choice(("llm", "web", None)))

    def lose(self, dice: Random) -> None:
        self.town.lose(self.some("Node", dice))

    def cordon(self, dice: Random) -> None:
        self.town.patch("Node", self.some("Node", dice), {"spec": {"unschedulable": dice.random() < 0.5}})

    def remove_node(self, dice: Random) -> None:
        self.town.delete("Node", self.some("Node", dice))

    def remove_claim(self, dice: Random) -> None:
        self.town.delete("NodeClaim", self.some("NodeClaim", dice))

    def fail_pod(self, dice: Random) -> None:
        state = {"waiting": {"reason": dice.choice(("ImagePullBackOff", "CrashLoopBackOff")), "message": "no"}}
        status = {"name": "llm", "ready": False, "restartCount": dice.choice((1, 7)), "image": "x", "imageID": "x"}
        body = {"status": {"phase": "Pending", "containerStatuses": [{**status, "state": state}]}}
        self.town.patch("Pod", self.some("Pod", dice), body, "status")

    def remove_workload(self, dice: Random) -> None:
        kind = dice.choice(("StatefulSet", "Service", "Pod"))
        self.town.delete(kind, self.some(kind, dice))

    def note(self, dice: Random) -> None:
        notes = {"note": str(dice.random()), "kaito.sh/enablelb": dice.choice(("True", None))}
        self.town.patch("Workspace", "llm", {"metadata": {"annotations": notes}})

    def change(self, dice: Random) -> None:
        resource = {"count": dice.randint(1, 4)}
        self.town.patch("Workspace", "llm", {"resource": resource})

    def change_template(self, dice: Random) -> None:
        container = {"name": "llm", "image": f"registry.example.com/llm:{dice.randint(1, 3)}"}
        body = {"inference": {"template": {"spec": {"containers": [container]}}}}
        self.town.patch("Workspace", "llm", body)

    def delete(self, dice: Random) -> None:
        self.town.delete("Workspace", "llm")

    def make(self, dice: Random) -> None:
        self.town.create(drawn_workspace(dice, self.provisions))


@pytest.mark.parametrize("seed", range(8))
def test_busy_users_of_a_workspace_get_what_was_recorded(seed: int) -> None:
    dice = Random(f"workspaces/{seed}")
    provisions = bool(seed % 2)
    nodes = [gpu_node(f"old{number}", instance_type=A100) for number in range(dice.randint(1, 3))]
    metadata = {"name": "settings", "namespace": "default"}
    settings = {"inference_config.yaml": "vllm:\n  max-model-len: 4096\n"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": settings}
    cloud = types(**{A100: dice.choice(("1", "out of capacity", "unregistered"))}) if dice.random() < 0.4 else None
    objects = [*nodes, config, *([cloud] if cloud else [])]
    town = WorkspaceTown(*objects, provisions=provisions, seed=seed, run=False)
    town.create(drawn_workspace(dice, provisions))
    if seed % 3 == 0:
        install(town.registry, WEBHOOKS, clock=lambda: town.simulation.now)
    town.run(5)
    users = Users(town, provisions)
    deeds: dict[Deed, int] = {
        users.bring: 3, users.relabel: 3, users.lose: 1, users.cordon: 2, users.remove_node: 1, users.remove_claim: 2,
        users.fail_pod: 2, users.remove_workload: 2, users.note: 1, users.change: 2, users.change_template: 2,
        users.delete: 1, users.make: 4,
    }  # fmt: skip
    busy_hours(dice, deeds, town.run, rounds=18)
    town.run(1200)
    assert all(each["status"]["conditions"] for each in town.all("Workspace").values())
