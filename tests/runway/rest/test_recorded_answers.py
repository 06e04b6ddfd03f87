"""What every route answers in a cluster with something of everything: to an administrator, a reader and to nobody."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from mooring.runway.rest.route_table import ROUTES
from mooring.testing.fixtures import running
from mooring.testing.homes import EMBEDDED, api_only
from tests.runway.rest.serving import USERS, Rest, RestClient, eventually, furnish, rest
from tests.runway.rest.town import settle_in, settled
from tests.support.golden import recorded, same_as_recorded

NAME: Final = "runway-rest"
# How long a mirror may take to see a write.
PATIENCE_SECONDS: Final = 3.0
FORM: Final = {"name": "phi", "modelId": "phi-4", "namespace": "default", "labelSelector": {"apps": "llm"}}
LARGE: Final = {**FORM, "name": "large", "nodes": 2, "resources": {"gpu": 8}}
POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "small"},
    "spec": {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
}


class Step(NamedTuple):
    method: str
    path: str
    body: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}{'' if self.body is None else f' {json.dumps(self.body, sort_keys=True)}'}"


def get(*paths: str) -> tuple[Step, ...]:
    return tuple(Step("GET", f"/api/{path}") for path in paths)


def post(path: str, *bodies: Any) -> tuple[Step, ...]:
    return tuple(Step("POST", f"/api/{path}", body) for body in bodies or (None,))


def write(verb: str, kind: str, name: str, **parts: Any) -> Any:
    version = "apps/v1" if kind == "Deployment" else "v1"
    return {"verb": verb, "apiVersion": version, "kind": kind, "namespace": "default", "name": name, **parts}


THREE: Final = [{"op": "replace", "path": "/spec/replicas", "value": 3}]
WORKLOADS: Final = (
    "Deployment/default/web",
    "Workspace/default/llm",
    "LeaderWorkerSet/default/serve",
    "Pod/default/giant",
)
LOOKS: Final = (
    *get(*(each.path.removeprefix("/api/") for each in ROUTES if each.method == "GET" and "{" not in each.path)),
    *get(*(f"workloads/{each}" for each in (*WORKLOADS, "Pod/default/none", "Secret/default/hub", "Pod/No/x"))),
    *get("nodes/gpu-1", "nodes/gpu-2", "nodes/cpu-1", "nodes/gpu-11", "notebooks/default/train", "notebooks/default/x"),
    *get("models/phi-4", "models/microsoft/phi-4", "models/none", "settings/providers/kaito", "settings/providers/x"),
    *get("deployments?limit=1", "deployments?limit=1&offset=1", "deployments?limit=0", "deployments?offset=x"),
    *get("deployments?namespace=no", "deployments/llm", "deployments/llm/pods", "deployments/llm/manifest"),
    *get("deployments/llm/pending-reasons", "deployments/serve", "deployments/none"),
    *get("deployments/serve/pending-reasons", "deployments/serve/metrics", "deployments/llm?namespace=no"),
    *get("workloads/Deployment/default/web/logs?pod=x", "workloads/Pod/default/giant/logs?tailLines=0"),
    *get("events?kind=Pod", "events?namespace=other", "events?name=web", "stream?topics=x", "nowhere", "models/"),
    *get("installation/providers/kaito/status", "installation/providers/kaito/commands"),
    *get("installation/providers/mooring/status", "installation/gpu-operator/status"),
    *post("explain", *(dict(zip(("kind", "namespace", "name"), each.split("/"), strict=True)) for each in WORKLOADS)),
    *post("explain", {"manifest": POD}, {"manifest": {**POD, "kind": ""}}, {"manifest": POD, "kind": "Pod"}),
    *post("explain", {}, [], "x"),
    *post("explain", {"kind": "Pod", "name": "gaint"}, {"manifest": {**POD, "metadata": []}}, {"kind": 1}),
    *post("plan", {"manifests": [POD]}, {"manifests": []}, {"manifests": [{"kind": "Pod"}]}, {}, {"manifests": "x"}),
    *post("deployments/preview", FORM, LARGE, {**FORM, "name": "X"}, {**FORM, "gpu": 1}, [], {}),
    *post("deployments/fit", FORM, LARGE, {**FORM, "labelSelector": {"apps": "none"}}, {**FORM, "replicas": 11}),
    *post("deployments/fit?advice=false", LARGE),
)  # fmt: skip
CHANGES: Final = (
    *post("deployments", FORM, FORM, {**FORM, "name": "no!"}),
    *get("deployments/phi", "deployments/phi/manifest", "deployments/phi/logs"),
    Step("DELETE", "/api/deployments/phi?namespace=default"),
    Step("DELETE", "/api/deployments/phi"),
    *post("installation/providers/mooring/install", None),
    *post("installation/providers/kaito/install", None),
    *post("installation/providers/kaito/install", None),
    *post("installation/providers/kaito/rollback", {"revision": 2}, {"revision": 0}, {}),
    *post("installation/providers/kaito/upgrade", None),
    *post("installation/providers/kaito/cancel", None),
    *post("installation/providers/kaito/install?force=true", None),
    *post("installation/providers/kaito/uninstall-crds", None),
    *post("installation/providers/kaito/uninstall", None),
    *post("installation/providers/kaito/uninstall", None),
    *post("installation/providers/kaito/cancel", None),
    *post("installation/providers/mooring/upgrade", None),
    *post("installation/providers/none/install", None),
    *post("installation/gpu-operator/install", None),
    *post("installation/gpu-operator/cancel", None),
    *get("installation/gpu-operator/status"),
    *post("apply", {"writes": []}, {"writes": [write("patch", "Secret", "hub", patch=[])]}),
    *post("apply", *({"writes": [write("scale", "Deployment", each, patch=THREE)]} for each in ("web", "none"))),
    *post("apply", {"writes": [write("none", "Deployment", "web")]}),
    Step("DELETE", "/api/workloads/Pod/default/done?uid=other"),
    Step("DELETE", "/api/workloads/Pod/default/none"),
    Step("DELETE", "/api/workloads/Deployment/default/web"),
    Step("PUT", "/api/settings", {"defaultNamespace": "models"}),
    Step("PUT", "/api/settings", {"defaultNamespace": "No!"}),
    *get("settings"),
    Step("DELETE", "/api/nodes"),
)  # fmt: skip
# Answers that are another one every time, or none at all.
VARYING: Final = ("/api/health", "/api/openapi.json")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    for home in running(api_only(EMBEDDED, tmp_path_factory.mktemp("town"), USERS)):
        with home.api() as api, rest(home) as found:
            furnish(api)
            settle_in(api)
            yield _seen(found)


def _seen(town: Rest) -> Rest:
    admin = town.admin
    eventually(lambda: len(admin.get("/api/events")["events"]) == 3, "the events are seen")
    eventually(lambda: len(admin.get("/api/workloads")["workloads"]) > 5, "the workloads are seen")
    return town


def answer(client: RestClient, step: Step, url: str) -> str:
    code, body = client.ask(*step)
    return f"{code}\n{json.dumps(settled(body, url), indent=0, sort_keys=True)}"


def test_every_route_answers_as_recorded(town: Rest) -> None:
    updates = bool(os.environ.get("MOORING_UPDATE_GOLDEN"))
    expected = {} if updates else recorded(NAME)
    found: dict[str, str] = {}
    seen_late = updates

    def ask(who: str, client: RestClient, step: Step, number: int) -> None:
        nonlocal seen_late
        case = f"{number} {who}: {step}"
        if updates and step.method == "GET":
            time.sleep(0.1)
        found[case] = answer(client, step, town.home.url)
        if step.method != "GET":
            return
        end = time.monotonic() + PATIENCE_SECONDS
        while found[case] != expected.get(case, "") and time.monotonic() < end and not seen_late:
            time.sleep(0.1)
            found[case] = answer(client, step, town.home.url)
        # What never comes is waited for once.
        seen_late = seen_late or found[case] != expected.get(case)

    admin, reader, nobody = town.admin, town.reader, town.nobody
    steps = [each for each in (*LOOKS, *CHANGES) if each.path not in VARYING]
    for number, step in enumerate(steps):
        ask("admin", admin, step, number)
    for who, client in (("nobody", nobody), ("without a token", town.client("")), ("reader", reader)):
        for number, step in enumerate(LOOKS[: len(ROUTES)]):
            if step.path not in VARYING:
                ask(who, client, step, number)
    for number, step in enumerate(CHANGES):
        ask("reader", reader, step, number)
    same_as_recorded(NAME, found)


def test_no_answer_has_a_secret() -> None:
    assert not [case for case, told in recorded(NAME).items() if "hf_secret" in told]
