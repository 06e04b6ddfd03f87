"""The two homes that tests run in: Mooring's embedded API server, and a real control plane.

Each is a process of its own, reached over TLS with a token, so a test cannot tell them apart by anything but their
answers. `api_only` gives the bare API server; `whole` adds scheduler and controllers, and simulated nodes on request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import yaml

from mooring.apiserver.authentication.token_file import put_token
from mooring.kube.objects import Object
from mooring.net.certificates import Certificates, ensure_certificates
from mooring.testing.controlplane import (
    AUDIT_LOG,
    EVERY_REQUEST,
    EXTRAS,
    LOOPBACK,
    ControlPlane,
    answers,
    write_kubeconfig,
)
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess, free_port

EMBEDDED = "embedded"
REAL = "real"
HOMES = (EMBEDDED, REAL)
READY_SECONDS = 60.0
RUN_ARGUMENTS = ("--controllers", "nodes")
# What 1.35 can do if it is told to, and the embedded cluster does.
GATES = ("MaxUnavailableStatefulSet=true",)


@dataclass(frozen=True)
class Home:
    """A running API server and how its administrator reaches it, and others by the tokens that they have."""

    name: str
    url: str
    token: str
    ca: Path
    kubeconfig: Path
    folder: Path
    tokens: Mapping[str, str] = field(default_factory=dict)

    def audited(self) -> list[Object]:
        """The audit log so far, which bare API servers write, and whole ones that are told to."""
        # The last line may still be on its way.
        lines = (self.folder / AUDIT_LOG).read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def api(self) -> Api:
        return Api(self.url, self.token, self.ca)

    def api_as(self, user: str | None) -> Api:
        """The API as a user sees it who has a token, or as one without, who is None."""
        return Api(self.url, None if user is None else self.tokens[user], self.ca)


Users = Mapping[str, Sequence[str]]


def api_only(name: str, folder: Path, users: Users | None = None) -> AbstractContextManager[Home]:
    """The API server of that home and nothing else: no controller moves what a test looks at.

    `users` may come in too; they are names with their groups. With them, aggregated roles have their rules.
    """
    return (_embedded_api if name == EMBEDDED else _real_api)(folder, users or {})


def whole(
    name: str,
    folder: Path,
    nodes: Sequence[Object] = (),
    *,
    run_arguments: Sequence[str] = RUN_ARGUMENTS,
    host: str = LOOPBACK,
    up_arguments: Sequence[str] = (),
) -> AbstractContextManager[Home]:
    """The home with its scheduler and controllers, and with these Nodes, simulated by Mooring in both.

    Without nodes the embedded one has its small default fleet, and the real one none. `run_arguments` are those of the
    `mooring run` beside the real one, `up_arguments` more of those of `mooring up`. `host` is the address of this
    machine that the API is served at.
    """
    if name == EMBEDDED:
        return _embedded_whole(folder, nodes, host, up_arguments)
    return _real_whole(folder, nodes, run_arguments, host)


@contextmanager
def _embedded_api(folder: Path, users: Users) -> Iterator[Home]:
    folder.mkdir(parents=True, exist_ok=True)
    certificates = ensure_certificates(folder, ("127.0.0.1", "localhost"), now=datetime.now(UTC))
    tokens = folder / "tokens"
    token = put_token(tokens, "kubernetes-admin", ["system:masters"])
    given = {name: put_token(tokens, name, groups) for name, groups in users.items()}
    url = f"https://127.0.0.1:{(port := free_port())}"
    home = Home(EMBEDDED, url, token, certificates.authority, folder / "kubeconfig", folder, given)
    write_kubeconfig(home.kubeconfig, EMBEDDED, home.url, home.ca, token)
    server = ProgramProcess(_api_command(folder, certificates, tokens, port), folder / "apiserver.log")
    try:
        server.wait_until(lambda: answers(f"{home.url}/readyz", home.ca), READY_SECONDS)
        if users:
            _aggregate_roles(home)
        yield home
    finally:
        server.stop()


def _api_command(folder: Path, certificates: Certificates, tokens: Path, port: int) -> list[str | Path]:
    command: list[str | Path] = [sys.executable, "-m", "mooring.apiserver", "--port", str(port), "--tokens", tokens]
    command += ["--certificate", certificates.certificate, "--key", certificates.key]
    command += ["--authority", certificates.authority]
    return [*command, "--data", folder / "data", "--audit-log", folder / AUDIT_LOG]


@contextmanager
def _embedded_whole(folder: Path, nodes: Sequence[Object], host: str, more: Sequence[str]) -> Iterator[Home]:
    folder.mkdir(parents=True, exist_ok=True)
    kubeconfig = folder / "kubeconfig"
    command = [sys.executable, "-m", "mooring", "up", "--data", str(folder), "--bind", f"{host}:{free_port()}"]
    command.append("--no-ui")
    if nodes:
        fleet = folder / "fleet.yaml"
        fleet.write_text(yaml.safe_dump_all([simulated(node) for node in nodes]), encoding="utf-8")
        # These nodes and no others: not this machine either.
        command += ["--fleet", str(fleet), "--controllers", "-process-node"]
    process = ProgramProcess([*command, *more], folder / "up.log")
    try:
        process.wait_until(kubeconfig.exists, READY_SECONDS)
        home = _home_of(kubeconfig, folder)
        process.wait_until(lambda: answers(f"{home.url}/readyz", home.ca), READY_SECONDS)
        yield home
    finally:
        process.stop()


def _home_of(kubeconfig: Path, folder: Path) -> Home:
    """What `mooring up` wrote for its user."""
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    (cluster,), (user,) = config["clusters"], config["users"]
    certificates = Certificates(folder / "tls")
    return Home(
        EMBEDDED, cluster["cluster"]["server"], user["user"]["token"], certificates.authority, kubeconfig, folder
    )


@contextmanager
def _real_api(folder: Path, users: Users) -> Iterator[Home]:
    with ControlPlane(folder, users=users, audit=EVERY_REQUEST) as plane:
        home = home_in(plane)
        if users:
            _aggregate_roles(home)
        yield home


def _aggregate_roles(home: Home) -> None:
    """Give view, edit and admin the rules that a controller would: there is none beside the bare API server."""
    with home.api() as api:
        _aggregate(api)


def _aggregate(api: Api) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    for name in ("view", "edit", "admin"):
        (selector,) = api.get(f"{roles}/{name}").body["aggregationRule"]["clusterRoleSelectors"]
        chosen = ",".join(f"{key}={value}" for key, value in selector["matchLabels"].items())
        parts = api.get(roles, labelSelector=chosen).body["items"]
        rules = [rule for part in parts if part["metadata"]["name"] != name for rule in part.get("rules") or ()]
        answer = api.patch(f"{roles}/{name}", "merge", {"rules": rules})
        if answer.code != 200:
            raise ValueError(f"ClusterRole {name} was refused: {answer.body}")


@contextmanager
def _real_whole(folder: Path, nodes: Sequence[Object], run_arguments: Sequence[str], host: str) -> Iterator[Home]:
    with ControlPlane(folder, EXTRAS, gates=GATES, host=host) as plane:
        home = home_in(plane)
        if not nodes:
            yield home
            return
        with home.api() as api:
            for node in nodes:
                answer = api.post("/api/v1/nodes", simulated(node))
                if answer.code != 201:
                    raise ValueError(f"Node {node['metadata']['name']} was refused: {answer.body}")
        command = [sys.executable, "-m", "mooring", "run", "--no-leader-elect", "--kubeconfig", str(home.kubeconfig)]
        process = ProgramProcess([*command, *run_arguments], folder / "run.log")
        try:
            yield home
        finally:
            process.stop()


def simulated(node: Object) -> Object:
    """The node as one that Mooring's simulated nodes take for theirs."""
    metadata = node["metadata"]
    annotations = {"kwok.x-k8s.io/node": "fake", **metadata.get("annotations", {})}
    return {**node, "metadata": {**metadata, "annotations": annotations}}


def home_in(plane: ControlPlane) -> Home:
    return Home(REAL, plane.url, plane.token, plane.ca, plane.kubeconfig, plane.folder, plane.tokens)
