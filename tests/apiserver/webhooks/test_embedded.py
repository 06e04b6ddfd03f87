"""What the embedded server does in its own way: conditions, connections and many writes at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mooring.testing.homes import EMBEDDED, api_only
from tests.apiserver.webhooks.foreign import Foreign, allowed, denied, labelled
from tests.apiserver.webhooks.test_conversion import Widgets
from tests.apiserver.webhooks.world import CONFIGURATIONS, World, hook, rule, world_on

MAX_ANSWER_BYTES = 32 * 1024 * 1024


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with api_only(EMBEDDED, tmp_path_factory.mktemp("embedded")) as found:
        yield found


@pytest.fixture
def here(home: Any, foreign: Foreign) -> Iterator[World]:
    foreign.forget()
    with home.api() as api, world_on(api, foreign, EMBEDDED) as found:
        yield found


def test_a_webhook_is_called_only_where_its_conditions_hold(here: World) -> None:
    path = here.foreign.on("/no", denied("no"))
    conditions = [{"name": "asked", "expression": "object.metadata.name == 'asked'"}]
    body = hook("no", here.foreign.client(path), matchConditions=conditions, namespaceSelector=here.here())
    made = here.api.post(
        f"{CONFIGURATIONS}/validatingwebhookconfigurations", {"metadata": {"name": "conditions"}, "webhooks": [body]}
    )
    assert made.code == 201
    assert made.warnings == []
    try:
        assert here.configmap("c").code == 201
        assert here.configmap("asked").code == 400
    finally:
        here.api.delete(f"{CONFIGURATIONS}/validatingwebhookconfigurations/conditions")


def test_many_writes_at_once_share_connections_and_are_each_asked_about(here: World, home: Any) -> None:
    path = here.foreign.on("/label", allowed(labelled(seen="yes")))
    here.foreign.delays[path] = 0.05
    here.mutating(hook("label", here.foreign.client(path)))
    failed: list[Any] = []

    def write(start: int) -> None:
        with home.api() as api:
            for number in range(start, start + 5):
                made = api.post(here.configmaps, {"metadata": {"name": f"c{number}"}})
                if made.code != 201 or made.body["metadata"].get("labels") != {"seen": "yes"}:
                    failed.append(made.body)

    threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 100, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(here.foreign.asked(path)) == 100
    assert len(here.sent("GET", here.configmaps).body["items"]) == 100


def test_writers_of_one_object_never_lose_a_change_to_a_slow_webhook(here: World, home: Any) -> None:
    """Each adds a key of its own; every write is judged on what is there when it is made."""
    path = here.foreign.on("/judge", allowed())
    here.foreign.delays[path] = 0.01
    here.validating(hook("judge", here.foreign.client(path), rule("configmaps", "UPDATE")))
    here.configmap("c")
    codes: list[int] = []

    def write(number: int) -> None:
        with home.api() as api:
            codes.append(api.patch(f"{here.configmaps}/c", "merge", {"data": {f"k{number}": "x"}}).code)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [200] * 8
    assert len(here.sent("GET", f"{here.configmaps}/c").body["data"]) == 8
    told = here.foreign.asked(path)
    assert all(len(each["object"]["data"]) == len(each["oldObject"].get("data") or ()) + 1 for each in told)


def test_what_was_converted_is_remembered_until_it_changes(here: World) -> None:
    widgets = Widgets(here)
    kind = {"apiVersion": f"{widgets.group}/v2", "kind": "Widget"}
    for number in range(3):
        body = kind | {"metadata": {"name": f"w{number}"}, "spec": {"host": "h", "port": number}}
        here.sent("POST", widgets.at("v2"), body)
    before = widgets.calls()
    for _ in range(3):
        assert len(here.sent("GET", widgets.at("v1")).body["items"]) == 3
        assert widgets.spec("v1", "w1") == {"address": "h:1"}
    assert widgets.calls() == before + 1
    here.api.patch(widgets.at("v2", "w1"), "merge", {"spec": {"port": 9}})
    assert widgets.spec("v1", "w1") == {"address": "h:9"}
    assert widgets.calls() == before + 2


def test_an_answer_of_a_webhook_is_read_up_to_32_mebibytes(here: World) -> None:
    """A byte more and it is not kept in memory; the write fails as with any webhook that cannot be asked."""
    asked: list[Any] = []

    def answer(size: int) -> Callable[[Any], Any]:
        def padded(request: Any) -> tuple[int, bytes]:
            asked.append(request)
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
            answer = json.dumps(review | {"response": {"uid": request["uid"], "allowed": True}}).encode()
            return 200, answer.ljust(size)

        return padded

    path = here.foreign.raw("/large", answer(MAX_ANSWER_BYTES))
    here.validating(hook("large", here.foreign.client(path)))
    assert here.configmap("fits").code == 201
    here.foreign.raw(path, answer(MAX_ANSWER_BYTES + 1))
    refused = here.configmap("larger")
    assert refused.code == 500
    assert refused.body["message"].endswith(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
    assert len(asked) == 2
