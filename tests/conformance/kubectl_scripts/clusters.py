"""The two homes in the shape in which kubectl's scripts start a cluster: an API server and controllers, and one Node
that nobody tends; there is no scheduler and no kubelet, so nothing ever runs. The scripts come in with a token of their
own, and may do everything whoever they say they are.

Upstream's server has some admission plug-ins off, ServiceAccount among them; neither home has here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import yaml

from mooring.apiserver.authentication.token_file import Token, digest
from mooring.builtin.feature import CONTROL_PLANE
from mooring.kube.objects import Object
from mooring.net.private_files import write_private
from mooring.testing.controlplane import ControlPlane
from mooring.testing.homes import EMBEDDED, Home, home_in, whole

# What upstream's scripts log in with.
TOKEN = "admin-token"
# What upstream does not run: pods stay where they are, and nodes get no addresses for pods.
LEFT_OUT = ("scheduler", "node-ipam")
# A node that never said anything is given up after a minute.
SILENCE_SECONDS = 120.0
FLEET_SECONDS = 60.0
# Without a field that is kept, a node would have no field manager.
NODE: Object = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}},
    "status": {"capacity": {"memory": "1Gi"}},
}
# The range of Services that upstream's server has, and the real home.
RANGE: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "ServiceCIDR",
    "metadata": {"name": "upstream"},
    "spec": {"cidrs": ["10.0.0.0/24"]},
}
FLEET = ("/api/v1/nodes/127.0.0.1", "/apis/networking.k8s.io/v1/servicecidrs/upstream")
_RBAC = "rbac.authorization.k8s.io"
# In place of upstream's --authorization-mode=RBAC,AlwaysAllow.
EVERYBODY: Object = {
    "apiVersion": f"{_RBAC}/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "everybody"},
    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [
        {"apiGroup": _RBAC, "kind": "Group", "name": name}
        # The last is one that a review asks about.
        for name in ("system:authenticated", "the-group")
    ],
}


@contextmanager
def started(name: str, folder: Path) -> Iterator[Home]:
    with (_embedded if name == EMBEDDED else _real)(folder) as home, home.api() as api:
        answer = api.post(f"/apis/{_RBAC}/v1/clusterrolebindings", EVERYBODY)
        if answer.code != 201:
            raise ValueError(f"ClusterRoleBinding everybody was refused: {answer.body}")
        yield home


def wait_until_node_is_given_up(home: Home) -> None:
    """Controllers then say of the node what is unknown of it."""
    with home.api() as api:
        _wait("conditions", SILENCE_SECONDS, lambda: bool(api.get(FLEET[0]).body["status"].get("conditions")))


def _wait(what: str, seconds: float, come: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not come():
        if time.monotonic() > deadline:
            raise ValueError(f"There is no sign of {what} after {seconds:g} s")
        time.sleep(0.2)


@contextmanager
def _embedded(folder: Path) -> Iterator[Home]:
    folder.mkdir(parents=True, exist_ok=True)
    fleet = folder / "fleet.yaml"
    fleet.write_text(yaml.safe_dump_all([NODE, RANGE]), encoding="utf-8")
    admin = Token("admin", digest(TOKEN), ("system:masters",), created=datetime.now(UTC).replace(microsecond=0))
    write_private(folder / "tokens", f"{admin.line}\n".encode())
    controllers = ",".join(name for name in CONTROL_PLANE.controllers.names if name not in LEFT_OUT)
    arguments = ("--ephemeral", "--fleet", str(fleet), "--controllers", controllers)
    with whole(EMBEDDED, folder, up_arguments=arguments) as home:
        with home.api() as api:
            # The fleet brings a custom kind along.
            _wait("the fleet", FLEET_SECONDS, lambda: all(api.get(path).code == 200 for path in FLEET))
            # Upstream's server has none to begin with.
            answer = api.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        if answer.code != 200:
            raise ValueError(f"The custom kinds were not deleted: {answer.body}")
        yield home


@contextmanager
def _real(folder: Path) -> Iterator[Home]:
    plane = ControlPlane(folder, ["kube-controller-manager"])
    plane.token = TOKEN
    with plane:
        home = home_in(plane)
        with home.api() as api:
            answer = api.post("/api/v1/nodes", NODE)
        if answer.code != 201:
            raise ValueError(f"Node {NODE['metadata']['name']} was refused: {answer.body}")
        yield home
