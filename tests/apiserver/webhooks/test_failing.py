"""What becomes of a write when a foreign webhook fails, the same on both API servers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.apiserver.webhooks.foreign import allowed, labelled
from tests.apiserver.webhooks.world import World, hook, message, rule


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
