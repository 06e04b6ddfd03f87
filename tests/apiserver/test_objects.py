"""Objects over HTTP: each verb, the codes it answers with, and what the answers look like."""

from __future__ import annotations

import json

import pytest

from tests.apiserver.world import CONFIGMAPS, DEFINITIONS, METADATA, PODS, TABLE, WIDGETS, Api, failed
from tests.registry.world import config, definition, pod, workload


def test_a_created_object_is_answered_with_201_and_can_be_read(api: Api) -> None:
    answer = api.post(CONFIGMAPS, config("c"))
    assert answer.code == 201
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-cache, private"
    assert "date" in answer.headers
    assert api.get(f"{CONFIGMAPS}/c").body == answer.body


def test_slashes_at_the_end_are_forgiven(api: Api) -> None:
    api.made(f"{CONFIGMAPS}/", config("c"))
    assert api.get(f"{CONFIGMAPS}/c/").code == 200
    assert api.get("/version/").code == 200
    assert api.get("/api/").body["kind"] == "APIVersions"


def test_a_name_is_generated_where_a_prefix_is_given(api: Api) -> None:
    made = api.made(CONFIGMAPS, {"metadata": {"generateName": "c-"}})
    assert made["metadata"]["name"].startswith("c-")
    assert len(made["metadata"]["name"]) == 7


def test_a_second_object_of_the_same_name_is_refused(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    answer = api.post(CONFIGMAPS, config("c"))
    assert failed(answer) == (409, "AlreadyExists")
    assert answer.body["message"] == 'configmaps "c" already exists'


def test_yaml_is_read_like_json(api: Api) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: b\n"
    assert api.post(CONFIGMAPS, text, content_type="application/yaml").code == 201
    assert api.get(f"{CONFIGMAPS}/c").body["data"] == {"a": "b"}


def test_a_put_replaces_and_a_stale_one_conflicts(api: Api) -> None:
    made = api.made(CONFIGMAPS, config("c"))
    answer = api.put(f"{CONFIGMAPS}/c", made | {"data": {"b": "2"}})
    assert (answer.code, answer.body["data"]) == (200, {"b": "2"})
    assert failed(api.put(f"{CONFIGMAPS}/c", made | {"data": {"c": "3"}})) == (409, "Conflict")


def test_the_name_in_a_put_must_be_that_of_the_url(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    answer = api.put(f"{CONFIGMAPS}/c", config("d"))
    assert failed(answer) == (400, "BadRequest")
    assert answer.body["message"] == "the name of the object (d) does not match the name on the URL (c)"
    assert failed(api.put(f"{CONFIGMAPS}/c", {"metadata": {}})) == (400, "BadRequest")


def test_a_put_of_a_lease_that_is_not_there_makes_it(api: Api) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    made = api.put(f"{leases}/l", {"metadata": {"name": "l"}, "spec": {}})
    assert made.code == 201
    assert api.put(f"{leases}/l", {"metadata": made.body["metadata"], "spec": {"holderIdentity": "me"}}).code == 200


def test_all_four_patch_types_change_an_object(api: Api) -> None:
    api.made(PODS, pod("p", labels={"a": "1"}))
    path = f"{PODS}/p"
    assert api.merge(path, {"metadata": {"labels": {"b": "2"}}}).code == 200
    operations = [{"op": "add", "path": "/metadata/labels/c", "value": "3"}]
    assert api.send("PATCH", path, operations, content_type="application/json-patch+json").code == 200
    strategic = {"spec": {"containers": [{"name": "main", "image": "busybox:2"}]}}
    answer = api.send("PATCH", path, strategic, content_type="application/strategic-merge-patch+json")
    assert [each["image"] for each in answer.body["spec"]["containers"]] == ["busybox:2"]
    applied = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"d": "4"}}}
    answer = api.apply(f"{path}?fieldManager=me", applied)
    assert (answer.code, answer.body["metadata"]["labels"]) == (200, {"a": "1", "b": "2", "c": "3", "d": "4"})


def test_an_apply_creates_what_is_not_there_and_may_be_yaml(api: Api) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n"
    answer = api.apply(f"{CONFIGMAPS}/c?fieldManager=me", text)
    assert (answer.code, answer.body["data"]) == (201, {"a": "1"})
    assert api.apply(f"{CONFIGMAPS}/c?fieldManager=me", text).code == 200


def test_an_apply_conflict_names_the_other_manager_and_can_be_forced(api: Api) -> None:
    api.made(f"{CONFIGMAPS}?fieldManager=first", config("c"))
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}}
    answer = api.apply(f"{CONFIGMAPS}/c?fieldManager=second", wanted)
    assert failed(answer) == (409, "Conflict")
    assert 'conflict with "first"' in answer.body["message"]
    assert api.apply(f"{CONFIGMAPS}/c?fieldManager=second&force=true", wanted).code == 200


def test_an_apply_needs_a_manager_and_other_patches_take_no_force(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    assert failed(api.apply(f"{CONFIGMAPS}/c", {"apiVersion": "v1", "kind": "ConfigMap"})) == (422, "Invalid")
    assert failed(api.merge(f"{CONFIGMAPS}/c?force=true", {})) == (422, "Invalid")


def test_who_names_no_manager_is_called_by_its_program(api: Api) -> None:
    api.post(CONFIGMAPS, config("c"), user_agent="kubectl/v1.35.0 (linux/amd64)")
    managers = api.get(f"{CONFIGMAPS}/c").body["metadata"]["managedFields"]
    assert [entry["manager"] for entry in managers] == ["kubectl"]


def test_a_dry_run_answers_as_if_and_changes_nothing(api: Api) -> None:
    assert api.post(f"{CONFIGMAPS}?dryRun=All", config("c")).code == 201
    assert failed(api.get(f"{CONFIGMAPS}/c")) == (404, "NotFound")
    api.made(CONFIGMAPS, config("c"))
    assert api.merge(f"{CONFIGMAPS}/c?dryRun=All", {"data": {"a": "2"}}).body["data"] == {"a": "2"}
    assert api.delete(f"{CONFIGMAPS}/c?dryRun=All").code == 200
    assert api.get(f"{CONFIGMAPS}/c").body["data"] == {"a": "1"}
    assert failed(api.post(f"{CONFIGMAPS}?dryRun=Some", config("d"))) == (422, "Invalid")


@pytest.mark.parametrize(
    ("wanted", "code", "warned"), [("", 201, 1), ("Warn", 201, 1), ("Ignore", 201, 0), ("Strict", 400, 0)]
)
def test_unknown_fields_are_said_or_refused_as_the_client_wants(api: Api, wanted: str, code: int, warned: int) -> None:
    answer = api.post(f"{CONFIGMAPS}?fieldValidation={wanted}", config("c") | {"dada": {}})
    assert (answer.code, len(answer.warnings)) == (code, warned)
    if warned:
        assert answer.warnings == ['299 - "unknown field \\"dada\\""']
    if code == 400:
        assert 'strict decoding error: unknown field "dada"' in answer.body["message"]


def test_a_deleted_object_is_answered_with_a_status_that_says_which(api: Api) -> None:
    made = api.made(CONFIGMAPS, config("c"))
    answer = api.delete(f"{CONFIGMAPS}/c")
    assert answer.code == 200
    assert answer.body["status"] == "Success"
    assert answer.body["details"] == {"name": "c", "kind": "configmaps", "uid": made["metadata"]["uid"]}
    assert failed(api.delete(f"{CONFIGMAPS}/c")) == (404, "NotFound")


def test_an_object_that_has_to_wait_is_answered_as_it_is_then(api: Api) -> None:
    api.made(CONFIGMAPS, config("c", finalizers=["example.com/wait"]))
    answer = api.delete(f"{CONFIGMAPS}/c")
    assert (answer.code, answer.body["kind"]) == (200, "ConfigMap")
    assert "deletionTimestamp" in answer.body["metadata"]


def test_the_options_of_a_deletion_come_in_the_body_or_in_the_query(api: Api) -> None:
    made = api.made(CONFIGMAPS, config("c"))
    wrong = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}}
    assert failed(api.delete(f"{CONFIGMAPS}/c", wrong)) == (409, "Conflict")
    assert failed(api.delete(f"{CONFIGMAPS}/c?propagationPolicy=Sideways")) == (422, "Invalid")
    answer = api.delete(f"{CONFIGMAPS}/c?propagationPolicy=Foreground")
    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    right = {"preconditions": {"uid": made["metadata"]["uid"]}, "propagationPolicy": "Background"}
    assert api.delete(f"{CONFIGMAPS}/c", right).body["status"] == "Success"


def test_orphans_are_asked_for_in_the_old_way_too(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    answer = api.delete(f"{CONFIGMAPS}/c?orphanDependents=true")
    assert answer.body["metadata"]["finalizers"] == ["orphan"]
    both = {"orphanDependents": True, "propagationPolicy": "Orphan"}
    assert failed(api.delete(f"{CONFIGMAPS}/c", both)) == (422, "Invalid")


def test_a_collection_is_deleted_by_selector_and_answered_as_a_list(api: Api) -> None:
    for name, app in (("a", "x"), ("b", "x"), ("c", "y")):
        api.made(CONFIGMAPS, config(name, labels={"app": app}))
    answer = api.delete(f"{CONFIGMAPS}?labelSelector=app=x")
    assert (answer.code, answer.body["kind"]) == (200, "ConfigMapList")
    assert [item["metadata"]["name"] for item in answer.body["items"]] == ["a", "b"]
    assert api.names(CONFIGMAPS) == ["c"]
    assert failed(api.delete("/api/v1/namespaces")) == (405, "MethodNotAllowed")


def test_status_is_written_through_its_own_path_only(api: Api) -> None:
    api.made(PODS, pod("p"))
    api.merge(f"{PODS}/p", {"status": {"phase": "Running"}})
    assert api.get(f"{PODS}/p/status").body["status"]["phase"] == "Pending"
    assert api.merge(f"{PODS}/p/status", {"status": {"phase": "Running"}}).body["status"]["phase"] == "Running"


def test_scale_is_one_number_of_a_workload(api: Api) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    api.made(path, workload("web", replicas=2))
    scale = api.get(f"{path}/web/scale").body
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 2})
    assert api.merge(f"{path}/web/scale", {"spec": {"replicas": 5}}).body["spec"] == {"replicas": 5}
    scale["spec"]["replicas"] = 3
    del scale["metadata"]["resourceVersion"]
    assert api.put(f"{path}/web/scale", scale).code == 200
    assert api.get(f"{path}/web").body["spec"]["replicas"] == 3


def test_a_namespace_is_finalized_through_its_own_path(api: Api) -> None:
    api.made("/api/v1/namespaces", {"metadata": {"name": "team"}})
    assert api.delete("/api/v1/namespaces/team").body["status"]["phase"] == "Terminating"
    team = api.get("/api/v1/namespaces/team").body
    assert api.put("/api/v1/namespaces/team/finalize", team | {"spec": {}}).code == 200
    assert failed(api.get("/api/v1/namespaces/team")) == (404, "NotFound")


@pytest.mark.parametrize("path", [f"{PODS}/p/binding", "/api/v1/namespaces/default/bindings"])
def test_a_binding_puts_a_pod_on_a_node_once(api: Api, path: str) -> None:
    api.made(PODS, pod("p"))
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    answer = api.post(path, binding)
    assert (answer.code, answer.body["status"]) == (201, "Success")
    assert api.get(f"{PODS}/p").body["spec"]["nodeName"] == "n"
    assert failed(api.post(path, binding)) == (409, "Conflict")


def test_an_eviction_deletes_a_pod_unless_its_budget_says_no(api: Api) -> None:
    api.made(PODS, pod("p", labels={"app": "x"}))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    api.made(
        budgets, {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}}
    )
    api.merge(f"{PODS}/p/status", {"status": {"phase": "Running"}})
    answer = api.post(f"{PODS}/p/eviction", eviction)
    assert failed(answer) == (429, "TooManyRequests")
    assert answer.headers["retry-after"] == "10"
    api.delete(f"{budgets}/b")
    assert api.post(f"{PODS}/p/eviction", eviction).code == 201
    assert failed(api.get(f"{PODS}/p")) == (404, "NotFound")


def test_an_eviction_of_another_name_is_refused(api: Api) -> None:
    api.made(PODS, pod("p"))
    assert failed(api.post(f"{PODS}/p/eviction", {"metadata": {"name": "q"}})) == (400, "BadRequest")


def test_a_custom_kind_is_served_from_the_request_after_its_definition(api: Api) -> None:
    assert api.get(WIDGETS).code == 404
    api.made(DEFINITIONS, definition())
    api.made(WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}})
    assert api.get(f"{WIDGETS}/w").body["spec"] == {"size": 1}
    listed = api.get(WIDGETS).body
    assert (listed["kind"], listed["items"][0]["kind"]) == ("WidgetList", "Widget")


def test_a_strategic_patch_of_a_custom_kind_is_not_supported(api: Api) -> None:
    api.made(DEFINITIONS, definition())
    api.made(WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
    answer = api.send("PATCH", f"{WIDGETS}/w", {}, content_type="application/strategic-merge-patch+json")
    assert failed(answer) == (415, "UnsupportedMediaType")


def test_events_of_both_groups_are_the_same_events(api: Api) -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "message": "hello",
    }
    api.made("/api/v1/namespaces/default/events", event)
    assert api.get("/apis/events.k8s.io/v1/namespaces/default/events/e").body["note"] == "hello"


def test_metadata_alone_can_be_asked_for(api: Api) -> None:
    made = api.made(CONFIGMAPS, config("c"))
    answer = api.get(f"{CONFIGMAPS}/c", accept=METADATA)
    assert answer.body == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": made["metadata"],
    }


def test_a_row_of_a_table_can_be_asked_for(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    answer = api.get(f"{CONFIGMAPS}/c", accept=TABLE)
    assert (answer.body["kind"], [row["cells"][0] for row in answer.body["rows"]]) == ("Table", ["c"])
    assert answer.body["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = api.get(f"{CONFIGMAPS}/c?includeObject=Object", accept=TABLE)
    assert whole.body["rows"][0]["object"]["kind"] == "ConfigMap"
    assert failed(api.get(f"{CONFIGMAPS}/c?includeObject=Everything", accept=TABLE)) == (400, "BadRequest")


def test_protobuf_bodies_are_read(api: Api) -> None:
    metadata = b"\n\x01c"
    raw = b"\n" + bytes([len(metadata)]) + metadata
    typed = b"\n\x02v1\x12\tConfigMap"
    unknown = b"\n" + bytes([len(typed)]) + typed + b"\x12" + bytes([len(raw)]) + raw
    answer = api.post(CONFIGMAPS, b"k8s\x00" + unknown, content_type="application/vnd.kubernetes.protobuf")
    assert answer.code == 201, answer.body
    assert answer.body["metadata"]["name"] == "c"


def test_an_old_version_is_read_as_the_newest_and_a_future_one_is_refused(api: Api) -> None:
    made = api.made(CONFIGMAPS, config("c"))
    version = int(made["metadata"]["resourceVersion"])
    assert api.get(f"{CONFIGMAPS}/c?resourceVersion=0").code == 200
    assert api.get(f"{CONFIGMAPS}/c?resourceVersion={version}").code == 200
    assert failed(api.get(f"{CONFIGMAPS}/c?resourceVersion={version + 5}")) == (504, "Timeout")


def test_json_is_written_as_text_in_utf_8(api: Api) -> None:
    api.made(CONFIGMAPS, {"metadata": {"name": "c"}, "data": {"a": "Grüße"}})
    answer = api.client.get(f"{CONFIGMAPS}/c")
    assert json.loads(answer.content.decode("utf-8"))["data"] == {"a": "Grüße"}
