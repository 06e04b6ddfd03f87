"""Webhooks as functions: what is asked, what is answered, and what an API server in the same process makes of it."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.admission.conversions import convert_review
from mooring.admission.diff import json_diff
from mooring.admission.reviews import BadReview
from mooring.client.inprocess import AsyncInProcess
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.patches import json_patch
from mooring.kube.patches.equality import same
from mooring.kube.status import ApiError
from mooring.registry import CheckedStorage, Registry
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.reads import named
from mooring.runtime.view import View
from mooring.runtime.webhooks.application import WebhookApplication
from mooring.runtime.webhooks.configuration import configurations, hook_entry
from mooring.runtime.webhooks.direct import install
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest
from mooring.runtime.webhooks.reviews import read_review, write_review
from mooring.runtime.webhooks.target import WebhookService, WebhookUrl
from mooring.testing.builders import node, pod
from mooring.testing.webhooks import admitted, answered, denied_because, patched_to, review
from mooring.workloads.kinds import NODE
from tests.runtime import sample
from tests.runtime.hooks import GADGETS, GUARD, SIDE, SIDECAR, gadget_definition, guard

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "/", "~1"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b/c", "d~e"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def config(name: str = "c", **data: str) -> Object:
    metadata = {"name": name, "namespace": "default", "labels": {"guarded": "yes"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


# Patches


@given(st.dictionaries(st.sampled_from(["a", "b/c"]), _values), st.dictionaries(st.sampled_from(["a", "b/c"]), _values))
def test_a_patch_makes_of_one_object_the_other(before: Object, after: Object) -> None:
    assert same(json_patch(before, json_diff(before, after)), after)


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ([1, 2], [0, 1, 2], [{"op": "add", "path": "/l/0", "value": 0}]),
        ([1, 2], [1, 2, 3], [{"op": "add", "path": "/l/2", "value": 3}]),
        ([1, 2, 3], [1, 3], [{"op": "remove", "path": "/l/1"}]),
        ([{"a": 1}], [{"a": 2}], [{"op": "replace", "path": "/l/0/a", "value": 2}]),
        ([1, 2], [1, 2], []),
        ([1], [True], [{"op": "replace", "path": "/l/0", "value": True}]),
    ],
)
def test_a_patch_says_no_more_than_it_must(before: list[Any], after: list[Any], patch: list[Object]) -> None:
    assert json_diff({"l": before}, {"l": after}) == patch


# Answers


def test_a_webhook_is_tested_as_a_table() -> None:
    made = patched_to(SIDECAR, review(pod("p", labels={"sidecar": "yes"})))
    assert [each["name"] for each in made["spec"]["containers"]] == ["side", "main"]
    assert admitted(GUARD, review(config(node="n")), node("n"))
    assert denied_because(GUARD, review(config(node="n"))) == "there is no node n; create it first"
    assert denied_because(GUARD, review(config(size="big"))) == (
        'ConfigMap "c" is invalid: data.size: Invalid value: "big": must be a number'
    )
    assert denied_because(GUARD, review(config(size="3"))) == ""


def test_the_kit_finds_a_webhook_that_changes_what_it_made_itself() -> None:
    def add(request: WebhookRequest, view: View) -> Admitted | Denied:
        found = request.object or {}
        return Admitted({**found, "data": {"count": found.get("data", {}).get("count", "") + "x"}})

    counting = Webhook("count.example.com", "mutating", add, (Rule("v1", "configmaps"),))
    with pytest.raises(AssertionError, match="does not leave alone what it made"):
        patched_to(counting, review(config()))


def sent(**request: Any) -> bytes:
    asked = {
        "uid": "u1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "userInfo": {"username": "me", "groups": ["a"]},
        "object": pod("p"),
        "oldObject": None,
        "dryRun": True,
        "options": {},
    }
    return json.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked | request}
    ).encode()


def test_a_review_is_read_and_answered_with_its_uid() -> None:
    uid, request = read_review(sent())
    assert (uid, request.api_version, request.kind, request.resource) == ("u1", "v1", "Pod", "pods")
    assert (request.user, request.groups, request.dry_run, request.object) == ("me", ("a",), True, pod("p"))
    response = json.loads(write_review(uid, request, SIDECAR.admit(request, View({}, {}, (), NOW))))["response"]
    assert (response["uid"], response["allowed"], response["patchType"]) == ("u1", True, "JSONPatch")
    assert json.loads(b64decode(response["patch"])) == [{"op": "add", "path": "/spec/containers/0", "value": SIDE}]


def test_a_refusal_is_a_status() -> None:
    uid, request = read_review(sent())
    response = json.loads(write_review(uid, request, Denied("no", warnings=("mind",))))["response"]
    assert response == {
        "uid": "u1",
        "allowed": False,
        "warnings": ["mind"],
        "status": {"status": "Failure", "message": "no", "reason": "Forbidden", "code": 403},
    }


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"\xff", sent().replace(b"AdmissionReview", b"Other"), sent(uid=3)]
)
def test_what_is_no_review_is_told_so(body: bytes) -> None:
    with pytest.raises(BadReview, match="body is"):
        read_review(body)


def test_a_conversion_review_converts_all_and_keeps_the_metadata() -> None:
    objects = [
        {"apiVersion": "hooks.example.com/v1", "kind": "Gadget", "metadata": {"name": n, "uid": n}, "spec": {"size": n}}
        for n in ("1x2", "3x4")
    ]
    body = {"request": {"uid": "u", "desiredAPIVersion": "hooks.example.com/v2", "objects": objects}}
    functions = {(GADGETS.group, GADGETS.kind): GADGETS.convert}
    made = json.loads(convert_review(json.dumps({"apiVersion": "x", "kind": "y"} | body).encode(), functions))[
        "response"
    ]
    assert made["result"] == {"status": "Success"}
    assert [each["spec"] for each in made["convertedObjects"]] == [{"width": 1, "height": 2}, {"width": 3, "height": 4}]
    assert [each["metadata"]["uid"] for each in made["convertedObjects"]] == ["1x2", "3x4"]
    failed = json.loads(convert_review(json.dumps({"apiVersion": "x", "kind": "y"} | body).encode(), {}))["response"]
    assert failed["result"] == {
        "status": "Failure",
        "message": "no conversion is registered for Gadget of hooks.example.com",
    }


# Configurations


def test_a_webhook_is_switched_by_its_own_word_or_by_its_name() -> None:
    assert SIDECAR.switch == "sidecar-webhook"
    named = Webhook("a.hooks.example.com", "validating", guard, GUARD.rules, switch="lab-webhook")
    assert named.switch == "lab-webhook"


def test_a_webhook_about_pods_is_narrowed_and_leaves_kube_system_alone() -> None:
    with pytest.raises(MooringError, match="would be asked about every pod"):
        Webhook("all.example.com", "mutating", SIDECAR.admit, (Rule("v1", "pods"),))
    entry = hook_entry(SIDECAR, {})
    assert entry["objectSelector"] == {"matchLabels": {"sidecar": "yes"}}
    assert entry["namespaceSelector"]["matchExpressions"] == [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
    ]
    assert hook_entry(GUARD, {})["namespaceSelector"] == {}


def test_configurations_name_every_webhook_once() -> None:
    made = configurations("mooring", (SIDECAR, GUARD), WebhookUrl("https://hooks:9443/"), "x")
    assert [(each["kind"], [hook["name"] for hook in each["webhooks"]]) for each in made] == [
        ("MutatingWebhookConfiguration", ["sidecar.hooks.example.com"]),
        ("ValidatingWebhookConfiguration", ["guard.hooks.example.com"]),
    ]
    client = made[0]["webhooks"][0]["clientConfig"]
    assert client == {"caBundle": "x", "url": "https://hooks:9443/admit/sidecar.hooks.example.com"}


def test_behind_a_service_a_configuration_names_it() -> None:
    target = WebhookService("apps", "hooks", 443)
    client = configurations("mooring", (SIDECAR,), target, "x")[0]["webhooks"][0]["clientConfig"]
    path = "/admit/sidecar.hooks.example.com"
    assert client == {"caBundle": "x", "service": {"namespace": "apps", "name": "hooks", "port": 443, "path": path}}
    assert target.names == ("hooks.apps.svc",)


# Called directly


def now() -> datetime:
    return NOW


@pytest.fixture
def registry() -> Registry:
    made = Registry(CheckedStorage(), now=NOW, seed=1)
    install(made, (SIDECAR, GUARD), clock=lambda: NOW, conversions=(GADGETS,))
    return made


def create(registry: Registry, obj: Object, **options: Any) -> Object:
    return registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=NOW, **options)


def test_a_registry_calls_the_functions_itself(registry: Registry) -> None:
    made = create(registry, pod("p", labels={"sidecar": "yes"}))
    assert [each["name"] for each in made["spec"]["containers"]] == ["side", "main"]
    # It went the way of everything that is written: defaults and all.
    assert made["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    plain = create(registry, pod("q"))
    assert [each["name"] for each in plain["spec"]["containers"]] == ["main"]
    system = create(registry, pod("r", namespace="kube-system", labels={"sidecar": "yes"}))
    assert [each["name"] for each in system["spec"]["containers"]] == ["main"]


def test_a_registry_tells_refusals_and_warnings_as_if_they_came_over_the_network(registry: Registry) -> None:
    with pytest.raises(ApiError) as refused:
        create(registry, config(node="n"))
    assert str(refused.value) == (
        'admission webhook "guard.hooks.example.com" denied the request: there is no node n; create it first'
    )
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    create(registry, node("n"))
    warnings: list[str] = []
    create(registry, config(node="n", colour="blue"), warnings=warnings)
    assert warnings == ["a colour is of no use"]
    with pytest.raises(ApiError) as invalid:
        create(registry, config("d", size="big"))
    assert (invalid.value.code, invalid.value.details["causes"][0]["field"]) == (422, "data.size")


def test_the_view_of_a_direct_webhook_is_up_to_date_at_every_write(registry: Registry) -> None:
    nodes = registry.resource("v1", "Node")
    for zone in ("a", "b"):
        create(registry, node(f"n-{zone}", labels={"zone": zone}))
        create(registry, config(f"in-{zone}", zone=zone))
    registry.patch(nodes, "", "n-a", "merge", {"metadata": {"labels": {"zone": "c"}}}, now=NOW)
    create(registry, config("in-c", zone="c"))
    registry.delete(nodes, "", "n-b", now=NOW)
    with pytest.raises(ApiError, match="no node is in zone b"):
        create(registry, config("again", zone="b"))
    registry.compact(registry.revision)
    create(registry, node("n-d", labels={"zone": "d"}))
    create(registry, config("in-d", zone="d"))


def test_a_kind_that_is_not_installed_fails_the_webhook_rather_than_look_empty(registry: Registry) -> None:
    gone = Webhook("gone.example.com", "validating", guard, GUARD.rules, reads=(NODE,))
    install(registry, (gone,), clock=lambda: NOW)
    registry.resources.remove(registry.resource("v1", "Node"))
    with pytest.raises(ApiError) as failed:
        create(registry, config(node="n"))
    assert failed.value.code == 500
    assert 'failed calling webhook "guard.hooks.example.com": v1/Node cannot be read' in str(failed.value)


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_function_that_fails_refuses_or_lets_pass_as_its_policy_says(
    registry: Registry, policy: Literal["Fail", "Ignore"], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: WebhookRequest, view: View) -> Admitted | Denied:
        raise KeyError("replicas")

    install(registry, (Webhook("b.example.com", "validating", broken, GUARD.rules, failure_policy=policy),), clock=now)
    if policy == "Ignore":
        create(registry, config("passed"))
    else:
        with pytest.raises(ApiError) as failed:
            create(registry, config("refused"))
        assert (failed.value.code, str(failed.value)) == (
            500,
            'Internal error occurred: failed calling webhook "b.example.com": it failed; the log of the API server '
            "says more",
        )
    assert [record.getMessage() for record in caplog.records] == ["webhook b.example.com failed: KeyError('replicas')"]


def test_a_registry_converts_by_the_function(registry: Registry) -> None:
    create(registry, gadget_definition())
    body = {"apiVersion": "hooks.example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": "2x3"}}
    create(registry, body)
    found = registry.get(registry.resource("hooks.example.com/v2", "Gadget"), "default", "g")
    assert found["spec"] == {"width": 2, "height": 3}


# Refusals for want of something


def stale(registry: Registry, *objects: Object) -> WebhookApplication:
    """A served webhook whose view has these objects and nothing that happened since."""
    store = Store(NODE)
    store.resync([store.read({**each, "metadata": {**each["metadata"], "uid": "u"}}) for each in objects], 1)
    return WebhookApplication((GUARD,), (), {NODE: store}, AsyncInProcess(registry, lambda: NOW), lambda: NOW)


@pytest.mark.parametrize("data", [{"node": "n"}, {"zone": "a"}])
def test_a_refusal_for_want_of_something_is_checked_on_live_reads(data: dict[str, str]) -> None:
    registry = Registry(now=NOW, seed=1)
    application = stale(registry, node("other"))
    refused = asyncio.run(application.decide(GUARD, review(config(**data))))
    assert isinstance(refused, Denied)
    create(registry, node("n", labels={"zone": "a"}))
    assert isinstance(asyncio.run(application.decide(GUARD, review(config(**data)))), Admitted)


def test_what_is_refused_for_another_reason_is_not_looked_up() -> None:
    class Untouched(AsyncInProcess):
        async def get(
            self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
        ) -> Object:
            raise AssertionError("nothing is to be read")

    registry = Registry(now=NOW, seed=1)
    store = Store(NODE)
    store.resync((), 1)
    application = WebhookApplication((GUARD,), (), {NODE: store}, Untouched(registry, lambda: NOW), lambda: NOW)
    assert isinstance(asyncio.run(application.decide(GUARD, review(config(size="big")))), Denied)


# Kinds that are read by name


def fits_the_limit(request: WebhookRequest, view: View) -> Admitted | Denied:
    limit = view.get(CONFIG_MAP, request.namespace, "limit")
    if limit is None:
        return Denied("there is no limit yet")
    return Admitted(warnings=(f"the limit is {limit.data['pods']}",))


CONFIG_MAP = named(sample.CONFIG_MAP)
LIMITED = Webhook(
    "limit.hooks.example.com",
    "validating",
    fits_the_limit,
    (Rule("v1", "pods"),),
    reads=(CONFIG_MAP,),
    object_selector={"matchLabels": {"limited": "yes"}},
)
LIMIT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limit", "namespace": "default"},
    "data": {"pods": "3"},
}


def test_an_object_is_read_by_name_at_the_moment_that_it_is_asked_for(registry: Registry) -> None:
    asked = review(pod("p", labels={"limited": "yes"}))
    told = Admitted(warnings=("the limit is 3",))
    served = WebhookApplication((LIMITED,), (), {}, AsyncInProcess(registry, now), now)
    assert denied_because(LIMITED, asked) == "there is no limit yet"
    assert isinstance(asyncio.run(served.decide(LIMITED, asked)), Denied)
    create(registry, LIMIT)
    assert answered(LIMITED, asked, LIMIT) == told
    assert asyncio.run(served.decide(LIMITED, asked)) == told


def test_a_registry_reads_by_name_too(registry: Registry) -> None:
    install(registry, [LIMITED], clock=now)
    with pytest.raises(ApiError, match="there is no limit yet"):
        create(registry, pod("p", labels={"limited": "yes"}))
    create(registry, LIMIT)
    warnings: list[str] = []
    create(registry, pod("p", labels={"limited": "yes"}), warnings=warnings)
    assert warnings == ["the limit is 3"]


# The page about it


def test_the_page_shows_the_webhook_that_the_tests_run() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/webhooks.md").read_text(encoding="utf-8")
    code = (root / "tests/runtime/hooks.py").read_text(encoding="utf-8")
    for start, end in (("def put_sidecar", "\n\n\ndef guard"), ("SIDECAR = Webhook", "\nGUARD")):
        assert code[code.index(start) : code.index(end)] in page
