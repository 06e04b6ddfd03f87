"""The metrics of a deployment: of every pod that is ready, or a sentence that says why there are none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.client.transport import Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.runway.operations.metrics import DeploymentMetrics, deployment_metrics
from mooring.testing.builders import pod
from tests.runway.operations.api import SmallApi
from tests.runway.operations.test_operations import manifests


class ServingPods(SmallApi):
    """`answers` are what pods say at /metrics, by name."""

    def __init__(self, answers: dict[str, str | Exception], *pods: Object) -> None:
        super().__init__(*manifests("phi"), *pods)
        self.answers = answers
        self.asked: list[tuple[str, int, str]] = []

    async def proxied(self, namespace: str, pod: str, port: int, path: str, most_bytes: int) -> str:
        self.asked.append((pod, port, path))
        found = self.answers[pod]
        if isinstance(found, Exception):
            raise found
        return found


def served(name: str, *ports: Any, ready: bool = True) -> Object:
    made = pod(name, labels={"kaito.sh/workspace": "phi"}, node="n")
    made["spec"]["containers"][0]["ports"] = list(ports)
    made["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}]}
    return made


def metrics(api: ServingPods) -> DeploymentMetrics:
    return asyncio.run(deployment_metrics(api, "phi", "kaito"))


HTTP = {"containerPort": 8000}


def test_every_ready_pod_is_asked_and_named() -> None:
    answers: dict[str, str | Exception] = {"phi-0": "up 1", "phi-1": 'up{pod="own"} 2'}
    api = ServingPods(answers, served("phi-0", HTTP), served("phi-1", HTTP), served("phi-2", HTTP, ready=False))
    found = metrics(api)
    assert [each.line for each in found.samples] == ['up{pod="phi-0"} 1.0', 'up{exported_pod="own",pod="phi-1"} 2.0']
    assert (found.problem, api.asked) == ("", [("phi-0", 8000, "metrics"), ("phi-1", 8000, "metrics")])


def test_a_port_called_metrics_goes_before_others() -> None:
    api = ServingPods({"phi-0": "up 1"}, served("phi-0", HTTP, {"name": "metrics", "containerPort": 9090}))
    metrics(api)
    assert api.asked == [("phi-0", 9090, "metrics")]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (ForbiddenError("pods/proxy is forbidden"), "pod phi-0 gives no metrics at port 8000: pods/proxy is forbidden"),
        (MooringError("it did not answer in 10 s"), "at port 8000: it did not answer in 10 s"),
        ("<html>", "at port 8000: line 1 is no metric in Prometheus' text form: <html>"),
        ("", "at port 8000: its answer is empty"),
    ],
)
def test_what_keeps_a_pod_from_being_read_is_told(answer: str | Exception, sentence: str) -> None:
    found = metrics(ServingPods({"phi-0": answer}, served("phi-0", HTTP)))
    assert found.samples == []
    assert sentence in found.problem


def test_pods_that_answer_are_shown_beside_one_that_does_not() -> None:
    answers: dict[str, str | Exception] = {"phi-0": "up 1", "phi-1": MooringError("it did not answer in 10 s")}
    found = metrics(ServingPods(answers, served("phi-0", HTTP), served("phi-1", HTTP)))
    assert (len(found.samples), "pod phi-1" in found.problem) == (1, True)


def test_without_a_ready_pod_or_a_port_there_are_none() -> None:
    assert metrics(ServingPods({}, served("phi-0", HTTP, ready=False))).problem.startswith(
        "no pod of deployment phi is ready"
    )
    assert "name no port" in metrics(ServingPods({}, served("phi-0"))).problem


def test_an_api_server_that_is_away_is_an_error_of_its_own() -> None:
    with pytest.raises(Unreachable):
        metrics(ServingPods({"phi-0": Unreachable("away")}, served("phi-0", HTTP)))
