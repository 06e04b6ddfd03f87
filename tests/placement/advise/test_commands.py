"""Commands to paste: patches that fit the manifest as it was written, and nothing that the API would refuse."""

from __future__ import annotations

import json
import shlex

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import AdviceKind, CommandTarget, Edit
from mooring.placement.advise.pointers import edited, json_patch, pointer, resolve
from mooring.testing import advised, cluster, deployment, node, pod

TAINTED = cluster(node("a", taints=["x=1:NoSchedule"]))


def toleration_patch(workload: CommandTarget | None, asked: Object) -> str | None:
    (advice,) = [a for a in advised(TAINTED, asked, workload) if a.kind is AdviceKind.TOLERATE]
    return advice.command


def operations(command: str | None) -> list[Object]:
    assert command is not None
    words = shlex.split(command)
    found: list[Object] = json.loads(words[words.index("-p") + 1])
    return found


def test_a_manifest_is_patched_where_it_lies() -> None:
    web = pod("web")
    workload = CommandTarget(
        "Deployment", "web", "default", "/spec/template", file="my app.yaml", manifest=deployment("web", web)
    )
    command = toleration_patch(workload, web)
    assert command is not None
    assert command.startswith("kubectl patch -f 'my app.yaml' --local --type=json -p '[")
    assert command.endswith("]' -o yaml")
    assert operations(command)[0]["path"] == "/spec/template/spec/tolerations/-"


def test_a_list_that_the_manifest_does_not_have_is_added_whole() -> None:
    web = pod("web")
    written = deployment("web", web)
    written["spec"]["template"] = {"metadata": {}, "spec": {"containers": web["spec"]["containers"]}}
    workload = CommandTarget("Deployment", "web", "default", "/spec/template", live=True, manifest=written)
    command = toleration_patch(workload, web)
    toleration = {"key": "x", "operator": "Equal", "value": "1", "effect": "NoSchedule"}
    assert operations(command) == [{"op": "add", "path": "/spec/template/spec/tolerations", "value": [toleration]}]
    assert command is not None
    assert command.startswith("kubectl patch deployment web -n default --type=json -p ")


FIELDS = {"/spec/tolerations": "/spec/work/tolerations"}


def test_of_an_object_without_a_template_its_own_fields_are_patched() -> None:
    written: Object = {"kind": "Work", "spec": {"work": {"image": "x"}}}
    workload = CommandTarget("Work", "web", "default", "/spec/work", live=True, manifest=written, fields=FIELDS)
    command = toleration_patch(workload, pod("web"))
    toleration = {"key": "x", "operator": "Equal", "value": "1", "effect": "NoSchedule"}
    assert operations(command) == [{"op": "add", "path": "/spec/work/tolerations", "value": [toleration]}]
    unknown = CommandTarget("Work", "web", "default", "/spec/work", live=True, fields=FIELDS)
    assert toleration_patch(unknown, pod("web")) is None


def test_what_an_object_without_a_template_cannot_say_is_not_advised() -> None:
    workload = CommandTarget("Work", "web", "default", "/spec/work", fields=FIELDS)
    selecting = pod("web", nodeSelector={"x": "1"})
    assert AdviceKind.DROP in {each.kind for each in advised(cluster(node("a")), selecting)}
    assert AdviceKind.DROP not in {each.kind for each in advised(cluster(node("a")), selecting, workload)}


def test_without_a_workload_there_is_nothing_to_patch() -> None:
    assert toleration_patch(None, pod("web")) is None
    assert toleration_patch(CommandTarget("Deployment", "web", "default", "/spec/template"), pod("web")) is None


def test_a_pod_that_exists_takes_tolerations_and_little_else() -> None:
    workload = CommandTarget("Pod", "web", "default", live=True)
    assert toleration_patch(workload, pod("web")) is not None
    found = advised(cluster(node("a")), pod("web", nodeSelector={"x": "1"}), workload)
    assert [advice.command for advice in found if advice.kind is AdviceKind.DROP] == [None]


def test_the_template_of_a_job_that_exists_cannot_be_changed() -> None:
    assert toleration_patch(CommandTarget("Job", "web", "default", "/spec/template", live=True), pod("web")) is None


def test_what_only_defaults_wrote_cannot_be_removed() -> None:
    edit = Edit("pod", "drop", "/spec/nodeName", "a", None)
    assert json_patch({"spec": {}}, (edit,)) is None


def test_missing_parents_are_added_with_what_they_hold() -> None:
    edit = Edit("pod", "lower", "/spec/containers/0/resources/requests/cpu", "4", "2")
    written = {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "4"}}}]}}
    path = "/spec/containers/0/resources/requests"
    added = {"op": "add", "path": path, "value": {"cpu": "2"}}
    assert json_patch(written, (edit,)) == [{"op": "test", "path": path, "value": None}, added]


@pytest.mark.parametrize("key", ["plain", "nvidia.com/gpu", "odd~key", "both~/here"])
def test_pointers_escape_what_they_must(key: str) -> None:
    document = {"labels": {key: "1"}}
    assert resolve(document, pointer("labels", key)) == "1"
    changed = edited(document, (Edit("pod", "drop", pointer("labels", key), "1", None),))
    assert changed == {"labels": {}}
    assert document == {"labels": {key: "1"}}


def test_the_waiting_pod_of_a_patched_stateful_set_is_taken_away() -> None:
    """In order, a StatefulSet waits for it to become ready before it looks at the new template."""
    web = pod("web-1")
    workload = CommandTarget(
        "StatefulSet", "web", "default", "/spec/template", live=True, manifest=deployment("web", web), waiting="web-0"
    )
    command = toleration_patch(workload, web)
    assert command is not None
    assert command.endswith(
        " && kubectl delete pods -n default --field-selector metadata.name=web-0,status.phase=Pending"
    )
    in_a_file = CommandTarget("StatefulSet", "web", "default", "/spec/template", file="web.yaml")
    assert "delete" not in (toleration_patch(in_a_file, web) or "")


def test_of_a_set_for_a_file_the_manifest_is_printed_last() -> None:
    """What a pipe takes from there on is the manifest alone."""
    web = pod("web")
    workload = CommandTarget(
        "Deployment", "web", "default", "/spec/template", "web.yaml", manifest=deployment("web", web)
    )
    advice = advised(cluster(node("a", taints=["x=1:NoSchedule"], unschedulable=True)), web, workload)[0]
    assert advice.command is not None
    assert advice.command.startswith("kubectl uncordon a && kubectl patch -f web.yaml --local ")


@pytest.mark.parametrize(
    ("path", "after", "expected"),
    [
        pytest.param("/spec/tolerations/-", "c", "add", id="the end of a list has nothing to be replaced"),
        pytest.param("/spec/selector/zone", "b", "add", id="a key that is not there"),
        pytest.param("/spec/selector/pool", "b", "replace", id="a key that is there"),
        pytest.param("/spec/tolerations/1", "c", "replace", id="an element that is there"),
    ],
)
def test_a_patch_replaces_what_is_there_and_adds_what_is_not(path: str, after: str, expected: str) -> None:
    """A patch that replaces what is not there is refused whole."""
    written = {"spec": {"tolerations": ["a", "b"], "selector": {"pool": "a"}}}
    patch = json_patch(written, (Edit("pod", "replace", path, None, after),), prefix="/spec/template")
    assert patch is not None
    assert patch[-1] == {"op": expected, "path": f"/spec/template{path}", "value": after}
