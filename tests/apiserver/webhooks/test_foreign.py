"""What a foreign webhook can do to a write, told once and true of both API servers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.apiserver.webhooks.foreign import allowed, denied, labelled
from tests.apiserver.webhooks.world import CONFIGURATIONS, World, hook, rule


def message(answer: Any) -> str:
    assert answer.body["kind"] == "Status", answer.body
    text: str = answer.body["message"]
    return text


# Changing


def test_a_webhook_changes_what_is_stored(world: World) -> None:
    path = world.foreign.on("/label", allowed(labelled(seen="yes")))
    world.mutating(hook("label", world.foreign.client(path)))
    made = world.configmap("c")
    assert (made.code, made.body["metadata"]["labels"]) == (201, {"seen": "yes"})
    stored = world.sent("GET", f"{world.configmaps}/c").body
    assert stored == made.body


def test_what_a_webhook_adds_gets_its_defaults_and_is_validated(world: World) -> None:
    sidecar = {"name": "side", "image": "proxy"}
    path = world.foreign.on("/sidecar", allowed({"op": "add", "path": "/spec/containers/-", "value": sidecar}))
    world.mutating(hook("sidecar", world.foreign.client(path), rule("pods")))
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "main:1"}]}}
    made = world.sent("POST", world.pods, pod).body
    assert made["spec"]["containers"][1]["imagePullPolicy"] == "Always"
    world.foreign.on(path, allowed({"op": "add", "path": "/spec/containers/-", "value": {"name": "No Name"}}))
    refused = world.api.request("POST", world.pods, {**pod, "metadata": {"name": "q"}})
    assert (refused.code, refused.body["reason"]) == (422, "Invalid")
    assert "spec.containers[1].name" in message(refused)


def test_webhooks_are_called_by_the_names_of_their_configurations_and_see_each_others_changes(world: World) -> None:
    first = world.foreign.on("/one", allowed(labelled(last="one")))
    second = world.foreign.on("/two", allowed(labelled(last="two")))
    third = world.foreign.on("/three", allowed())
    world.mutating(hook("two", world.foreign.client(second)), hook("three", world.foreign.client(third)), name="b")
    world.mutating(hook("one", world.foreign.client(first)), name="a")
    assert world.configmap("c").body["metadata"]["labels"] == {"last": "two"}
    assert [path for path, _ in world.foreign.calls if not path.startswith("/heeded")] == [first, second, third]
    assert world.foreign.asked(second)[0]["object"]["metadata"]["labels"] == {"last": "one"}
    assert world.foreign.asked(third)[0]["object"]["metadata"]["labels"] == {"last": "two"}


@pytest.mark.parametrize(("policy", "times"), [("IfNeeded", 2), ("Never", 1)])
def test_a_webhook_that_wants_to_is_called_again_when_a_later_one_changes_the_object(
    world: World, policy: str, times: int
) -> None:
    first = world.foreign.on("/first", allowed())
    second = world.foreign.on("/second", allowed(labelled(late="yes")))
    world.mutating(
        hook("first", world.foreign.client(first), reinvocationPolicy=policy),
        hook("second", world.foreign.client(second), reinvocationPolicy="IfNeeded"),
    )
    assert world.configmap("c").code == 201
    assert len(world.foreign.asked(first)) == times
    # Its own change is no reason to call it again.
    assert len(world.foreign.asked(second)) == 1
    if times == 2:
        assert world.foreign.asked(first)[1]["object"]["metadata"]["labels"] == {"late": "yes"}


def test_built_in_admission_looks_again_at_what_a_webhook_made(world: World) -> None:
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]}
    world.sent("POST", f"{world.base}/limitranges", {"metadata": {"name": "l"}, "spec": limits})
    sidecar = {"name": "side", "image": "proxy:1"}
    path = world.foreign.on("/sidecar", allowed({"op": "add", "path": "/spec/containers/-", "value": sidecar}))
    world.mutating(hook("sidecar", world.foreign.client(path), rule("pods")))
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "main:1"}]}}
    made = world.sent("POST", world.pods, pod).body
    assert [each["resources"] for each in made["spec"]["containers"]] == [{"requests": {"cpu": "100m"}}] * 2


def test_a_patch_that_cannot_be_carried_out_fails_the_write(world: World) -> None:
    path = world.foreign.on("/broken", allowed({"op": "remove", "path": "/data/absent"}))
    world.mutating(hook("broken", world.foreign.client(path), failurePolicy="Ignore"))
    answer = world.configmap("c")
    assert answer.code == 500
    assert message(answer) == (
        'Internal error occurred: remove operation does not apply: doc is missing path: "/data/absent": missing value'
    )


# Refusing


def test_a_refusal_is_told_in_the_words_of_the_webhook(world: World) -> None:
    details = {"causes": [{"reason": "FieldValueInvalid", "message": "too blue", "field": "data.colour"}]}
    path = world.foreign.on("/no", denied("not today", code=422, reason="Invalid", details=details))
    world.validating(hook("no", world.foreign.client(path)))
    answer = world.configmap("c")
    assert answer.code == 422
    assert message(answer) == 'admission webhook "no.example.com" denied the request: not today'
    assert (answer.body["reason"], answer.body["details"]) == ("Invalid", details)
    assert world.api.request("GET", f"{world.configmaps}/c").code == 404


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        ({}, 400, "denied the request without explanation"),
        ({"reason": "Because"}, 400, "denied the request: Because"),
        ({"message": "no", "code": 200}, 400, "denied the request: no"),
        ({"message": "no", "code": 403}, 403, "denied the request: no"),
    ],
)
def test_a_refusal_that_says_little_is_still_a_refusal(world: World, status: Object, code: int, text: str) -> None:
    path = world.foreign.on("/no", denied(**status))
    world.mutating(hook("no", world.foreign.client(path)))
    answer = world.configmap("c")
    assert answer.code == code
    assert message(answer) == f'admission webhook "no.example.com" {text}'
    assert answer.body.get("reason", "") == status.get("reason", "")


def test_validating_webhooks_see_the_object_as_it_will_be_stored(world: World) -> None:
    label = world.foreign.on("/label", allowed(labelled(seen="yes")))
    judge = world.foreign.on("/judge", allowed())
    world.mutating(hook("label", world.foreign.client(label)))
    world.validating(hook("judge", world.foreign.client(judge)))
    stored = world.configmap("c").body
    seen = world.foreign.asked(judge)[0]["object"]
    assert seen["metadata"].pop("resourceVersion", None) is None
    del stored["metadata"]["resourceVersion"]
    assert seen == stored


def test_warnings_reach_the_client_whether_the_write_is_let_through_or_not(world: World) -> None:
    path = world.foreign.on("/warn", allowed(warnings=["mind the gap", "mind the gap", "and the door"]))
    judge = world.foreign.on("/judge", allowed())
    world.mutating(hook("warn", world.foreign.client(path)))
    world.validating(hook("judge", world.foreign.client(judge)))
    assert world.configmap("c").warnings == ["mind the gap", "and the door"]
    world.foreign.on(judge, denied("no"))
    refused = world.configmap("d")
    assert (refused.code, refused.warnings) == (400, ["mind the gap", "and the door"])


# Whom it concerns


def test_a_webhook_hears_of_objects_with_the_labels_it_asks_for_in_their_old_or_new_state(world: World) -> None:
    path = world.foreign.on("/judge", allowed())
    rules = rule("configmaps", "CREATE", "UPDATE", "DELETE")
    world.validating(hook("judge", world.foreign.client(path), rules, objectSelector={"matchLabels": {"watched": "y"}}))
    world.configmap("c")
    assert world.foreign.asked(path) == []
    here = f"{world.configmaps}/c"
    for labels, times in (({"watched": "y"}, 1), ({"watched": None}, 2), ({"other": "y"}, 2)):
        world.api.patch(here, "merge", {"metadata": {"labels": labels}})
        assert len(world.foreign.asked(path)) == times, labels
    world.sent("DELETE", here)
    assert len(world.foreign.asked(path)) == 2


def test_a_webhook_hears_of_namespaces_with_the_labels_it_asks_for(world: World) -> None:
    path = world.foreign.on("/judge", allowed())
    selector = {"matchLabels": {"hooked": f"{world.number}"}}
    rules = [
        rule("configmaps"),
        rule("namespaces", "CREATE", "UPDATE"),
        rule("clusterroles", group="rbac.authorization.k8s.io"),
    ]
    world.validating(hook("judge", world.foreign.client(path), *rules, namespaceSelector=selector))
    world.configmap("c")
    assert world.foreign.asked(path) == []
    # A namespace is judged by the labels it is about to have.
    world.api.patch(
        f"/api/v1/namespaces/{world.namespace}", "merge", {"metadata": {"labels": {"hooked": f"{world.number}"}}}
    )
    seen = world.foreign.asked(path)
    assert [(each["operation"], each["name"], each["namespace"]) for each in seen] == [
        ("UPDATE", world.namespace, world.namespace)
    ]
    # What is in no namespace is never left out.
    role = f"role-{world.number}"
    world.made("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": role}, "rules": []})
    assert [each["name"] for each in world.foreign.asked(path)[1:]] == [role]


def test_rules_tell_sub_resources_and_scopes_apart(world: World) -> None:
    plain = world.foreign.on("/plain", allowed())
    parts = world.foreign.on("/parts", allowed())
    cluster = world.foreign.on("/cluster", allowed())
    world.validating(
        hook("plain", world.foreign.client(plain), rule("*", "*", group="*", version="*", scope="Namespaced")),
        hook("parts", world.foreign.client(parts), rule("*/status", "UPDATE", group="*", version="*")),
        hook("cluster", world.foreign.client(cluster), rule("*/*", "*", group="*", version="*", scope="Cluster")),
    )
    budget = {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1}}
    budgets = f"/apis/policy/v1/namespaces/{world.namespace}/poddisruptionbudgets"
    world.sent("POST", budgets, budget)
    world.api.patch(f"{budgets}/b/status", "merge", {"status": {"disruptionsAllowed": 1}})
    assert [(each["operation"], each.get("subResource", "")) for each in world.foreign.asked(plain)] == [("CREATE", "")]
    assert [(each["operation"], each["subResource"]) for each in world.foreign.asked(parts)] == [("UPDATE", "status")]
    assert world.foreign.asked(cluster) == []


def test_a_rule_for_one_version_holds_for_its_equivalents_unless_it_is_meant_exactly(world: World) -> None:
    same = world.foreign.on("/same", allowed())
    exact = world.foreign.on("/exact", allowed())
    rules = rule("horizontalpodautoscalers", group="autoscaling", version="v2")
    world.validating(
        hook("same", world.foreign.client(same), rules),
        hook("exact", world.foreign.client(exact), rules, matchPolicy="Exact"),
    )
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 50,
    }
    path = f"/apis/autoscaling/v1/namespaces/{world.namespace}/horizontalpodautoscalers"
    world.sent("POST", path, {"metadata": {"name": "h"}, "spec": spec})
    assert world.foreign.asked(exact) == []
    seen = world.foreign.asked(same)[0]
    assert (seen["kind"]["version"], seen["requestKind"]["version"]) == ("v2", "v1")
    assert (seen["resource"]["version"], seen["requestResource"]["version"]) == ("v2", "v1")
    assert seen["object"]["apiVersion"] == "autoscaling/v2"
    assert seen["object"]["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50


def test_no_webhook_can_keep_people_from_changing_configurations(world: World) -> None:
    path = world.foreign.on("/never", denied("never"))
    selected = {"objectSelector": {"matchLabels": {"number": f"{world.number}"}}, "namespaceSelector": {}}
    name = world.validating(
        hook("never", world.foreign.client(path), rule("*", "*", group="*", version="*"), **selected)
    )
    here = f"{CONFIGURATIONS}/validatingwebhookconfigurations/{name}"
    assert world.api.patch(here, "merge", {"metadata": {"labels": {"number": f"{world.number}"}}}).code == 200
    assert world.configmap("c", labels={"number": f"{world.number}"}).code == 400


# What it is told


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


# Webhooks that fail


def failing(world: World, client: Object, **other: Any) -> tuple[Any, Any]:
    """The answers to a write while a webhook that cannot be asked must be, and while it need not be."""
    world.mutating(hook("must", client, rule("configmaps"), objectSelector={"matchLabels": {"must": "y"}}, **other))
    ignored = hook("may", client, rule("configmaps"), failurePolicy="Ignore", **other)
    world.validating(ignored | {"objectSelector": {"matchLabels": {"may": "y"}}})
    return world.configmap("must", labels={"must": "y"}), world.configmap("may", labels={"may": "y"})


def refusal(world: World, why: str, client: Object, seconds: int = 5) -> str:
    url = client["url"] if client["url"].count("/") > 2 else f"{client['url']}/"
    post = f'Post "{url}?timeout={seconds}s": ' if why[0] != "!" else ""
    return (
        'Internal error occurred: failed calling webhook "must.example.com": failed to call webhook: '
        f"{post}{why.lstrip('!')}"
    )


def test_a_webhook_that_is_late_fails_the_write_or_is_ignored_as_it_says(world: World) -> None:
    path = world.foreign.on("/slow", allowed())
    world.foreign.delays[path] = 1.5
    must, may = failing(world, world.foreign.client(path), timeoutSeconds=1)
    assert must.code == 500
    assert message(must) == refusal(world, "context deadline exceeded", world.foreign.client(path), 1)
    assert may.code == 201


def test_nobody_at_the_address(world: World) -> None:
    client = {"url": "https://127.0.0.1:9", "caBundle": base64.b64encode(world.foreign.authority).decode()}
    must, may = failing(world, client)
    assert must.code == 500
    assert message(must) == refusal(world, "dial tcp 127.0.0.1:9: connect: connection refused", client)
    assert may.code == 201


def test_a_certificate_of_another_authority(world: World, api_server: Any) -> None:
    client = world.foreign.client("/label", caBundle=base64.b64encode(api_server.ca.read_bytes()).decode())
    world.foreign.on("/label", allowed())
    must, may = failing(world, client)
    why = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert must.code == 500
    assert message(must).startswith(refusal(world, why, client))
    assert may.code == 201


def test_an_answer_that_is_an_error(world: World) -> None:
    client = world.foreign.client("/nowhere")
    must, may = failing(world, client)
    assert message(must) == refusal(world, "!the server could not find the requested resource", client)
    assert may.code == 201
    world.foreign.raw("/nowhere", lambda _: (500, b"out of order"))
    must = world.configmap("must", labels={"must": "y"})
    why = '!an error on the server ("out of order") has prevented the request from succeeding'
    assert message(must) == refusal(world, why, client)


@pytest.mark.parametrize(
    ("response", "why"),
    [
        ({"response": {"uid": "other", "allowed": True}}, 'expected response.uid="UID", got "other"'),
        ({"response": None}, "webhook response was absent"),
        (
            {"response": {"uid": "UID", "allowed": True, "patch": base64.b64encode(b"[]").decode()}},
            "webhook returned response.patch but not response.patchType",
        ),
        (
            {"response": {"uid": "UID", "allowed": True, "patchType": "JSONPatch"}},
            "webhook returned response.patchType but not response.patch",
        ),
    ],
)
def test_an_answer_to_another_question(world: World, response: Object, why: str) -> None:
    def answer(request: Object) -> Any:
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"} | response
        return 200, json.dumps(review).replace("UID", request["uid"]).encode()

    path = world.foreign.raw("/odd", answer)
    world.mutating(hook("odd", world.foreign.client(path)))
    got = world.configmap("c")
    uid = world.foreign.asked(path)[0]["uid"]
    assert message(got) == (
        'Internal error occurred: failed calling webhook "odd.example.com": received invalid webhook response: '
        + why.replace("UID", uid)
    )


def test_a_judge_may_not_change_anything(world: World) -> None:
    path = world.foreign.on("/label", allowed(labelled(seen="yes")))
    world.validating(hook("label", world.foreign.client(path)))
    assert message(world.configmap("c")) == (
        'Internal error occurred: failed calling webhook "label.example.com": received invalid webhook response: '
        "validating webhook may not return response.patch"
    )


def test_a_service_that_is_not_there(world: World) -> None:
    client = {"service": {"namespace": world.namespace, "name": "nobody", "path": "/x"}}
    world.mutating(hook("lost", client))
    got = world.configmap("c")
    assert got.code == 500
    assert message(got) == (
        'Internal error occurred: failed calling webhook "lost.example.com": failed to call webhook: '
        f'Post "https://nobody.{world.namespace}.svc:443/x?timeout=5s": service "nobody" not found'
    )


# While time passes


def test_an_object_that_moves_on_while_a_webhook_thinks_is_asked_about_again(world: World) -> None:
    """The webhook changes the object itself in the middle of its first answer."""
    here = f"{world.configmaps}/c"
    world.configmap("c")
    seen: list[Object] = []

    def meddle(request: Object) -> Object:
        data = request["object"]["data"]
        if "meddled" not in data and len(seen) == 0:
            seen.append(request)
            world.api.patch(here, "merge", {"data": {"meddled": "yes"}})
        return {"allowed": True}

    path = world.foreign.on("/meddle", meddle)
    world.validating(hook("meddle", world.foreign.client(path), rule("configmaps", "UPDATE")))
    answer = world.api.patch(here, "merge", {"data": {"a": "1"}})
    assert (answer.code, answer.body["data"]) == (200, {"a": "1", "meddled": "yes"})
    told = world.foreign.asked(path)
    assert told[-1]["object"]["data"] == {"a": "1", "meddled": "yes"}
    assert told[-1]["oldObject"]["data"] == {"meddled": "yes"}
