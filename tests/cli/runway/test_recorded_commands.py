"""What the commands of runway say and write in clusters of several kinds, whatever they are asked and refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from mooring.apiserver.health import VERSION_SUFFIX
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, NotFoundError, UnauthorizedError
from mooring.runway.providers.registry import PROVIDERS, deployment_manifests, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS
from mooring.testing.builders import node, pod
from mooring.testing.installations import helm_chart, installation
from tests.cli.drawn_commands import said
from tests.cli.runway.cluster import Cluster, reached
from tests.runway.clusters import gpu_node, not_ready
from tests.support.golden import same_as_recorded

_UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _running(made: Object, *, ready: bool) -> Object:
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {**made, "status": {"phase": "Running", "conditions": [condition]}}


def _waiting(made: Object) -> Object:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {**made, "status": {"phase": "Pending", "conditions": [condition]}}


def _deployed(name: str, model: str, **fields: object) -> list[Object]:
    config = read_deployment({"name": name, "modelId": model, **fields}, embedded=True).config
    return deployment_manifests(config, DEFAULT_SETTINGS)


def _labelled(made: Object, **labels: str) -> Object:
    return {**made, "metadata": {**made["metadata"], "labels": labels}}


def _answering(made: Object) -> Object:
    (container,) = made["spec"]["containers"]
    ports = [{"name": "http", "containerPort": 8000}]
    return {**made, "spec": {**made["spec"], "containers": [{**container, "ports": ports}]}}


def _gone(name: str) -> Object:
    made = not_ready(gpu_node(name))
    return {**made, "spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}}


def busy() -> Cluster:
    """Nodes with GPUs, a model that answers, one that waits, one of several nodes, and installations under way."""
    found = Cluster(version=f"v1.34.1{VERSION_SUFFIX}")
    found.add(gpu_node("h-1"), gpu_node("h-2", pool="b"), _gone("h-3"), node("cpu"))
    found.add(*_deployed("phi", "phi-4"), *_deployed("big", "deepseek-r1-0528", nodes=2, resources={"gpu": 8}))
    found.add(*_deployed("late", "llama-3.1-8b-instruct"))
    owner = {"kaito.sh/workspace": "phi"}
    found.add(
        _running(_answering(_labelled(pod("phi-0", gpu=1, node="h-1"), **owner)), ready=True),
        _running(_answering(_labelled(pod("phi-1", gpu=1, node="h-2"), **owner)), ready=True),
        _waiting(_labelled(pod("late-0", gpu=8), **{"kaito.sh/workspace": "late"})),
    )
    status = {"phase": "Installed", "message": "KAITO is installed", "conditions": []}
    release = {"name": "kaito-workspace", "namespace": "n", "revision": 3, "status": "deployed", "version": "0.8.0"}
    found.add({**installation("kaito", helm_chart()), "status": {**status, "releases": [release]}})
    found.add({**installation("other", helm_chart("x")), "status": {"phase": "Failed", "message": "no such chart"}})
    found.add(installation("third", helm_chart("y")))
    return found


def bare() -> Cluster:
    """No kinds of Mooring, and one node."""
    found = Cluster(kinds=False)
    found.add(gpu_node("h-1"))
    return found


def empty() -> Cluster:
    found = Cluster()
    found.add(node("cpu", labels={"kubernetes.io/os": "linux"}), gpu_node("h-1"))
    return found


def refusing(verb: str, kind: str, error: type[ForbiddenError | UnauthorizedError | NotFoundError]) -> Cluster:
    found = busy()
    found.refused[verb, kind] = error(f"{verb} of {kind} is refused")
    return found


FORMS: Final = ((), ("-o", "json"), ("-o", "yaml"))
READING: Final[tuple[tuple[str, ...], ...]] = (
    *(("deployments", *form) for form in FORMS),
    *(("deployments", "show", name, *form) for name in ("phi", "big", "late") for form in FORMS),
    *(("deployments", "metrics", name, *form) for name in ("phi", "late") for form in FORMS),
    *(("deployments", verb, "none") for verb in ("show", "logs", "metrics", "delete")),
    ("deployments", "show", "phi", "-n", "team"),
    ("deployments", "-n", "team"),
    ("deployments", "logs", "phi"),
    ("deployments", "logs", "phi", "--pod", "phi-1", "-c", "main", "--tail", "3", "--timestamps"),
    ("deployments", "logs", "phi", "--pod", "phi-7"),
    ("deployments", "logs", "late"),
    *(("providers", *form) for form in FORMS),
    ("providers", "--kaito-version", "0.6.0"),
    *(("capacity", *form) for form in FORMS),
    *(("installations", *form) for form in FORMS),
    *(("install", "kaito", "--dry-run", *form) for form in FORMS),
    ("install", "gpu-operator", "--dry-run", "--version", "v25.3.0"),
    ("install", "kaito", "--dry-run", "--version", "0.6.0", "--kaito-version", "0.7.0"),
    ("install", "mooring"),
    ("install", "kaito", "--rollback", "1", "--cancel"),
    ("uninstall", "kaito", "--crds", "--no-wait"),
    ("uninstall", "gpu-operator", "--crds"),
    *(("deploy", "phi-4", "--name", "new", "--dry-run", *form) for form in FORMS),
    ("deploy", "llama-3.3-70b-instruct", "--dry-run"),
    ("deploy", "deepseek-r1-0528", "--dry-run"),
    ("deploy", "phi-4", "--dry-run", "--wait"),
)
WRITING: Final[tuple[tuple[str, ...], ...]] = (
    *(("deploy", "phi-4", "--name", "new", *form) for form in FORMS),
    ("deploy", "phi-4", "--name", "phi"),
    ("deploy", "phi-4", "--name", "new", "-n", "team"),
    ("deploy", "deepseek-r1-0528", "--name", "new", "--wait", "--timeout", "0s"),
    ("deploy", "phi-4", "--name", "new", "--provider", "kaito"),
    ("deploy", "phi-4", "--name", "new", "-l", "pool=none"),
    ("deployments", "delete", "phi"),
    ("deployments", "delete", "big", "-n", "default"),
    *(("install", "kaito", "--no-wait", *form) for form in FORMS),
    ("install", "kaito", "--no-wait", "--version", "0.7.0"),
    ("install", "gpu-operator", "--no-wait"),
    ("install", "kaito", "--no-wait", "--rollback", "2"),
    ("install", "kaito", "--no-wait", "--cancel"),
    ("install", "gpu-operator", "--no-wait", "--cancel"),
    ("uninstall", "kaito", "--no-wait"),
    ("uninstall", "gpu-operator", "--no-wait"),
    ("uninstall", "gpu-operator"),
)
REFUSED: Final = (
    ("list", "Workspace", ForbiddenError, ("deployments",)),
    ("list", "Pod", ForbiddenError, ("deployments", "show", "phi")),
    ("list", "Node", ForbiddenError, ("capacity",)),
    ("list", "*", UnauthorizedError, ("capacity",)),
    ("version", "", UnauthorizedError, ("providers",)),
    ("log", "Pod", ForbiddenError, ("deployments", "logs", "phi")),
    ("proxied", "Pod", ForbiddenError, ("deployments", "metrics", "phi")),
    ("create", "Workspace", ForbiddenError, ("deploy", "phi-4", "--name", "new")),
    ("create", "Service", ForbiddenError, ("deploy", "phi-4", "--name", "new")),
    ("create", "Workspace", NotFoundError, ("deploy", "phi-4", "--name", "new")),
    ("create", "LeaderWorkerSet", NotFoundError, ("deploy", "deepseek-r1-0528", "--name", "new")),
    ("delete", "Workspace", ForbiddenError, ("deployments", "delete", "phi")),
    ("list", "Installation", ForbiddenError, ("installations",)),
    ("patch", "Installation", ForbiddenError, ("install", "kaito", "--no-wait")),
    ("create", "Installation", ForbiddenError, ("install", "gpu-operator", "--no-wait")),
    ("delete", "Installation", ForbiddenError, ("uninstall", "kaito")),
)


def told(make: Callable[[], Cluster], cluster: Cluster | None, line: tuple[str, ...], width: int) -> str:
    found = cluster or make()
    found.writes.clear()
    closed = found.closed
    with reached(found) as connected:
        code, out, err = said(line, width)
    assert found.closed - closed == len(connected), f"{line}: a connection that was made is closed, once"
    parts = [f"{code} {connected}", *found.writes, "", out, err]
    return _UID.sub("UID", "\n".join(parts))


def test_commands_say_and_write_what_they_did() -> None:
    assert PROVIDERS.keys() == {"mooring", "kaito"}, "another provider needs lines of its own"
    found: dict[str, str] = {}
    for make in (busy, bare, empty):
        # Reading changes nothing, so one cluster is enough for all lines.
        cluster = make()
        for number, line in enumerate(READING):
            width = 100 if number % 3 == 1 else 0
            found[f"{make.__name__}: {' '.join(line)}"] = told(make, cluster, line, width)
            assert not cluster.writes, line
        for line in WRITING:
            found[f"{make.__name__}: {' '.join(line)}"] = told(make, None, line, 0)
    for verb, kind, error, line in REFUSED:
        case = f"{error.__name__} at {verb} {kind}: {' '.join(line)}"
        found[case] = told(partial(refusing, verb, kind, error), None, line, 0)
    same_as_recorded("cli-runway", found)
