"""What `mooring doctor` finds in pools and hosts: a case for each thing that goes wrong, and none where all is well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from mooring.features.autoscaler.pool_report import REPORT
from mooring.kube.objects import Object
from mooring.testing.hosts import byo_host, byo_machine_template
from mooring.testing.scaled_pools import scaled_pool

TEMPLATES = [byo_machine_template(f"{each}-template", {"purpose": each}) for each in ("worker", "gpu")]


def host(name: str, purpose: str = "worker", *, heard: bool = True, claimed_by: str = "", **parts: Any) -> Object:
    labels = {"purpose": purpose, **({"gpu": "true"} if parts.get("gpu") else {}), **parts.pop("labels", {})}
    made = byo_host(name, labels=labels, **parts)
    made["status"] = {"conditions": [{"type": "HostHealthy", "status": "True" if heard else "False"}]}
    if claimed_by:
        made["status"]["machineRef"] = {"kind": "ByoMachine", "name": f"{claimed_by}-x", "namespace": "default"}
    return made


def pool(purpose: str = "worker", replicas: int = 0, *, ready: int = 0, most: int | str = 1, **parts: Any) -> Object:
    made = scaled_pool(purpose, replicas, most=most, **parts)
    made["status"] = {"readyReplicas": ready}
    return made


def claim(name: str) -> Object:
    metadata = {"name": f"{name}-x", "namespace": "default", "labels": {"cluster.x-k8s.io/deployment-name": name}}
    return {**byo_machine_template(name), "kind": "ByoMachine", "metadata": metadata, "spec": {}}


def found(objects: Iterable[Object]) -> list[tuple[str, str]]:
    """Problems and commands."""
    world: dict[str, list[Any]] = {
        kind: [msgspec.convert(each, view) for each in objects if each["kind"] == kind]
        for (_, kind), view in REPORT.views.items()
    }
    return [(each.problem, each.command) for each in REPORT.diagnose(world, {})]


def without_label(made: Object) -> Object:
    made["metadata"]["labels"] = {}
    return made


def annotated(made: Object, **bounds: str) -> Object:
    made["metadata"]["annotations"] = {
        f"cluster.x-k8s.io/{key.replace('_', '-')}": text for key, text in bounds.items()
    }
    return made


ANNOTATE = "kubectl annotate machinedeployment worker-pool -n default --overwrite"
BOUND = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
CASES: dict[str, tuple[list[Object], str, str]] = {
    "replicas grow but no node comes": (
        [pool(replicas=2, ready=1, most=1), host("a", claimed_by="worker-pool"), *TEMPLATES],
        "2 are wanted and 1 are ready: none of the 1 hosts that match is free; label another host, or scale down",
        "kubectl scale machinedeployment worker-pool -n default --replicas=1",
    ),
    "the selector matches nothing, because a label is misspelt": (
        [pool(), host("a", "wroker"), *TEMPLATES],
        "no host matches purpose=worker of worker-template; the nearest label is purpose=wroker on a",
        "kubectl label byohost HOST -n default purpose=worker --overwrite",
    ),
    "the template is missing": (
        [pool(), host("a")],
        "there is no ByoMachineTemplate worker-template, so it gets no nodes",
        "kubectl get byomachinetemplate -n default",
    ),
    "a host of another purpose was chosen": (
        [pool(replicas=1, ready=1), host("g", "gpu", gpu=1, claimed_by="worker-pool"), host("a"), claim("worker-pool"),
         *TEMPLATES],
        "it has host g, which worker-template does not match any more",
        "kubectl delete machine worker-pool-x -n default",
    ),
    "a template without a selector": (
        [pool(), host("a"), byo_machine_template("worker-template")],
        "worker-template has no selector, so the pool takes any host, also one with GPUs",
        "kubectl patch byomachinetemplate worker-template -n default --type merge -p "
        """'{"spec":{"template":{"spec":{"selector":{"matchLabels":{"purpose":"PURPOSE"}}}}}}'""",
    ),
    "a GPU host without a GPU label": (
        [host("g", gpu=1, labels={"gpu": "no"})],
        "it has 1 GPUs and no label gpu=true",
        "kubectl label byohost g -n default gpu=true --overwrite",
    ),
    "a GPU label without GPUs": (
        [host("a", labels={"gpu": "true"})],
        "it has the label gpu=true and no GPUs",
        "kubectl label byohost a -n default gpu-",
    ),
    "a maximum above the hosts": (
        [pool(most=5), host("a"), *TEMPLATES],
        "its maximum is 5, and 1 host matches",
        f"{ANNOTATE} {BOUND}max-size=1",
    ),
    "two pools for one host": (
        [pool(), pool("gpu"), host("a"), TEMPLATES[0], byo_machine_template("gpu-template", {"purpose": "worker"})],
        "gpu-pool and worker-pool both match a; whoever asks first has it",
        "kubectl edit byomachinetemplate gpu-template -n default",
    ),
    "a silent host": (
        [host("a", heard=False)],
        "nothing is heard of its agent, so it is not claimed; start `mooring agent` on it",
        "kubectl describe byohost a -n default",
    ),
    "an annotation that nobody reads": (
        [annotated(pool(), cluster_autoscaler_max_size="3"), host("a"), *TEMPLATES],
        f"nobody reads the annotation cluster.x-k8s.io/cluster-autoscaler-max-size; it is {BOUND}max-size",
        f"{ANNOTATE} cluster.x-k8s.io/cluster-autoscaler-max-size- {BOUND}max-size=3",
    ),
    "bounds that cannot be read": (
        [pool(most="many"), host("a"), *TEMPLATES],
        'it is not scaled: error validating min/max annotations: invalid max annotation: strconv.Atoi: parsing "many": '
        "invalid syntax",
        f"{ANNOTATE} {BOUND}min-size=0 {BOUND}max-size=1",
    ),
    "bounds without the label of discovery": (
        [without_label(pool()), host("a"), *TEMPLATES],
        "it has bounds, and no label by which an autoscaler finds it",
        "kubectl label machinedeployment worker-pool -n default cluster-autoscaler-enabled=true",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_finds(name: str) -> None:
    objects, problem, command = CASES[name]
    assert found(objects) == [(problem, command)]


def test_it_finds_nothing_where_all_is_well() -> None:
    pools = [pool(replicas=1, ready=1), pool("gpu", 1, ready=1)]
    assert found([*pools, host("a"), host("g", "gpu", gpu=1), *TEMPLATES]) == []
