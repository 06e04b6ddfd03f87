"""Commands drawn from a seed over small clusters, and fleets with something wrong in them: what is said about each."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.manifests import ManifestError
from mooring.supervisor.fleet.manifest import Fleet, check_fleet
from mooring.supervisor.fleet.rights import fleet_rules
from tests.cli.world import World, requests
from tests.support.recordings import Draw

NOW = datetime(2026, 1, 1, tzinfo=UTC)
# Of the clock, for one command on a machine that others use too.
MAX_SECONDS = 60
_TAINTS = ("", "", "gpu=yes:NoSchedule", "old:NoExecute", "slow:PreferNoSchedule")
_RESOURCES: tuple[Object, ...] = (
    {},
    requests(cpu=2),
    requests(cpu="500m", memory="1Gi"),
    requests(gpu=1, cpu=4),
    requests(gpu=8),
    requests(cpu=900),
    {"requests": {"cpu": "3", "memory": "2Gi"}},
)


def drawn_world(draw: Draw, folder: Path) -> World:
    world = World(folder)
    for number in range(1 + draw.below(5)):
        labels = {"zone": draw.one(("a", "b")), "disk": draw.one(("ssd", "hdd"))}
        kept = {name: labels[name] for name in draw.some(tuple(labels), 0.7)}
        gpu = draw.one((0, 0, 4, 8))
        world.node(f"n{number}", gpu=gpu, taint=draw.one(_TAINTS), cordoned=draw.chance(0.15), **kept)
    for number in range(draw.below(6)):
        on = f"n{draw.below(len(world.objects)) if number == 0 else 0}"
        spec: Object = {"priority": draw.one((0, 100))} if draw.chance(0.5) else {}
        world.running(f"run-{number}", on, resources=draw.one(_RESOURCES[:5]), **spec)
    for number in range(1 + draw.below(3)):
        world.add(World.pod(f"wait-{number}", resources=draw.one(_RESOURCES), **_wishes(draw, (50, 1000))))
    return world


def _wishes(draw: Draw, priorities: Sequence[int] = ()) -> Object:
    spec: Object = {}
    if draw.chance(0.35):
        spec["nodeSelector"] = draw.one(
            ({"disk": "sdd"}, {"topology.kubernetes.io/zone": "a"}, {"kubernetes.io/hostname": "n9"})
        )
    if draw.chance(0.3):
        spec["tolerations"] = [
            draw.one(({"operator": "Exists"}, {"key": "gpu", "value": "yes", "effect": "NoSchedule"}))
        ]
    if priorities and draw.chance(0.4):
        spec["priority"] = draw.one(priorities)
    if draw.chance(0.15):
        constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**constraint, "labelSelector": {"matchLabels": {"app": "web"}}}]
    if draw.chance(0.15):
        term = {"labelSelector": {"matchLabels": {"app": "run-0"}}, "topologyKey": "kubernetes.io/hostname"}
        kind = draw.one(("podAffinity", "podAntiAffinity"))
        spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return spec


def _workload(draw: Draw, world: World, name: str) -> Object:
    kind = draw.one(("Pod", "Deployment", "StatefulSet", "Job", "DaemonSet"))
    if kind == "Pod":
        return World.pod(name, resources=draw.one(_RESOURCES), **_wishes(draw))
    more: Object = {"completions": 3, "parallelism": 2} if kind == "Job" else {"replicas": draw.one((0, 1, 3, 9))}
    more = {} if kind == "DaemonSet" else more
    return world.workload(kind, name, draw.one(_RESOURCES), pod=_wishes(draw), **more)


def _asked(draw: Draw, world: World) -> list[str]:
    """One command with its arguments, for a world whose files are there."""
    form = draw.one((["-o", "json"], ["-o", "yaml"], [], [], [], ["-o", "xml"]) if draw.chance(0.5) else ([],))
    more: list[str] = []
    if draw.chance(0.5):
        more += draw.one(
            (["--all-nodes"], ["--limit", "1"], ["--limit", "0"], ["-n", "shop"], ["-A"], ["--limit", "x"])
        )
    match draw.below(5):
        case 0 | 1:
            target = draw.one(
                ("pod/wait-0", "pod/wait-0", "pod/run-0", "node/n0", "pod/wiat-0", "deployment/x", "pod", "node/n7")
            )
            return ["explain", target, *form, *more]
        case 2 | 3:
            return ["explain", "-f", "new.yaml", *form, *more]
    horizon = draw.one(([], ["--horizon", "5m"], ["--horizon", "soon"]))
    return ["plan", "-f", "new.yaml", *form, *horizon]


def said(arguments: Sequence[str], width: int = 0) -> list[Any]:
    """The exit code and what was written; with a width, as on a terminal that wide."""
    environment = {"COLUMNS": str(width or 100), "TERM": "xterm-256color", "NO_COLOR": None, "KUBECONFIG": "/dev/null"}
    # Whoever runs this in a pod has a cluster.
    runner = CliRunner(env={**environment, "HOME": str(Path.cwd()), "KUBERNETES_SERVICE_HOST": None})
    with patch("mooring.cli.render.screen.is_terminal", lambda: width > 0), _soon_done(arguments):
        done = runner.invoke(cli, list(arguments), color=width > 0)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return [done.exit_code, _steady(done.stdout), _steady(done.stderr)]


@contextmanager
def _soon_done(arguments: Sequence[str]) -> Iterator[None]:
    """What ought to be refused at once may go on for ever when it is not; and nothing listens to signals after it."""

    def late(*_: object) -> None:
        raise TimeoutError(f"{' '.join(arguments)} goes on and on")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(MAX_SECONDS)
    try:
        with patch("mooring.supervisor.supervisor.Signals"):
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _steady(text: str) -> str:
    """Without what changes from one time or machine to the next."""
    return re.sub(r"\b\d+(\.\d+)? ?(ms|s)\b(?= on this machine)", "TIME", text)


def commands(folder: Path, count: int) -> Iterator[list[Any]]:
    """The arguments and what is said. The folder becomes the current one for as long as it takes."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        for number in range(count):
            draw = Draw(f"command {number}")
            world = drawn_world(draw, folder)
            world.snapshot()
            new = [_workload(draw, world, name) for name in ("new", "more")[: 1 + draw.chance(0.2)]]
            world.manifest(*new, name="new.yaml")
            for _ in range(3):
                asked = [*_asked(draw, world), "--snapshot", "cluster.yaml"]
                yield [number, asked, said(asked, draw.one((0, 0, 60, 120)))]
    finally:
        os.chdir(before)


# Fleets

FLEET = """\
apiVersion: v1
kind: Namespace
metadata:
  name: team
---
apiVersion: v1
kind: Node
metadata:
  name: gpu
  annotations:
    kwok.x-k8s.io/node: fake
    mooring.dev/replicas: "2"
  labels:
    pool: gpu
    kubernetes.io/hostname: gpu
spec:
  podCIDR: 10.1.0.0/24
  taints:
  - key: nvidia.com/gpu
    effect: NoSchedule
status:
  addresses:
  - {type: InternalIP, address: 10.0.0.254}
  - {type: Hostname, address: gpu}
  capacity:
    cpu: "8"
    memory: 32Gi
---
apiVersion: v1
kind: Node
metadata:
  name: plain
  uid: 3f
  resourceVersion: "7"
spec:
  unschedulable: true
status:
  allocatable:
    cpu: 4
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
value: 1000
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: team
data:
  a: b
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [get]
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: slow
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .status.phase, operator: In, values: [Pending]}
  next:
    statusTemplate: |
      phase: {{ .status.phase }}
"""
_VALUES = ("7", '"x"', "[]", "{}", "null", "-1", "Upper_Case", '"0"', "true", "1e3", '"20001"', '"{{ nope }}"')


def drawn_fleet(draw: Draw) -> str:
    """The fleet with one or two of its lines changed."""
    lines = FLEET.splitlines()
    for _ in range(draw.one((0, 1, 1, 1, 2))):
        place = draw.below(len(lines))
        match draw.below(6):
            case 0:
                del lines[place]
            case 1:
                lines.insert(place, lines[place])
            case 2:
                lines[place] = lines[place].replace(":", "x:", 1)
            case 3:
                lines[place] = f"  {lines[place]}"
            case _:
                head, colon, _ = lines[place].partition(": ")
                lines[place] = f"{head}{colon}{draw.one(_VALUES)}" if colon else lines[place].rstrip(":") + ": 3"
    return "\n".join(lines) + "\n"


def fleets(folder: Path, count: int) -> Iterator[list[Any]]:
    path = folder / "fleet.yaml"
    for number in range(count):
        text = drawn_fleet(Draw(f"fleet {number}"))
        path.write_text(text, encoding="utf-8")
        told: Any
        try:
            told = _told(check_fleet(path, NOW))
        except ManifestError as error:
            told = str(error).replace(f"{folder}/", "")
        yield [number, told]


def _told(fleet: Fleet) -> Any:
    return [
        fleet.nodes,
        fleet.unattended,
        [each for each in fleet.objects if each["kind"] == "Node"],
        fleet_rules(fleet.objects),
    ]
