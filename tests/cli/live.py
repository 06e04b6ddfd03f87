"""Commands against a small cluster that is served over a socket, as a user types them."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from mooring.cli.main import cli
from tests.cli.served import ServedCluster
from tests.cli.world import World

TAINT = "nvidia.com/gpu=present:NoSchedule"


class Live:
    """A small town in a cluster, and what a user types."""

    def __init__(self, cluster: ServedCluster, world: World) -> None:
        self.cluster, self.world = cluster, world

    def settle(self) -> None:
        """What the world holds goes into the cluster."""
        self.cluster.add(*self.world.objects)
        self.world.objects.clear()

    def run(self, *arguments: str) -> Result:
        if "--kubeconfig" not in arguments:
            arguments = (*arguments, "--kubeconfig", self.cluster.kubeconfig())
        return CliRunner().invoke(cli, list(arguments))

    def complaint(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        (line,) = result.stderr.splitlines()
        return line.removeprefix("error: ")


def owned(world: World, kind: str, name: str, obj: dict[str, Any]) -> None:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}
    obj["metadata"]["ownerReferences"] = [reference]
    world.add(obj)
