"""A small cluster in virtual time that knows Workspaces, and verbs to speak of it."""

from __future__ import annotations

from typing import Any

from mooring.features.workspaces.feature import SIMULATED_CLAIMS, WORKSPACES
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.settings import Configuration
from mooring.testing.controllers import whole_control_plane
from tests.features.groups.town import Town

CONTROLLERS: tuple[Controller, ...] = (
    *whole_control_plane(),
    *WORKSPACES.controllers.load(),
    *SIMULATED_CLAIMS.controllers.load(),
)
PROVISIONING = Configuration(settings={"node-provisioner": "karpenter"})


def types(**outcomes: str) -> Object:
    """What the simulated cloud has, as a fleet says it."""
    metadata = {"name": "simulated-instance-types", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": outcomes}


class WorkspaceTown(Town):
    """A simulated cluster with Workspaces; with `provisions`, missing nodes are asked for."""

    def __init__(self, *objects: Object, provisions: bool = False, **parts: Any) -> None:
        configuration = PROVISIONING if provisions else Configuration()
        super().__init__(*objects, controllers=CONTROLLERS, configuration=configuration, **parts)

    def condition(self, kind: str, name: str = "llm", of: str = "Workspace") -> tuple[str, str, str]:
        """Status, reason and message."""
        found = (self.get(of, name).get("status") or {}).get("conditions") or ()
        for each in found:
            if each["type"] == kind:
                return each["status"], each["reason"], each["message"]
        return "", "", ""

    def holds(self, name: str = "llm", of: str = "Workspace") -> dict[str, str]:
        """The status of every condition."""
        found = (self.get(of, name).get("status") or {}).get("conditions") or ()
        return {each["type"]: each["status"] for each in found}

    def relabel(self, node: str, **labels: str | None) -> None:
        self.patch("Node", node, {"metadata": {"labels": labels}})

    def lose(self, node: str) -> None:
        """The node says nothing any more."""
        self.patch("Node", node, {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}})

    def told(self, reason: str, about: str = "Workspace") -> list[str]:
        events = self.all("Event").values()
        return [
            each["message"] for each in events if (each["reason"], each["involvedObject"]["kind"]) == (reason, about)
        ]
