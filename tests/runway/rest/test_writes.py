"""What a proposal says is done by its writes, on both API servers, with the rights of whoever asks, and only once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.runway.rest.serving import READER, Rest, RestClient, eventually

NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
APPS = "/apis/apps/v1/namespaces/default"
# Each story has a node of its own, which no other selects.
STORY = "mooring.test/story"
CAPACITY = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "4"}
STATUS = {
    "capacity": CAPACITY,
    "allocatable": CAPACITY,
    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}],
}


class Story:
    """A node, what runs on it, and the workload that is asked about."""

    def __init__(self, rest: Rest, name: str) -> None:
        self.rest, self.name = rest, name
        self.admin = rest.admin

    def node(self, labels: dict[str, str] | None = None, **spec: Any) -> None:
        found = {"metadata": {"name": self.name, "labels": {STORY: self.name, **(labels or {})}}}
        with self.rest.home.api() as api:
            assert api.post(NODES, found).code == 201
            assert api.patch(f"{NODES}/{self.name}/status", "merge", {"status": STATUS}).code == 200
            # No controller takes the taint of a new node away.
            assert api.patch(f"{NODES}/{self.name}", "merge", {"spec": {"taints": None, **spec}}).code == 200

    def pod(self, gpus: int, **spec: Any) -> None:
        limits = {"nvidia.com/gpu": str(gpus)}
        containers = [{"name": "main", "image": "x:1", "resources": {"limits": limits}}]
        account = "/api/v1/namespaces/default/serviceaccounts"
        with self.rest.home.api() as api:
            assert api.post(account, {"metadata": {"name": "default"}}).code in (201, 409)
            made = {"metadata": {"name": f"{self.name}-0"}, "spec": {"containers": containers, **spec}}
            assert api.post(PODS, made).code == 201

    def workload(self, kind: str, gpus: int, replicas: int = 1, selector: dict[str, str] | None = None) -> None:
        limits = {"nvidia.com/gpu": str(gpus)}
        spec = {
            "nodeSelector": {STORY: self.name, **(selector or {})},
            "containers": [{"name": "main", "image": "x:1", "resources": {"limits": limits}}],
        }
        labels = {"app": self.name}
        template = {"metadata": {"labels": labels}, "spec": spec}
        made = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        with self.rest.home.api() as api:
            assert api.post(self.path(kind)[0], {"metadata": {"name": self.name}, "spec": made}).code == 201

    def path(self, kind: str) -> tuple[str, str]:
        collection = {"Node": NODES, "Pod": PODS}.get(kind, f"{APPS}/{kind.lower()}s")
        return collection, f"{collection}/{self.name}{'-0' if kind == 'Pod' else ''}"

    def there(self, kind: str) -> Object:
        with self.rest.home.api() as api:
            found: Object = api.get(self.path(kind)[1]).body
        return found

    def proposal(self, kind: str, text: str) -> Object:
        found = self.admin.post("/api/explain", {"kind": kind, "namespace": "default", "name": self.name})
        told = [each for pod in found.get("pods", [found]) for each in pod["proposals"]]
        chosen: Object = next((each for each in told if text in each["text"]), {})
        assert chosen, [each["text"] for each in told]
        return chosen

    def detail(self, kind: str) -> Object:
        path = f"/api/workloads/{kind}/default/{self.name}"
        found: Object = eventually(lambda: self._answer(path), "the workload is told")
        return found

    def _answer(self, path: str) -> Object | None:
        status, body = self.admin.ask("GET", path)
        return body if status == 200 else None

    def apply(self, proposal: Object, client: RestClient | None = None) -> tuple[int, Any]:
        return (client or self.admin).ask("POST", "/api/apply", {"writes": proposal["writes"]})

    def gone(self) -> None:
        with self.rest.home.api() as api:
            for kind in ("Deployment", "StatefulSet", "Node"):
                api.delete(self.path(kind)[1])
            api.delete(f"{self.path('Pod')[1]}?gracePeriodSeconds=0")


@pytest.fixture
def story(either: Rest, request: pytest.FixtureRequest) -> Iterator[Story]:
    found = Story(either, f"writes-{request.node.originalname.split('_')[2]}")
    yield found
    found.gone()


def test_a_misspelt_selector_is_corrected_once(story: Story) -> None:
    story.node({"gpu": "h100-sxm"})
    story.workload("Deployment", 1, selector={"gpu": "h100-smx"})
    found = story.proposal("Deployment", "Correct nodeSelector gpu")
    assert story.apply(found, story.rest.reader)[0] == 403
    status, made = story.apply(found)
    assert (status, made["done"]) == (200, [f"Deployment default/{story.name} patched"])
    assert story.there("Deployment")["spec"]["template"]["spec"]["nodeSelector"]["gpu"] == "h100-sxm"
    status, again = story.apply(found)
    assert status == 422
    assert again["error"]["message"].startswith(f"patch of Deployment default/{story.name} failed: ")
    assert again["error"]["details"][0]["field"] == "writes[0]"


def test_a_toleration_is_not_written_over_one_that_came_since(story: Story) -> None:
    story.node(taints=[{"key": "team", "value": "ml", "effect": "NoSchedule"}])
    story.workload("Deployment", 1)
    found = story.proposal("Deployment", "Tolerate taint")
    other = [{"key": "other", "operator": "Exists"}]
    change = {"spec": {"template": {"spec": {"tolerations": other}}}}
    with story.rest.home.api() as api:
        assert api.patch(story.path("Deployment")[1], "merge", change).code == 200
    assert story.apply(found)[0] == 422
    assert story.there("Deployment")["spec"]["template"]["spec"]["tolerations"] == other
    assert story.apply(story.proposal("Deployment", "Tolerate taint"))[0] == 200
    assert [each["key"] for each in story.there("Deployment")["spec"]["template"]["spec"]["tolerations"]] == [
        "other",
        "team",
    ]


def test_a_taint_that_tells_since_when_is_taken_away(story: Story) -> None:
    taint = {"key": "team", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
    story.node(taints=[taint])
    story.workload("Deployment", 1)
    assert story.apply(story.proposal("Deployment", "Remove taint"))[0] == 200
    assert "taints" not in story.there("Node")["spec"]


def test_an_uncordon_opens_the_node(story: Story) -> None:
    story.node(unschedulable=True)
    story.workload("Deployment", 1)
    found = story.proposal("Deployment", "Uncordon")
    status, refused = story.apply(found, story.rest.reader)
    assert status == 403
    assert READER in refused["error"]["message"]
    assert story.apply(found)[1]["message"] == f"Node {story.name} patched"
    assert not story.there("Node")["spec"].get("unschedulable")


def test_a_label_is_added_to_the_node(story: Story) -> None:
    story.node()
    story.workload("Deployment", 1, selector={"mooring.test/rack": "r7"})
    assert story.apply(story.proposal("Deployment", "Label node"))[0] == 200
    assert story.there("Node")["metadata"]["labels"]["mooring.test/rack"] == "r7"


def test_a_scale_asks_for_as_many_as_land(story: Story) -> None:
    story.node()
    story.workload("Deployment", 4, replicas=3)
    found = story.proposal("Deployment", "Lower replicas from 3 to 1")
    assert story.apply(found, story.rest.reader)[0] == 403
    assert story.apply(found)[1]["done"] == [f"Deployment default/{story.name} scaled"]
    assert story.there("Deployment")["spec"]["replicas"] == 1
    assert story.apply(found)[0] == 422


def test_what_was_applied_is_undone_once_and_only_by_who_may(story: Story) -> None:
    story.node({"gpu": "h100-sxm"})
    story.workload("Deployment", 1, selector={"gpu": "h100-smx"})
    undo = story.apply(story.proposal("Deployment", "Correct nodeSelector gpu"))[1]["undo"]
    assert story.apply({"writes": undo}, story.rest.reader)[0] == 403
    status, made = story.apply({"writes": undo})
    assert status == 200
    assert story.there("Deployment")["spec"]["template"]["spec"]["nodeSelector"]["gpu"] == "h100-smx"
    assert story.apply({"writes": undo})[0] == 422
    assert story.apply({"writes": made["undo"]})[0] == 200
    assert story.there("Deployment")["spec"]["template"]["spec"]["nodeSelector"]["gpu"] == "h100-sxm"


def test_the_undo_of_a_node_brings_its_taint_and_its_cordon_back(story: Story) -> None:
    taint = {"key": "team", "effect": "NoSchedule"}
    story.node(taints=[taint], unschedulable=True)
    story.workload("Deployment", 1)
    first = [{"op": "remove", "path": "/spec/taints/0"}]
    second = [{"op": "replace", "path": "/spec/unschedulable", "value": False}]
    write = {"verb": "patch", "apiVersion": "v1", "kind": "Node", "name": story.name}
    status, made = story.apply({"writes": [{**write, "body": first}, {**write, "body": second}]})
    assert (status, len(made["undo"])) == (200, 2)
    assert story.apply({"writes": made["undo"]})[0] == 200
    spec = story.there("Node")["spec"]
    assert (spec["taints"], spec["unschedulable"]) == ([taint], True)


def test_a_scale_that_somebody_has_changed_since_is_not_undone(story: Story) -> None:
    story.workload("Deployment", 1, replicas=2)
    detail = story.detail("Deployment")
    assert detail["scale"] == {"verb": "scale", "path": "/spec/replicas", "replicas": 2}
    body = [{"op": "test", "path": "/spec/replicas", "value": 2}, {"op": "add", "path": "/spec/replicas", "value": 0}]
    write = {"verb": "scale", "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": story.name}
    undo = story.apply({"writes": [{**write, "body": body}]})[1]["undo"]
    with story.rest.home.api() as api:
        assert api.patch(story.path("Deployment")[1], "merge", {"spec": {"replicas": 7}}).code == 200
    assert story.apply({"writes": undo})[0] == 422
    assert story.there("Deployment")["spec"]["replicas"] == 7


def test_a_workload_is_deleted_as_it_was_looked_at_and_by_who_may(story: Story) -> None:
    story.workload("StatefulSet", 1)
    target = f"/api/workloads/StatefulSet/default/{story.name}"
    uid = story.detail("StatefulSet")["manifest"]["metadata"]["uid"]
    status, refused = story.rest.reader.ask("DELETE", f"{target}?uid={uid}")
    assert status == 403
    assert READER in refused["error"]["message"]
    status, refused = story.admin.ask("DELETE", f"{target}?uid=another")
    assert (status, "made anew" in refused["error"]["message"]) == (409, True)
    assert story.admin.ask("DELETE", f"{target}?uid={uid}")[0] == 200
    left = story.there("StatefulSet")
    assert left["kind"] == "Status" or left["metadata"]["deletionTimestamp"]
    assert story.admin.ask("DELETE", "/api/workloads/Secret/default/x")[0] == 404


def test_an_eviction_makes_room(story: Story) -> None:
    story.node()
    story.pod(4, nodeName=story.name)
    story.workload("Deployment", 4)
    found = story.proposal("Deployment", "Disruptive: evict")
    assert found["disruptive"]
    assert story.apply(found, story.rest.reader)[0] == 403
    assert story.apply(found)[1]["done"] == [f"Pod default/{story.name}-0 evicted"]
    left = story.there("Pod")
    assert left["kind"] == "Status" or left["metadata"]["deletionTimestamp"]


def test_a_statefulset_is_patched_and_its_waiting_pod_is_taken_away(story: Story) -> None:
    story.node({"gpu": "h100-sxm"})
    story.workload("StatefulSet", 1, selector={"gpu": "h100-smx"})
    story.pod(1, nodeSelector={STORY: story.name, "gpu": "h100-smx"})
    found = story.proposal("StatefulSet", "Correct nodeSelector gpu")
    assert story.apply(found)[1]["done"] == [
        f"StatefulSet default/{story.name} patched",
        f"Pod default/{story.name}-0 deleted",
    ]
    assert story.there("Pod")["kind"] == "Status"
    status, made = story.admin.ask("POST", "/api/apply", {"writes": found["writes"][1:]})
    assert (status, made["done"]) == (200, [f"Pod default/{story.name}-0 is gone already"])


def test_the_first_write_that_fails_is_the_last(story: Story) -> None:
    story.node(unschedulable=True)
    uncordon = [{"op": "test", "path": "/spec/unschedulable", "value": True}]
    uncordon += [{"op": "add", "path": "/spec/unschedulable", "value": False}]
    mark = [{"op": "add", "path": "/metadata/labels/late", "value": "true"}]
    first = {"verb": "patch", "apiVersion": "v1", "kind": "Node", "name": story.name, "body": uncordon}
    status, failed = story.apply({"writes": [first, first, {**first, "body": mark}]})
    assert status == 422
    assert failed["error"]["message"].endswith(f"; before it: Node {story.name} patched")
    assert failed["error"]["details"][0]["field"] == "writes[1]"
    assert "late" not in story.there("Node")["metadata"]["labels"]


def test_a_manifest_that_is_not_in_the_cluster_has_nothing_to_write(story: Story) -> None:
    story.node({"gpu": "h100-sxm"})
    containers = [{"name": "main", "image": "x:1"}]
    spec = {"nodeSelector": {STORY: story.name, "gpu": "h100-smx"}, "containers": containers}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": spec}
    found = story.admin.post("/api/explain", {"manifest": manifest})["proposals"]
    corrected = next(each for each in found if each["text"].startswith("Correct nodeSelector gpu"))
    assert not {"command", "writes"} & corrected.keys()
