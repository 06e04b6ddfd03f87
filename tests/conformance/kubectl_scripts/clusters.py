"""The two homes in the shape in which kubectl's scripts start a cluster: an API server and controllers, and one Node
that nobody tends; there is no scheduler and no kubelet, so nothing ever runs. The scripts come in with a token of their
own, and may do everything whoever they say they are.

Upstream's server has some admission plug-ins off, ServiceAccount among them; neither home has here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import yaml

from mooring.apiserver.authentication.token_file import Token, digest
from mooring.kube.objects import Object
from mooring.net.private_files import write_private
from mooring.testing.controlplane import ControlPlane
from mooring.testing.homes import EMBEDDED, Home, home_in, whole

# What upstream's scripts log in with.
TOKEN = "admin-token"
UNTENDED = "-scheduler,-nodes,-node-ipam,-stages,-process-node"
# Without a field that is kept, a node would have no field manager.
NODE: Object = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}},
    "status": {"capacity": {"memory": "1Gi"}},
}
_RBAC = "rbac.authorization.k8s.io"
# In place of upstream's --authorization-mode=RBAC,AlwaysAllow.
EVERYBODY: Object = {
    "apiVersion": f"{_RBAC}/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "everybody"},
    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [
        {"apiGroup": _RBAC, "kind": "Group", "name": name}
        for name in ("system:authenticated", "system:unauthenticated")
    ],
}


@contextmanager
def started(name: str, folder: Path) -> Iterator[Home]:
    with (_embedded if name == EMBEDDED else _real)(folder) as home, home.api() as api:
        answer = api.post(f"/apis/{_RBAC}/v1/clusterrolebindings", EVERYBODY)
        if answer.code != 201:
            raise ValueError(f"ClusterRoleBinding everybody was refused: {answer.body}")
        yield home


@contextmanager
def _embedded(folder: Path) -> Iterator[Home]:
    folder.mkdir(parents=True, exist_ok=True)
    fleet = folder / "node.yaml"
    fleet.write_text(yaml.safe_dump(NODE), encoding="utf-8")
    admin = Token("admin", digest(TOKEN), ("system:masters",), created=datetime.now(UTC).replace(microsecond=0))
    write_private(folder / "tokens", f"{admin.line}\n".encode())
    arguments = ("--ephemeral", "--fleet", str(fleet), "--controllers", UNTENDED)
    with whole(EMBEDDED, folder, up_arguments=arguments) as home:
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
