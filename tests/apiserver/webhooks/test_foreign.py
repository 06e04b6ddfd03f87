"""What a foreign webhook can do to a write, told once and true of both API servers."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from tests.apiserver.webhooks.foreign import allowed, denied, labelled
from tests.apiserver.webhooks.world import CONFIGURATIONS, World, hook, message, rule

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
