"""Workspaces on nodes that people bring, as they have them: refusals with numbers and names, and what comes later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mooring.features.workspaces.api import OLD_API_VERSION
from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED, HOMES, REAL, Home
from mooring.testing.tools import ToolMissing
from tests.e2e.workspaces import Site, beside, control_plane, embedded
from tests.features.workspaces.objects import workspace

pytestmark = pytest.mark.slow

A100 = "Standard_NC24ads_A100_v4"


@pytest.fixture(scope="module", params=HOMES)
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home | Path]:
    """A control plane that stays while modes change, or a folder for embedded clusters, one for each."""
    folder = tmp_path_factory.mktemp(f"{request.param}-workspaces")
    if request.param != REAL:
        yield folder
        return
    try:
        with control_plane(folder) as home:
            yield home
    except ToolMissing as error:
        missing(error)


@pytest.fixture(scope="module")
def home(request: pytest.FixtureRequest, ground: Home | Path) -> Iterator[Home]:
    mode: str = request.param
    started: AbstractContextManager[Home]
    started = beside(ground, mode) if isinstance(ground, Home) else embedded(ground / mode, mode)
    with started as running:
        yield running


@pytest.fixture
def site(home: Home, request: pytest.FixtureRequest) -> Iterator[Site]:
    with home.api() as api:
        site = Site(home, api, f"t{abs(hash(request.node.name)) % 10**8}")
        yield site
        site.close()


brought = pytest.mark.parametrize("home", ["brought"], indirect=True)
patient = pytest.mark.parametrize("home", ["patient"], indirect=True)
provisioned = pytest.mark.parametrize("home", ["provisioned"], indirect=True)


@brought
def test_without_nodes_it_is_refused_and_the_nearest_label_is_named(site: Site) -> None:
    site.brings("n0", pool=f"{site.name}-x")
    for image in ("", "serve:1"):
        answer = site.asks(image=image)
        assert answer.code == 422
        assert f"the nearest label is pool={site.name}-x on {site.node('n0')}" in answer.body["message"]
    assert not site.all("StatefulSet")


@brought
def test_too_few_nodes_are_refused_with_both_numbers_and_one_more_is_enough(site: Site) -> None:
    site.brings("n0")
    site.brings("n1", pool="")
    answer = site.asks(count=2)
    assert answer.code == 422
    (cause,) = answer.body["details"]["causes"]
    assert cause["field"] == "resource.count"
    assert cause["message"].startswith("Invalid value: 1 nodes match the label selector, 2 are required (count is 2)")
    site.labels("n1", site.name)
    site.done(site.asks(count=2))
    site.succeeds()
    assert site.placed() == {"n0", "n1"}
    assert {each["metadata"]["name"] for each in site.all("Service")} == {"chat", "chat-headless"}


@brought
def test_nodes_that_are_not_ready_are_refused_by_name(site: Site) -> None:
    site.brings("n0")
    site.brings("n1", ready=False)
    answer = site.asks(count=2)
    assert answer.code == 422
    assert "1 of 2 matching nodes are ready, 2 are required (count is 2)" in answer.body["message"]
    assert f"{site.node('n1')} is not ready (KubeletNotReady)" in answer.body["message"]


@brought
def test_of_more_nodes_than_are_needed_the_scheduler_takes_any(site: Site) -> None:
    site.brings("n0", "n1", "n2")
    site.done(site.asks(count=2))
    site.succeeds()
    assert len(site.placed() & {"n0", "n1", "n2"}) == 2
    status = (site.get() or {})["status"]
    assert status["workerNodes"] == [site.node(name) for name in ("n0", "n1", "n2")]
    assert (status["targetNodeCount"], status["state"]) == (2, "Ready")


@brought
def test_nodes_labelled_a_moment_before_refuse_nothing(site: Site) -> None:
    site.brings("n0", pool="")
    for number in range(10):
        pool = f"{site.name}-{number}"
        site.labels("n0", pool)
        answer = site.asks(f"chat-{number}", pool=pool)
        assert answer.code == 201, answer.body
        site.labels("n0", None)
        site.delete(name=f"chat-{number}")


@brought
def test_a_node_that_is_lost_is_told_within_a_second(site: Site) -> None:
    site.brings("n0", "n1")
    site.done(site.asks(count=2, image="serve:1"))
    site.succeeds()
    took = []
    for name in ("n2", "n3", "n4"):
        site.loses("n1" if name == "n2" else f"n{int(name[1]) - 1}")
        took.append(site.until(lambda: site.is_told("NodesReady", "False", reason="NodeNotReady"), "nodes are missing"))
        assert site.is_told("ResourceReady", "False", message="1 of 1 matching nodes are ready, 2 are required")
        site.brings(name)
        site.until(lambda: site.is_told("NodesReady"), "nodes are enough again")
    assert min(took) < 1.0, took
    site.until(lambda: f"Node {site.node('n1')} is gone" in site.events("NodeDeleted"), "an event tells of it")


@brought
def test_a_node_with_another_label_is_a_node_less(site: Site) -> None:
    site.brings("n0")
    site.done(site.asks(image="serve:1"))
    site.succeeds()
    site.labels("n0", "elsewhere")
    site.until(lambda: site.is_told("NodesReady", "False", message="0 of 0 matching nodes are ready"), "it is missed")
    left = f"Node {site.node('n0')} does not match labelSelector any more: pool is elsewhere"
    site.until(lambda: left in site.events("NodeRelabeled"), "an event tells of it")
    assert (site.get() or {})["status"]["workerNodes"] == []
    site.labels("n0", site.name)
    site.succeeds()


@brought
def test_what_is_deleted_leaves_the_nodes_that_were_brought(site: Site) -> None:
    site.brings("n0")
    site.done(site.asks(image="serve:1"))
    site.succeeds()
    site.delete()
    site.until(lambda: site.get() is None, "the Workspace goes")
    if site.home.name == EMBEDDED:
        # A real garbage collector hears of new kinds every half minute.
        site.until(lambda: not site.all("Pod"), "its pods go")
    labels = site.done(site.api.get(f"/api/v1/nodes/{site.node('n0')}"))["metadata"]["labels"]
    assert labels["pool"] == site.name


@brought
def test_preferred_nodes_are_taken_with_a_warning_and_a_type_is_refused(site: Site) -> None:
    site.brings("n0")
    refused = site.asks(instanceType=A100)
    assert refused.code == 422
    assert refused.body["details"]["causes"][0]["field"] == "spec.resource.instanceType"
    warned = site.asks(preferredNodes=["n0"], image="serve:1")
    assert warned.code == 201
    assert "resource.preferredNodes is deprecated and has no effect" in warned.warnings[0]


@brought
def test_an_object_from_before_keeps_its_type_and_its_preferred_nodes_and_can_be_changed(site: Site) -> None:
    """Where upstream's operator was installed, its defaults for v1alpha1 are there, and the version is taken."""
    site.brings("n0")
    site.leaves_defaults_of_upstream()
    made = workspace(pool=site.name, image="serve:1", preferredNodes=["gone"])
    answer = site.api.post(
        site.path("Workspace").replace("v1beta1", "v1alpha1"),
        {**made, "apiVersion": OLD_API_VERSION, "metadata": {"name": "chat"}},
    )
    assert answer.code == 201, answer.body
    site.succeeds()
    kept = (site.get() or {})["resource"]
    assert (kept["instanceType"], kept["preferredNodes"]) == (A100, ["gone"])
    site.done(site.change({"metadata": {"labels": {"team": "a"}}}))
    assert site.change({"resource": {"instanceType": "Standard_NV36ads_A10_v5"}}).code == 422
    site.done(site.change({"resource": {"instanceType": None}}))
    site.succeeds()


@patient
def test_nodes_that_are_not_ready_can_be_waited_for(site: Site) -> None:
    site.brings("n0", ready=False)
    answer = site.asks()
    assert answer.code == 201
    assert f"{site.node('n0')} is not ready (KubeletNotReady)" in answer.warnings[0]
    site.until(lambda: site.is_told("NodesReady", "False"), "it waits")
    assert not site.all("StatefulSet")
    site.reports("n0", ready=True)
    site.until(lambda: bool(site.all("StatefulSet")), "it goes on")


@provisioned
def test_nodes_that_were_brought_count_and_only_the_missing_ones_are_asked_for(site: Site) -> None:
    site.brings("n0", instance_type=A100)
    site.done(site.asks(count=2, instanceType=A100))
    site.until(lambda: bool(site.claims()), "a node is asked for")
    site.fills_claims()
    site.succeeds()
    (claim,) = site.claims()
    name = claim["metadata"]["name"]
    assert site.placed() == {"n0", name}
    assert (site.get() or {})["status"]["workerNodes"] == sorted([site.node("n0"), name])
    assert site.events("NodeClaimCreated") == [f"Created NodeClaim {name} of type {A100}"]
    site.delete()
    site.until(lambda: not site.claims() and site.get() is None, "the Workspace goes, and its claim with it")
    assert site.api.get(f"/api/v1/nodes/{site.node('n0')}").code == 200
    if site.home.name == EMBEDDED:
        site.until(lambda: site.api.get(f"/api/v1/nodes/{name}").code == 404, "so does the node that was provisioned")


@provisioned
def test_enough_nodes_that_were_brought_ask_for_none(site: Site) -> None:
    site.brings("n0", "n1", instance_type=A100)
    site.done(site.asks(count=2, instanceType=A100))
    site.succeeds()
    assert not site.claims()
    assert site.placed() == {"n0", "n1"}


@provisioned
def test_nodes_of_another_type_are_named_and_replaced(site: Site) -> None:
    site.brings("n0", instance_type="Standard_ND96isr_H100_v5")
    answer = site.asks(instanceType=A100)
    assert answer.code == 201
    assert answer.warnings == [
        f"nodes that match the selector do not count, as they are not of type {A100}: "
        f"{site.node('n0')} (Standard_ND96isr_H100_v5)"
    ]
    site.until(lambda: bool(site.claims()), "another one is asked for")
    site.fills_claims()
    site.succeeds()
    (claim,) = site.claims()
    assert site.placed() == {claim["metadata"]["name"]}


@provisioned
def test_without_a_type_nothing_can_be_asked_for(site: Site) -> None:
    answer = site.asks()
    assert answer.code == 422
    assert "is required when node auto-provisioning is enabled" in answer.body["message"]
