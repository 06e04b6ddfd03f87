"""Every command with the requests that do the same, for objects of every kind and origin, word by word."""

from __future__ import annotations

import pytest

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.placement.advise import CommandTarget, Edit, commands
from mooring.placement.node_pools import Replicated
from mooring.placement.writes import Commands, Write, WriteVerb
from mooring.testing import cluster, pod

TEMPLATE = "/spec/template"
REPLACED = '[{"op":"replace","path":"/spec/template/spec/nodeName","value":"b"}]'
RENAMED = Edit("pod", "replace", "/spec/nodeName", "a", "b")
ADDED = Edit("pod", "tolerate", "/spec/tolerations/-", None, {"key": "x"})


def target(kind: str = "Deployment", namespace: str = "ml", **more: object) -> CommandTarget:
    manifest: Object = {"kind": kind, "spec": {"template": {"spec": {"nodeName": "a"}}}}
    given: Object = {"pod_path": TEMPLATE, "live": True, "manifest": manifest, "api_version": "apps/v1", **more}
    return CommandTarget(kind, "web", namespace, **given)


def said(made: Commands) -> list[tuple[str, tuple[Write, ...]]]:
    return [(command.text, command.writes) for command in made]


def patches(kind: str, namespace: str, *body: Object, verb: WriteVerb = "patch") -> tuple[Write, ...]:
    return (Write(verb, "apps/v1", kind, "web", namespace, body),)


TESTED: tuple[Object, ...] = (
    {"op": "test", "path": "/spec/template/spec/nodeName", "value": "a"},
    {"op": "replace", "path": "/spec/template/spec/nodeName", "value": "b"},
)


def test_a_workload_that_is_there_is_patched_where_its_pods_are_renewed() -> None:
    text = f"kubectl patch deployment web -n ml --type=json -p '{REPLACED}'"
    assert said(commands.patch(target(), {}, (RENAMED,))) == [(text, patches("Deployment", "ml", *TESTED))]
    # Of an object without a version nothing can be written by programs.
    assert said(commands.patch(target(api_version=""), {}, (RENAMED,))) == [(text, ())]
    text = text.replace("-n ml", "-n default")
    assert said(commands.patch(target(namespace=""), {}, (RENAMED,))) == [
        (text, patches("Deployment", "default", *TESTED))
    ]
    for kind in ("Job", "ReplicaSet", "ReplicationController"):
        assert commands.patch(target(kind), {}, (RENAMED,)) == ()
    assert commands.patch(target(live=False), {}, (RENAMED,)) == ()
    assert commands.patch(None, {}, (RENAMED,)) == ()


@pytest.mark.parametrize("namespace", ["ml", ""])
def test_of_a_statefulset_the_pod_that_waits_is_deleted_too(namespace: str) -> None:
    home = namespace or "default"
    assert said(commands.patch(target("StatefulSet", namespace, waiting="web-3"), {}, (RENAMED,))) == [
        (
            f"kubectl patch statefulset web -n {home} --type=json -p '{REPLACED}'",
            patches("StatefulSet", home, *TESTED),
        ),
        (
            f"kubectl delete pods -n {home} --field-selector metadata.name=web-3,status.phase=Pending",
            (Write("delete", "v1", "Pod", "web-3", home),),
        ),
    ]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job", "Pod"])
def test_a_manifest_is_printed_and_nothing_is_written(kind: str) -> None:
    made = commands.patch(target(kind, file="web.yaml", live=False), {}, (RENAMED,))
    assert said(made) == [(f"kubectl patch -f web.yaml --local --type=json -p '{REPLACED}' -o yaml", ())]


def test_of_a_pod_that_is_there_only_tolerations_and_gates_can_be_patched() -> None:
    alone = target("Pod", pod_path="", manifest={"spec": {"tolerations": []}}, api_version="v1")
    gates = Edit("pod", "drop", "/spec/schedulingGates", None, None)
    assert [command.arguments[:3] for command in commands.patch(alone, {}, (ADDED,))] == [("patch", "pod", "web")]
    assert commands.patch(alone, {}, (ADDED, RENAMED)) == ()
    assert commands.patch(alone, {}, (RENAMED,)) == ()
    with_gates = target("Pod", pod_path="", manifest={"spec": {"schedulingGates": []}}, api_version="v1")
    assert commands.patch(with_gates, {}, (gates,)) != ()


def test_a_request_that_nobody_wrote_follows_its_limit() -> None:
    limits = {"nvidia.com/gpu": "4"}
    asked = {"spec": {"containers": [{"resources": {"limits": limits}}]}}
    edits = tuple(
        Edit("pod", "lower", f"/spec/containers/0/resources/{field}/nvidia.com~1gpu", "4", "2")
        for field in ("requests", "limits")
    )
    path = "/spec/containers/0/resources/limits/nvidia.com~1gpu"
    alone = target("Pod", pod_path="", manifest=asked, file="p.yaml", live=False)
    (command,) = commands.patch(alone, {}, edits)
    assert command.arguments[5] == "-p"
    assert command.arguments[6] == f'[{{"op":"replace","path":"{path}","value":"2"}}]'
    # A request alone is what somebody meant.
    (command,) = commands.patch(alone, {}, edits[:1])
    assert '"path":"/spec/containers/0/resources/requests"' in command.arguments[6]


def test_templates_of_one_workload_are_patched_together() -> None:
    manifest: Object = {"spec": {"leader": {"spec": {"nodeName": "a"}}, "worker": {"spec": {"nodeName": "a"}}}}
    other = Edit("pod/spec.worker", "replace", "/spec/nodeName", "a", "c")
    workload = target("Set", pod_path="/spec/leader", manifest=manifest, file="s.yaml", live=False)
    (command,) = commands.patch(workload, {}, (RENAMED, other))
    paths = [f'{{"op":"replace","path":"/spec/{name}/spec/nodeName"' for name in ("leader", "worker")]
    assert command.arguments[6] == f'[{paths[0]},"value":"b"}},{paths[1]},"value":"c"}}]'


@pytest.mark.parametrize(("before", "tests"), [(4, 1), (0, 0)])
def test_a_workload_is_scaled_by_its_field(before: int, tests: int) -> None:
    asked: list[Object] = [{"op": "test", "path": "/spec/replicas", "value": 4}][:tests]
    body = (*asked, {"op": "add", "path": "/spec/replicas", "value": 2})
    assert said(commands.scale(target(), "replicas", before, 2)) == [
        ("kubectl scale deployment web -n ml --replicas=2", patches("Deployment", "ml", *body, verb="scale"))
    ]
    body = tuple({**each, "path": "/spec/parallelism"} for each in body)
    assert said(commands.scale(target("Job"), "parallelism", before, 2)) == [
        (
            """kubectl patch job web -n ml --type=merge -p '{"spec":{"parallelism":2}}'""",
            patches("Job", "ml", *body),
        )
    ]
    assert said(commands.scale(target(file="web.yaml", live=False), "replicas", before, 2)) == [
        ("""kubectl patch -f web.yaml --local --type=merge -p '{"spec":{"replicas":2}}' -o yaml""", ())
    ]
    assert commands.scale(target(live=False), "replicas", before, 2) == ()


def test_a_pool_is_scaled_in_its_own_version() -> None:
    pool = Replicated("cluster.x-k8s.io/v1beta2", "MachineDeployment", "infra", "gpu", 1, 5)
    body = (
        {"op": "test", "path": "/spec/replicas", "value": 1},
        {"op": "add", "path": "/spec/replicas", "value": 3},
    )
    write = Write("scale", "cluster.x-k8s.io/v1beta2", "MachineDeployment", "gpu", "infra", body)
    assert said(commands.raise_pool(pool, 3)) == [
        ("kubectl scale machinedeployment gpu -n infra --replicas=3", (write,))
    ]


def node_edit(name: str, path: str, before: object, after: object) -> Edit:
    return Edit(f"node/{name}", "edit", path, before, after)


def on_node(name: str, *body: Object) -> Write:
    return Write("patch", "v1", "Node", name, body=body)


def test_nodes_are_changed_together_by_one_command_and_each_by_a_request() -> None:
    taint: Object = {"key": "x", "effect": "NoSchedule", "value": "1"}
    opened = [
        node_edit("a", "/spec/unschedulable", True, False),
        node_edit("a", "/spec/taints/0", taint, None),
        node_edit("b", "/spec/unschedulable", True, False),
    ]
    cordon: tuple[Object, ...] = (
        {"op": "test", "path": "/spec/unschedulable", "value": True},
        {"op": "add", "path": "/spec/unschedulable", "value": False},
    )
    assert said(commands.uncordon(["a", "b"], opened)) == [
        ("kubectl uncordon a b", (on_node("a", *cordon), on_node("b", *cordon)))
    ]
    # Field by field: the taint may have more of them by now, such as when it was added.
    fields = ({"op": "test", "path": f"/spec/taints/0/{field}", "value": value} for field, value in taint.items())
    removal: tuple[Object, ...] = (*fields, {"op": "remove", "path": "/spec/taints/0"})
    assert said(commands.untaint(["a"], Taint("x", "1", "NoSchedule"), opened[1:2])) == [
        ("kubectl taint nodes a x=1:NoSchedule-", (on_node("a", *removal),))
    ]


def test_labels_are_written_over_only_where_that_is_meant() -> None:
    path = "/metadata/labels/pool"
    for overwrite, forced in ((False, ""), (True, " --overwrite")):
        edit = node_edit("a", path, "old", "new")
        body = ({"op": "test", "path": path, "value": "old"}, {"op": "add", "path": path, "value": "new"})
        assert said(commands.label(["a", "b"], "pool", "new", [edit], overwrite)) == [
            (f"kubectl label node a b pool=new{forced}", (on_node("a", *body),))
        ]
    body = ({"op": "test", "path": path, "value": "old"}, {"op": "remove", "path": path})
    assert said(commands.unlabel(["a"], "pool", [node_edit("a", path, "old", None)])) == [
        ("kubectl label node a pool-", (on_node("a", *body),))
    ]


def test_pods_are_evicted_one_by_one_through_the_api() -> None:
    scene = cluster()
    pods = [scene.explain(pod(name, namespace=home)).pod for name, home in (("a", "ml"), ("b", "default"))]
    first, second = commands.evict(pods)
    assert first.text == (
        'echo \'{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a","namespace":"ml"}}\' | '
        "kubectl create --raw /api/v1/namespaces/ml/pods/a/eviction -f -"
    )
    assert (first.writes, second.writes) == (
        (Write("evict", "v1", "Pod", "a", "ml"),),
        (Write("evict", "v1", "Pod", "b", "default"),),
    )
