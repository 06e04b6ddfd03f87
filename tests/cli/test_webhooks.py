"""Our webhooks as commands run them: `mooring up` calls them itself, `mooring run` serves them to any API server."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from mooring.builtin.feature import CONTROL_PLANE
from mooring.catalog import CATALOG
from mooring.cli.main import cli
from mooring.nodes.feature import NODES
from mooring.supervisor import selection
from mooring.supervisor.external.webhooks import WebhookServing, parse_service, parse_url
from mooring.testing.builders import node, pod
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from mooring.testing.http import Answer, Api
from mooring.testing.processes import ProgramProcess, free_port
from tests.cli.embedded import eventually
from tests.cli.served import served
from tests.runtime.hooks import HOOKS, SIDECAR, gadget_definition

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HOOKED = [sys.executable, "-m", "tests.cli.hooked"]
ROOT = Path(__file__).parents[2]
SECONDS = 30.0


class Story:
    """What a user of the cluster does and sees."""

    def __init__(self, api: Api) -> None:
        self.api = api
        # A bare API server lacks the controller that makes them.
        for namespace in ("default", "kube-system"):
            account = {"metadata": {"name": "default"}, "automountServiceAccountToken": False}
            api.post(f"/api/v1/namespaces/{namespace}/serviceaccounts", account)

    def containers(self, namespace: str = "default", **labels: str) -> list[str]:
        made = pod(f"p{time.monotonic_ns()}", namespace=namespace, labels=labels)
        answer = self.api.post(f"/api/v1/namespaces/{namespace}/pods", made, dryRun="All")
        assert answer.code == 201, answer.body
        return [each["name"] for each in answer.body["spec"]["containers"]]

    def config(self, **data: str) -> Answer:
        body = {"metadata": {"name": f"c{time.monotonic_ns()}", "labels": {"guarded": "yes"}}, "data": data}
        return self.api.post("/api/v1/namespaces/default/configmaps", body)

    def are_heard(self) -> bool:
        return "side" in self.containers(sidecar="yes") and self.config(size="much").code == 422


def meets_both_webhooks(story: Story) -> None:
    assert story.containers(sidecar="yes")[0] == "side"
    assert "side" not in story.containers()
    assert "side" not in story.containers("kube-system", sidecar="yes")
    refused = story.config(size="much")
    assert (refused.code, refused.body["details"]["causes"][0]["field"]) == (422, "data.size")
    # A node that is made, and named a moment later, is there.
    name = f"late-{time.monotonic_ns()}"
    assert story.config(node=name).code == 403
    assert story.api.post("/api/v1/nodes", node(name)).code == 201
    assert story.config(node=name).code == 201


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["run", *arguments])


@pytest.fixture
def hooked(monkeypatch: pytest.MonkeyPatch) -> None:
    # The flags of a command are those of the catalog at the moment that it is first loaded.
    cli.get_command(click.Context(cli), "run")
    monkeypatch.setattr(CATALOG, "features", (CONTROL_PLANE, NODES, HOOKS))


# Choosing


def test_every_webhook_is_known_by_the_word_that_switches_it() -> None:
    assert tuple(dict.fromkeys(webhook.switch for webhook in CATALOG.webhooks())) == CATALOG.webhook_names
    assert not set(CATALOG.webhook_names) & set(CATALOG.controller_names)


@pytest.mark.usefixtures("hooked")
def test_webhooks_are_listed_with_the_controllers() -> None:
    lines = invoke("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines if "-webhook" in line] == ["sidecar-webhook", "guard-webhook"]


@pytest.mark.usefixtures("hooked")
def test_a_webhook_is_chosen_like_a_controller() -> None:
    assert selection.select_controllers("guard-webhook,nodes") == ("nodes", "guard-webhook")
    assert "guard-webhook" not in selection.select_controllers("-guard-webhook")
    assert "sidecar-webhook" in selection.select_controllers("-guard-webhook")


@pytest.mark.usefixtures("hooked")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--webhook-url", "http://here:1"), "--webhook-url: http://here:1 cannot be the URL of webhooks"),
        (("--webhook-url", "https://here:1/path"), "--webhook-url: https://here:1/path must be https://HOST:PORT"),
        (("--webhook-url", "https://here:port"), "--webhook-url: https://here:port is no URL"),
        (("--webhook-url", "https://here:1", "--controllers", "nodes"), "--webhook-url https://here:1: no webhook is"),
        (("--controllers", "guard-webhook"), "guard-webhook cannot be served without --webhook-url https://HOST:PORT"),
        (("--webhook-certificates", "d"), "--webhook-certificates is of no use without --webhook-url"),
        (("--webhook-secret", "s"), "--webhook-secret is of no use without --webhook-url or --webhook-service"),
        (("--webhook-url", "https://here:1", "--webhook-service", "s"), "--webhook-url and --webhook-service are two"),
        (("--webhook-service", "s:0"), '--webhook-service "s:0" is not NAME:PORT of a Service'),
        (("--webhook-service", "s", "--webhook-secret", "s", "--webhook-certificates", "d"), "--webhook-certificates"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], problem: str) -> None:
    result = invoke("--controllers", "nodes,guard-webhook", *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {problem}"), result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_without_a_url_one_line_says_that_webhooks_are_off(tmp_path: Path) -> None:
    with served(tmp_path) as cluster:
        chosen = ("--controllers", "nodes,guard-webhook", "--no-leader-elect")
        command = [*HOOKED, "run", "--kubeconfig", cluster.kubeconfig(), *chosen]
        process = ProgramProcess(command, tmp_path / "run.log", {"PYTHONPATH": str(ROOT)})
        off = "webhooks are off (guard-webhook); --webhook-url https://HOST:PORT serves them"
        try:
            process.wait_until(lambda: off in process.tail() and "nodes on http://" in process.tail(), SECONDS)
        finally:
            process.stop()
        assert process.tail().count("webhooks are off") == 1


# mooring up


@contextmanager
def up(folder: Path, *arguments: str) -> Iterator[Home]:
    command = [*HOOKED, "up", "--data", str(folder), "--bind", "127.0.0.1:0", *arguments]
    process = ProgramProcess(command, folder / "up.log", {"PYTHONPATH": str(ROOT)})
    try:
        process.wait_until(lambda: "export KUBECONFIG=" in process.tail(), SECONDS)
        yield _home(folder)
    finally:
        process.stop()


def _home(folder: Path) -> Home:
    from mooring.testing.homes import _home_of

    return _home_of(folder / "kubeconfig", folder)


def test_up_calls_our_webhooks_directly(tmp_path: Path) -> None:
    with up(tmp_path, "--controllers", "*") as home, home.api() as api:
        meets_both_webhooks(Story(api))
        assert api.get(f"{CONFIGURATIONS}/mutatingwebhookconfigurations").body["items"] == []
        _is_converted(api)


def test_up_without_a_webhook_does_not_call_it(tmp_path: Path) -> None:
    with up(tmp_path, "--controllers", "-sidecar-webhook") as home, home.api() as api:
        story = Story(api)
        assert "side" not in story.containers(sidecar="yes")
        assert story.config(size="much").code == 422


# mooring run


@contextmanager
def run(home: Home, folder: Path, *arguments: str) -> Iterator[ProgramProcess]:
    url = f"https://127.0.0.1:{free_port()}"
    command = [*HOOKED, "run", "--kubeconfig", str(home.kubeconfig), "--webhook-url", url, *arguments]
    folder.mkdir(exist_ok=True)
    process = ProgramProcess(command, folder / "run.log", {"PYTHONPATH": str(ROOT)})
    try:
        yield process
        assert process.stop() == 0, process.tail()
        assert "Traceback" not in process.tail()
    finally:
        process.kill()
        with home.api() as api:
            for kind in ("mutating", "validating"):
                api.delete(f"{CONFIGURATIONS}/{kind}webhookconfigurations/mooring")
            api.delete(f"{DEFINITIONS}/gadgets.hooks.example.com")


def soon(what: Callable[[], bool]) -> None:
    eventually(lambda: what() or None, "the API server calls the webhooks")


def test_run_serves_our_webhooks_to_any_api_server(api_server: Home, tmp_path: Path) -> None:
    with api_server.api() as api, run(api_server, tmp_path, "--controllers", "sidecar-webhook,guard-webhook"):
        story = Story(api)
        soon(story.are_heard)
        meets_both_webhooks(story)
        _is_converted(api)


def test_run_serves_one_webhook_beside_controllers(api_server: Home, tmp_path: Path) -> None:
    chosen = ("--controllers", "nodes,sidecar-webhook", "--no-leader-elect")
    kept = tmp_path / "certificates"
    with api_server.api() as api, run(api_server, tmp_path, *chosen, "--webhook-certificates", str(kept)):
        story = Story(api)
        soon(lambda: "side" in story.containers(sidecar="yes"))
        assert story.config(size="much").code == 201
        assert api.get(f"{CONFIGURATIONS}/validatingwebhookconfigurations/mooring").code == 404
        assert list(kept.iterdir())


def _is_converted(api: Api) -> None:
    """A gadget that is written in one version is read in the other."""
    assert api.post(DEFINITIONS, gadget_definition()).code == 201
    group = "/apis/hooks.example.com"
    body = {"apiVersion": "hooks.example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": "3x4"}}

    def is_made() -> bool:
        return api.post(f"{group}/v1/namespaces/default/gadgets", body).code in (201, 409)

    eventually(lambda: is_made() or None, "a gadget")
    assert api.get(f"{group}/v2/namespaces/default/gadgets/g").body["spec"] == {"width": 3, "height": 4}


# Where it listens


@pytest.mark.parametrize(
    ("url", "listen"),
    [
        ("https://127.0.0.1:9443", ("127.0.0.1", 9443)),
        ("https://localhost:9443", ("localhost", 9443)),
        ("https://[::1]:9443", ("::1", 9443)),
        ("https://mooring.apps.svc", ("0.0.0.0", 443)),
        ("https://10.0.0.7:9443", ("0.0.0.0", 9443)),
        ("https://[2001:db8::7]:9443", ("::", 9443)),
    ],
)
def test_it_listens_for_the_url_where_others_can_reach_it(url: str, listen: tuple[str, int], tmp_path: Path) -> None:
    assert WebhookServing((SIDECAR,), (), parse_url(url), tmp_path).listen == listen


def test_behind_a_service_it_listens_everywhere(tmp_path: Path) -> None:
    target = parse_service("mooring-webhooks", "apps")
    assert target == ("apps", "mooring-webhooks", 443)
    assert WebhookServing((SIDECAR,), (), target, "tls").listen == ("0.0.0.0", 9443)
    assert WebhookServing((SIDECAR,), (), target, "tls", port=7).listen == ("0.0.0.0", 7)
