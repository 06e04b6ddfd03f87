"""The write that a webhook is asked about, as typed views."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import WebhookRequest
from mooring.workloads.kinds import NODE


def named(name: str, **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels}}


def test_an_update_shows_the_object_as_it_will_be_and_as_it_was() -> None:
    request = WebhookRequest("UPDATE", "v1", "Node", "nodes", "a", object=named("a", b="new"), old_object=named("a"))
    new, old = request.typed(NODE), request.old_typed(NODE)
    assert new is not None
    assert old is not None
    assert (new.metadata.labels, old.metadata.labels) == ({"b": "new"}, {})


def test_a_creation_has_nothing_before_it_and_a_deletion_nothing_after() -> None:
    made = WebhookRequest("CREATE", "v1", "Node", "nodes", "a", object=named("a"))
    assert made.typed(NODE) is not None
    assert made.old_typed(NODE) is None
    gone = WebhookRequest("DELETE", "v1", "Node", "nodes", "a", old_object=named("a"))
    assert gone.typed(NODE) is None
    assert gone.old_typed(NODE) is not None


def test_an_object_whose_name_is_still_to_be_generated_has_an_empty_one() -> None:
    request = WebhookRequest("CREATE", "v1", "Node", "nodes", "", object={"metadata": {"generateName": "a-"}})
    typed = request.typed(NODE)
    assert typed is not None
    assert typed.metadata.name == ""
