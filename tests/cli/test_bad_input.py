"""Bad input ends in one line that says where and what, exit code 1, and never in a traceback."""

from __future__ import annotations

import pytest

from tests.cli.world import World


def complaint(world: World, *arguments: str, real: bool = False) -> str:
    """The one line that the command prints; `real` runs it in a process of its own."""
    if real:
        done = world.run(*arguments)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        result = world.explain(*arguments)
        code, out, err = result.exit_code, result.stdout, result.stderr
    assert (code, out) == (1, ""), err
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    return lines[0].removeprefix("error: ")


@pytest.fixture
def cluster(world: World) -> World:
    return world.node("n1").running("web", "n1").running("web-2", "n1")


def test_a_file_that_is_not_yaml(cluster: World) -> None:
    cluster.write("bad.yaml", "apiVersion: v1\nkind: Pod\n  metadata: [\n")
    assert complaint(cluster, "-f", "bad.yaml", real=True).startswith("bad.yaml: document 1: line 3: not YAML: ")


def test_an_object_of_a_kind_that_makes_no_pods(cluster: World) -> None:
    cluster.write("map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    assert complaint(cluster, "-f", "map.yaml", real=True) == (
        "map.yaml: document 1: ConfigMap settings makes no pods; "
        "-f takes Pod, Deployment, ReplicaSet, StatefulSet, Job, CronJob, ReplicationController, DaemonSet, "
        "LeaderWorkerSet, Workspace and NotebookValidationJob"
    )


def test_an_old_api_version(cluster: World) -> None:
    cluster.write("old.yaml", "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: web}\n")
    assert complaint(cluster, "-f", "old.yaml") == (
        "old.yaml: document 1: Deployment web: apiVersion extensions/v1beta1 is not known; use apps/v1"
    )


def test_an_object_that_is_there_twice(cluster: World) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n"
    cluster.write("twice.yaml", f"{pod}---\n{pod}")
    assert complaint(cluster, "-f", "twice.yaml") == (
        "twice.yaml: document 2: Pod a is there before in namespace default; leave one of them out"
    )


def test_an_unknown_pod_names_those_that_are_near(cluster: World) -> None:
    assert complaint(cluster, "pod/wbe", real=True) == (
        'pod "wbe" not found in namespace "default" of cluster.yaml; did you mean web?'
    )


def test_a_pod_of_another_namespace(cluster: World) -> None:
    assert complaint(cluster, "pod/web", "-n", "shop") == (
        'pod "web" not found in namespace "shop" of cluster.yaml; there is one in default: add -n default'
    )


def test_a_snapshot_without_nodes(world: World) -> None:
    world.running("web", "n1")
    line = complaint(world, "pod/web", real=True)
    assert line.startswith(
        "cluster.yaml: holds no nodes, so it is no snapshot of a cluster; take one with mooring snapshot"
    )


def test_a_quantity_of_a_manifest_that_does_not_parse(cluster: World) -> None:
    cluster.manifest(cluster.pod("web"), cluster.pod("big", resources={"requests": {"cpu": "12cores"}}))
    line = complaint(cluster, "-f", "pod.yaml", real=True)
    assert line.startswith(
        'pod.yaml: document 2: Pod big: spec.containers[0].resources.requests[cpu]: Invalid value: "12cores": quant'
    )


def test_a_quantity_of_a_template_that_does_not_parse(cluster: World) -> None:
    cluster.manifest(cluster.workload("Deployment", "big", {"limits": {"memory": "64G i"}}))
    line = complaint(cluster, "-f", "pod.yaml")
    assert line.startswith(
        "pod.yaml: document 1: Deployment big: spec.template.spec.containers[0].resources.limits[memory]"
    )


def test_a_quantity_of_a_node_that_does_not_parse(cluster: World) -> None:
    cluster.objects[0]["status"]["allocatable"]["memory"] = "lots"
    line = complaint(cluster, "pod/web")
    assert line.startswith(
        'cluster.yaml: document 1: item 0: Node n1: status.allocatable[memory]: "lots" is not a quantity'
    )


def test_a_quantity_of_a_running_pod_that_does_not_parse(cluster: World) -> None:
    cluster.objects[2]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1.x"}}
    line = complaint(cluster, "pod/web")
    assert line.startswith(
        "cluster.yaml: document 1: item 2: Pod default/web-2: spec.containers[0].resources.requests[cpu]: "
    )


def test_a_value_of_the_wrong_type_in_the_snapshot(cluster: World) -> None:
    cluster.objects[1]["spec"]["priority"] = "high"
    line = complaint(cluster, "pod/web")
    assert line.startswith("cluster.yaml: document 1: item 1: Pod ")
    assert line.endswith("spec.priority: expected int | null, got str")


def test_a_value_of_the_wrong_type_in_a_workload(cluster: World) -> None:
    cluster.manifest(cluster.workload("Deployment", "web", replicas="three"))
    line = complaint(cluster, "-f", "pod.yaml")
    assert line == "pod.yaml: document 1: Deployment web: spec.replicas: expected int | null, got str"


def test_a_negative_number_of_replicas(cluster: World) -> None:
    cluster.manifest(cluster.workload("Deployment", "web", replicas=-1))
    line = complaint(cluster, "-f", "pod.yaml")
    assert line == "pod.yaml: document 1: Deployment web: spec.replicas: must be greater than or equal to 0, not -1"


def test_a_workload_without_a_template(cluster: World) -> None:
    cluster.write("d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n")
    line = complaint(cluster, "-f", "d.yaml")
    assert line == "d.yaml: document 1: Deployment web: spec.template: a Deployment needs a pod template"


def test_a_priority_class_that_nobody_knows(cluster: World) -> None:
    cluster.manifest(cluster.pod("web", priorityClassName="golden"))
    line = complaint(cluster, "-f", "pod.yaml")
    assert line.startswith(
        "pod.yaml: document 1: Pod web: spec.priorityClassName: no PriorityClass with name golden was found; add "
    )


def test_a_missing_file(cluster: World) -> None:
    assert complaint(cluster, "-f", "nowhere.yaml", real=True) == "nowhere.yaml: no such file"


def test_a_missing_snapshot(cluster: World) -> None:
    assert complaint(cluster, "pod/web", "--snapshot", "nowhere.yaml") == "nowhere.yaml: no such file"


def test_a_directory_without_manifests(cluster: World) -> None:
    (cluster.folder / "manifests").mkdir()
    assert complaint(cluster, "-f", "manifests", real=True) == (
        "manifests: holds no files that end in .json, .yaml, .yml; -R looks into its folders too"
    )


def test_an_empty_file(cluster: World) -> None:
    cluster.write("empty.yaml", "")
    assert complaint(cluster, "-f", "empty.yaml", real=True) == "empty.yaml: is empty: expected at least one object"


def test_a_pod_and_a_file_together(cluster: World) -> None:
    cluster.manifest(cluster.pod("web"))
    assert complaint(cluster, "pod/web", "-f", "pod.yaml", real=True) == (
        "pod/web and -f cannot be explained together: give one of them"
    )


def test_neither_a_pod_nor_a_file(cluster: World) -> None:
    assert complaint(cluster, real=True) == (
        "say what to explain: -f FILE, pod/NAME, deployment/NAME, node/NAME, or pods for all that wait"
    )


def test_something_that_makes_no_pods(cluster: World) -> None:
    assert complaint(cluster, "service/web") == (
        "expected pod/NAME, deployment/NAME, replicaset/NAME, statefulset/NAME, job/NAME, cronjob/NAME, rc/NAME, "
        'daemonset/NAME, lws/NAME, workspace/NAME, nvj/NAME or node/NAME, or pods for all that wait, not "service/web"'
    )


def test_a_workload_that_is_not_there(cluster: World) -> None:
    assert complaint(cluster, "deploy/web") == 'Deployment "web" not found in namespace "default" of cluster.yaml'


def test_a_workload_that_is_not_there_names_those_that_are_near(cluster: World) -> None:
    cluster.add(cluster.workload("Deployment", "frontend"))
    assert complaint(cluster, "deploy/forntend") == (
        'Deployment "forntend" not found in namespace "default" of cluster.yaml; did you mean frontend?'
    )


def test_more_than_one_target(cluster: World) -> None:
    assert complaint(cluster, "pod", "web", "api") == '"pod web api" is more than one target: ask for them one by one'
    assert complaint(cluster, "pod/web", "pod/web-2") == (
        '"pod/web pod/web-2" is more than one target: ask for them one by one'
    )


def test_another_namespace_than_the_manifests(cluster: World) -> None:
    cluster.manifest(cluster.pod("web"))
    assert complaint(cluster, "-f", "pod.yaml", "-n", "shop") == (
        'pod.yaml: document 1: Pod web: the namespace from the provided object "default" does not match the namespace '
        '"shop"; pass -n default'
    )


def test_wrong_usage_is_not_taken_for_a_pod_that_cannot_land(cluster: World) -> None:
    assert complaint(cluster, "pod/web", "-o", "xml").startswith("Invalid value for '-o' / '--output'")
    assert complaint(cluster, "pod/web", "--all").startswith("No such option")


def test_standard_input_is_read_once_only(cluster: World) -> None:
    assert complaint(cluster, "-f", "-", "--snapshot", "-").startswith("standard input can be read once only")
