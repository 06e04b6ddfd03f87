"""The pods of DaemonSets that do not exist yet, on drawn nodes, and what is said of the nodes and of what is wrong."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Node
from mooring.builtin.apps.daemonset.expansion import expand_daemon_set, select_nodes
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import WorkloadError
from mooring.placement.workloads.known_cluster import KnownCluster
from mooring.testing import node
from mooring.testing.builders import toleration
from mooring.testing.workloads import daemon_set, template
from tests.support.traces.draws import chosen
from tests.support.traces.golden import agrees

TAINTS = (
    "special=yes:NoSchedule",
    "special=no:NoExecute",
    "node.kubernetes.io/unreachable:NoExecute",
    "soft:PreferNoSchedule",
)


def nodes(draw: Random) -> list[Node]:
    found = []
    for number in range(draw.randrange(4)):
        taints = [each for each in TAINTS if draw.random() < 0.2]
        labels = chosen(draw, 0.7, disk=["ssd", "hdd", "sdd"])
        found.append(msgspec.convert(node(f"n{number}", labels=labels, taints=taints), Node))
    return found


def drawn(draw: Random) -> Object:
    more: dict[str, Any] = chosen(draw, 0.4, nodeSelector=[{"disk": "ssd"}, {"disk": "nvme"}], nodeName=["n1", "n7"])
    if draw.random() < 0.3:
        expression = {"key": "kubernetes.io/hostname", "operator": draw.choice(["In", "NotIn"]), "values": ["n1"]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        more["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    more["tolerations"] = [toleration(each) for each in TAINTS if draw.random() < 0.3]
    made = daemon_set("agent", pods=template("agent", **more))
    made["metadata"] |= chosen(draw, 0.3, namespace="ops", uid="00000000-0000-0000-0000-0000000000ff")
    if draw.random() < 0.2:
        made["spec"]["selector"] = draw.choice([{"matchLabels": {"app": "other"}}, None, {}])
    return made


BROKEN: tuple[Object, ...] = (
    {},
    {"metadata": {"name": "agent"}},
    {"metadata": {"name": "agent"}, "spec": {"template": {"spec": None}}},
    {"metadata": {"name": "agent"}, "spec": {"template": {"spec": [], "metadata": {}}}},
    {"metadata": {"name": "agent"}, "spec": {"template": {"spec": {}, "metadata": "x"}}},
    {"metadata": None, "spec": None},
)


def told(value: Object, cluster: KnownCluster) -> str:
    lines = []
    for ask in (expand_daemon_set, select_nodes):
        try:
            found = ask(value, "default", cluster)
            lines += [
                f"{name} {json.dumps(part, default=str, sort_keys=True)}" for name, part in found._asdict().items()
            ]
        except (WorkloadError, msgspec.ValidationError) as error:
            lines.append(f"{type(error).__name__} {error} {getattr(error, 'path', '')}")
    return "".join(f"{line}\n" for line in lines)


def cluster_of(there: list[Node], taken: set[str]) -> KnownCluster:
    return KnownCluster(taken=taken, nodes=lambda: there)


def test_drawn_sets_have_the_pods_that_they_had() -> None:
    story = []
    for number in range(40):
        draw = Random(f"expansion {number}")
        there = nodes(draw)
        taken = {"default/agent-n0", "ops/agent-n1", "ops/agent-n1-1"} if draw.random() < 0.5 else set()
        story.append(f"{number}\n{told(drawn(draw), cluster_of(there, taken))}")
    agrees("daemon-sets", "expansion", "".join(story))


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_what_is_wrong_is_told_as_it_was(number: int) -> None:
    agrees("daemon-sets", f"broken {number}", told(BROKEN[number], KnownCluster()))
