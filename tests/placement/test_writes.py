"""Every command that is printed, letter for letter, beside the writes that do the same."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.placement.advise import CommandTarget, Edit, commands
from mooring.placement.node_pools import Replicated
from mooring.placement.writes import Commands, all_writes
from mooring.testing import cluster, deployment, node, pod

WEB = CommandTarget("Deployment", "web", "shop", "/spec/template", live=True, api_version="apps/v1")
SELECTING = pod("web", nodeSelector={"gpu": "h10"})
MISSPELT = Edit("pod", "replace", "/spec/nodeSelector/gpu", "h10", "h100")
TOLERATION = {"key": "x", "operator": "Exists"}
TOLERATED = Edit("pod", "tolerate", "/spec/tolerations/-", None, TOLERATION)
SELECTOR = "/spec/template/spec/nodeSelector/gpu"


def _workload(kind: str, api_version: str, **changes: Any) -> CommandTarget:
    written = deployment("web", SELECTING)
    written["spec"]["template"]["spec"].pop("tolerations", None)
    target = msgspec.structs.replace(WEB, kind=kind, api_version=api_version, manifest=written)
    return msgspec.structs.replace(target, **changes)


def _test(path: str, value: Any) -> Object:
    return {"op": "test", "path": path, "value": value}


def _put(path: str, value: Any, op: str = "add") -> Object:
    return {"op": op, "path": path, "value": value}


def _write(verb: str, api_version: str, kind: str, place: str, *body: Object) -> Object:
    namespace, _, name = place.rpartition("/")
    found: Object = {"verb": verb, "apiVersion": api_version, "kind": kind, "name": name}
    return found | ({"namespace": namespace} if namespace else {}) | ({"body": list(body)} if body else {})


def _node_edit(name: str, path: str, before: Any, after: Any) -> Edit:
    return Edit(f"node/{name}", "edit", path, before, after)


TAINT = {"key": "team", "effect": "NoSchedule", "value": "ml"}
RESIDENTS = cluster(node("a"), pod("idle", node="a"), pod("busy", node="a", namespace="ml"))
LABEL = "/metadata/labels/nvidia.com~1gpu"
CORRECTION = [_test(SELECTOR, "h10"), _put(SELECTOR, "h100", "replace")]
CORRECTED = '\'[{"op":"replace","path":"/spec/template/spec/nodeSelector/gpu","value":"h100"}]\''
RENEWED = "kubectl delete pods -n shop --field-selector metadata.name=web-0,status.phase=Pending"
EVICTED = (
    """echo '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}' | """
    "kubectl create --raw /api/v1/namespaces/%s/pods/%s/eviction -f -"
)

CASES: dict[str, tuple[Commands, str, list[Object]]] = {
    "a selector is corrected": (
        commands.patch(_workload("Deployment", "apps/v1"), SELECTING, (MISSPELT,)),
        f"kubectl patch deployment web -n shop --type=json -p {CORRECTED}",
        [_write("patch", "apps/v1", "Deployment", "shop/web", *CORRECTION)],
    ),
    "a list that is not there is added": (
        commands.patch(_workload("DaemonSet", "apps/v1"), SELECTING, (TOLERATED,)),
        "kubectl patch daemonset web -n shop --type=json -p "
        """'[{"op":"add","path":"/spec/template/spec/tolerations","value":[{"key":"x","operator":"Exists"}]}]'""",
        [
            _write(
                "patch",
                "apps/v1",
                "DaemonSet",
                "shop/web",
                _test("/spec/template/spec/tolerations", None),
                _put("/spec/template/spec/tolerations", [TOLERATION]),
            )
        ],
    ),
    "a StatefulSet is renewed": (
        commands.patch(_workload("StatefulSet", "apps/v1", waiting="web-0"), SELECTING, (MISSPELT,)),
        f"kubectl patch statefulset web -n shop --type=json -p {CORRECTED} && {RENEWED}",
        [
            _write("patch", "apps/v1", "StatefulSet", "shop/web", *CORRECTION),
            _write("delete", "v1", "Pod", "shop/web-0"),
        ],
    ),
    "a file is only printed": (
        commands.patch(_workload("Deployment", "apps/v1", live=False, file="my app.yaml"), SELECTING, (MISSPELT,)),
        f"kubectl patch -f 'my app.yaml' --local --type=json -p {CORRECTED} -o yaml",
        [],
    ),
    "a file beside a node is nothing to write": (
        (
            *commands.uncordon(["a"], [_node_edit("a", "/spec/unschedulable", True, False)]),
            *commands.patch(_workload("Deployment", "apps/v1", live=False, file="web.yaml"), SELECTING, (MISSPELT,)),
        ),
        f"kubectl uncordon a && kubectl patch -f web.yaml --local --type=json -p {CORRECTED} -o yaml",
        [],
    ),
    "a workload of an unknown version": (
        commands.patch(_workload("Deployment", ""), SELECTING, (MISSPELT,)),
        f"kubectl patch deployment web -n shop --type=json -p {CORRECTED}",
        [],
    ),
    "fewer replicas": (
        commands.scale(WEB, "replicas", 8, 5),
        "kubectl scale deployment web -n shop --replicas=5",
        [_write("scale", "apps/v1", "Deployment", "shop/web", _test("/spec/replicas", 8), _put("/spec/replicas", 5))],
    ),
    "fewer pods of a Job at a time": (
        commands.scale(_workload("Job", "batch/v1"), "parallelism", 8, 5),
        """kubectl patch job web -n shop --type=merge -p '{"spec":{"parallelism":5}}'""",
        [_write("patch", "batch/v1", "Job", "shop/web", _test("/spec/parallelism", 8), _put("/spec/parallelism", 5))],
    ),
    "a pool of none": (
        commands.raise_pool(Replicated("cluster.x-k8s.io/v1beta2", "MachineDeployment", "fleet", "gpu", 0, 4), 2),
        "kubectl scale machinedeployment gpu -n fleet --replicas=2",
        [_write("scale", "cluster.x-k8s.io/v1beta2", "MachineDeployment", "fleet/gpu", _put("/spec/replicas", 2))],
    ),
    "two nodes are uncordoned": (
        commands.uncordon(
            ["a", "b"],
            [
                _node_edit("a", "/spec/unschedulable", True, False),
                _node_edit("a", "/spec/taints/0", TAINT, None),
                _node_edit("b", "/spec/unschedulable", True, False),
            ],
        ),
        "kubectl uncordon a b",
        [
            _write("patch", "v1", "Node", name, _test("/spec/unschedulable", True), _put("/spec/unschedulable", False))
            for name in ("a", "b")
        ],
    ),
    "a taint is taken away": (
        commands.untaint(["a"], Taint("team", "ml", "NoSchedule"), [_node_edit("a", "/spec/taints/1", TAINT, None)]),
        "kubectl taint nodes a team=ml:NoSchedule-",
        [
            _write(
                "patch",
                "v1",
                "Node",
                "a",
                *(_test(f"/spec/taints/1/{key}", value) for key, value in TAINT.items()),
                {"op": "remove", "path": "/spec/taints/1"},
            )
        ],
    ),
    "a label is added": (
        commands.label(["a"], "nvidia.com/gpu", "h100", [_node_edit("a", LABEL, None, "h100")], overwrite=False),
        "kubectl label node a nvidia.com/gpu=h100",
        [_write("patch", "v1", "Node", "a", _test(LABEL, None), _put(LABEL, "h100"))],
    ),
    "a label is changed": (
        commands.label(["a"], "nvidia.com/gpu", "a b", [_node_edit("a", LABEL, "h10", "a b")], overwrite=True),
        "kubectl label node a 'nvidia.com/gpu=a b' --overwrite",
        [_write("patch", "v1", "Node", "a", _test(LABEL, "h10"), _put(LABEL, "a b"))],
    ),
    "a label is taken away": (
        commands.unlabel(["a"], "nvidia.com/gpu", [_node_edit("a", LABEL, "h10", None)]),
        "kubectl label node a nvidia.com/gpu-",
        [_write("patch", "v1", "Node", "a", _test(LABEL, "h10"), {"op": "remove", "path": LABEL})],
    ),
    "two pods are evicted": (
        commands.evict(RESIDENTS.cluster.pods[key] for key in ("default/idle", "ml/busy")),
        f"{EVICTED % ('idle', 'default', 'default', 'idle')} && {EVICTED % ('busy', 'ml', 'ml', 'busy')}",
        [_write("evict", "v1", "Pod", "default/idle"), _write("evict", "v1", "Pod", "ml/busy")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_what_is_pasted(case: str) -> None:
    found, text, writes = CASES[case]
    assert " && ".join(command.text for command in found) == text
    assert msgspec.json.decode(msgspec.json.encode(all_writes(found))) == writes
