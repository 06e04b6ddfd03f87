"""What a foreign webhook is told about a write, the same by both API servers."""

from __future__ import annotations

from mooring.kube.objects import Object
from tests.apiserver.webhooks.foreign import allowed, denied, labelled
from tests.apiserver.webhooks.world import World, hook, message, rule


def test_a_creation_is_told_before_it_has_a_uid_and_a_generated_name(world: World) -> None:
    first = world.foreign.on("/first", allowed())
    last = world.foreign.on("/last", allowed())
    world.mutating(hook("first", world.foreign.client(first)))
    world.validating(hook("last", world.foreign.client(last)))
    body = {"metadata": {"generateName": "made-"}, "data": {"a": "b"}}
    made = world.sent("POST", world.configmaps, body, fieldManager="me").body["metadata"]
    (before,), (after,) = world.foreign.asked(first), world.foreign.asked(last)
    assert "name" not in before
    assert {"name", "uid", "creationTimestamp"} & before["object"]["metadata"].keys() <= {"creationTimestamp"}
    assert before["object"]["metadata"].get("creationTimestamp") is None
    assert after["name"] == made["name"]
    assert after["object"]["metadata"]["uid"] == made["uid"]
    assert after["object"]["metadata"]["creationTimestamp"] == made["creationTimestamp"]
    for each in (before, after):
        assert each["operation"] == "CREATE"
        assert each["namespace"] == world.namespace
        assert each["kind"] == each["requestKind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
        assert each["resource"] == each["requestResource"] == {"group": "", "version": "v1", "resource": "configmaps"}
        assert each["oldObject"] is None
        assert each["dryRun"] is False
        assert each["userInfo"]["username"] == "kubernetes-admin"
        assert "system:masters" in each["userInfo"]["groups"]
        assert each["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}


def test_a_change_is_told_with_what_was_there(world: World) -> None:
    path = world.foreign.on("/judge", allowed())
    world.mutating(hook("judge", world.foreign.client(path), rule("configmaps", "UPDATE")))
    was = world.configmap("c").body
    here = f"{world.configmaps}/c"
    world.sent("PUT", here, was | {"data": {"a": "1"}})
    world.api.patch(here, "merge", {"data": {"a": "2"}})
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"b": "3"}}
    world.api.patch(here, "apply", applied, fieldManager="me")
    told = world.foreign.asked(path)
    assert [each["object"].get("data") for each in told] == [{"a": "1"}, {"a": "2"}, {"a": "2", "b": "3"}]
    assert [each["oldObject"].get("data") for each in told] == [None, {"a": "1"}, {"a": "2"}]
    assert [each["options"]["kind"] for each in told] == ["UpdateOptions"] * 3
    assert all(each["operation"] == "UPDATE" and each["name"] == "c" for each in told)


def test_applying_what_is_not_there_is_a_creation(world: World) -> None:
    path = world.foreign.on("/label", allowed(labelled(seen="yes")))
    world.mutating(hook("label", world.foreign.client(path), rule("configmaps", "CREATE", "UPDATE")))
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"b": "3"}}
    made = world.api.patch(f"{world.configmaps}/c", "apply", applied, fieldManager="me")
    assert (made.code, made.body["metadata"]["labels"]) == (201, {"seen": "yes"})
    (told,) = world.foreign.asked(path)
    assert (told["operation"], told["options"]["kind"], told["oldObject"]) == ("CREATE", "CreateOptions", None)


def test_a_deletion_is_told_with_what_goes_and_can_be_refused(world: World) -> None:
    path = world.foreign.on("/judge", denied("it is precious", code=403, reason="Forbidden"))
    world.validating(hook("judge", world.foreign.client(path), rule("configmaps", "DELETE")))
    world.configmap("c")
    here = f"{world.configmaps}/c"
    answer = world.api.request("DELETE", here, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 3})
    assert (answer.code, message(answer)) == (
        403,
        'admission webhook "judge.example.com" denied the request: it is precious',
    )
    (told,) = world.foreign.asked(path)
    assert (told["operation"], told["name"], told["object"]) == ("DELETE", "c", None)
    assert told["oldObject"]["metadata"]["name"] == "c"
    assert told["options"]["kind"] == "DeleteOptions"
    assert told["options"]["gracePeriodSeconds"] == 3
    assert world.sent("GET", here).code == 200


def test_a_collection_goes_one_by_one_and_stops_at_a_refusal(world: World) -> None:
    def judge(request: Object) -> Object:
        return {"allowed": request["oldObject"]["metadata"]["name"] != "b"}

    path = world.foreign.on("/judge", judge)
    world.validating(hook("judge", world.foreign.client(path), rule("configmaps", "DELETE")))
    for name in ("a", "b"):
        world.configmap(name)
    assert world.api.request("DELETE", world.configmaps).code == 400
    assert world.api.request("GET", f"{world.configmaps}/b").code == 200
    assert {each.get("name", "") for each in world.foreign.asked(path)} == {""}
    world.foreign.on(path, allowed())
    assert world.api.request("DELETE", world.configmaps).code == 200
    assert world.sent("GET", world.configmaps).body["items"] == []


def test_a_webhook_that_would_change_a_deletion_fails_it(world: World) -> None:
    path = world.foreign.on("/label", allowed(labelled(seen="yes")))
    world.mutating(hook("label", world.foreign.client(path), rule("configmaps", "DELETE")))
    world.configmap("c")
    answer = world.api.request("DELETE", f"{world.configmaps}/c")
    assert answer.code == 500
    assert message(answer) == (
        'Internal error occurred: admission webhook "label.example.com" attempted to modify the object, '
        "which is not supported for this operation"
    )


def test_a_scale_is_told_as_a_scale_and_changed_as_one(world: World) -> None:
    path = world.foreign.on("/scale", allowed({"op": "replace", "path": "/spec/replicas", "value": 2}))
    world.mutating(hook("scale", world.foreign.client(path), rule("deployments/scale", "UPDATE", group="apps")))
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    deployments = f"/apis/apps/v1/namespaces/{world.namespace}/deployments"
    world.sent("POST", deployments, {"metadata": {"name": "d"}, "spec": spec})
    answer = world.api.patch(f"{deployments}/d/scale", "merge", {"spec": {"replicas": 5}})
    assert answer.body["spec"]["replicas"] == 2
    (told,) = world.foreign.asked(path)
    assert told["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert (told["object"]["spec"]["replicas"], told["oldObject"]["spec"]["replicas"]) == (5, 1)
    assert (told["resource"]["resource"], told["subResource"]) == ("deployments", "scale")
    assert world.sent("GET", f"{deployments}/d").body["spec"]["replicas"] == 2


def test_bindings_and_evictions_are_told_as_what_they_are(world: World) -> None:
    path = world.foreign.on("/judge", allowed())
    world.validating(hook("judge", world.foreign.client(path), rule("pods/binding"), rule("pods/eviction")))
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "main:1"}]}}
    world.sent("POST", world.pods, pod)
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "n"},
    }
    world.sent("POST", f"{world.pods}/p/binding", binding)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    world.sent("POST", f"{world.pods}/p/eviction", eviction)
    told = [(each["subResource"], each["kind"], each["name"]) for each in world.foreign.asked(path)]
    assert told == [
        ("binding", {"group": "", "version": "v1", "kind": "Binding"}, "p"),
        ("eviction", {"group": "policy", "version": "v1", "kind": "Eviction"}, "p"),
    ]
    assert world.foreign.asked(path)[0]["object"]["target"]["name"] == "n"
    world.foreign.on(path, denied("stay"))
    refused = world.api.request("POST", f"{world.pods}/p/eviction", eviction)
    assert message(refused) == 'admission webhook "judge.example.com" denied the request: stay'


def test_a_dry_run_is_told_as_one_and_stores_nothing(world: World) -> None:
    path = world.foreign.on("/label", allowed(labelled(seen="yes")))
    world.mutating(hook("label", world.foreign.client(path), sideEffects="NoneOnDryRun"))
    made = world.api.post(world.configmaps, {"metadata": {"name": "c"}}, dryRun="All")
    assert made.body["metadata"]["labels"] == {"seen": "yes"}
    (told,) = world.foreign.asked(path)
    assert (told["dryRun"], told["options"]["dryRun"]) == (True, ["All"])
    assert world.api.request("GET", f"{world.configmaps}/c").code == 404
