"""What people do with the page: they see their GPUs, deploy a model, and read why something waits."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.cli.embedded import Up, eventually
from tests.e2e.page.browser import Visitor
from tests.e2e.page.deployments import SERVING, deployment

pytestmark = pytest.mark.slow


def test_a_newcomer_sees_the_gpus_and_who_holds_them(visitor: Visitor, up: Up) -> None:
    assert up.post(SERVING, deployment("holder", 2)) == 201
    visitor.sees("GPUs are free")
    expect(visitor.page.get_by_role("link", name="holder 2")).to_be_visible()
    visitor.page.get_by_label("Filter nodes").fill("holder")
    # Other stories may have brought a node.
    visitor.sees(f"1 of {len(up.names('/api/v1/nodes'))} nodes")


def test_the_printed_address_signs_the_browser_in_once(visitor: Visitor) -> None:
    assert "token" not in visitor.page.url
    visitor.goes_to("/workloads")
    visitor.sees("workload")
    visitor.page.evaluate("localStorage.setItem('mooring.token', 'expired')")
    visitor.goes_to("/pools")
    visitor.sees("Sign in")
    visitor.page.get_by_label("Token").fill(visitor.address.partition("token=")[2])
    visitor.presses("Sign in")
    # Back to where one was.
    expect(visitor.page.get_by_role("link", name="Pools")).to_have_attribute("aria-current", "page")


def test_a_model_is_deployed_from_the_form_and_lands(visitor: Visitor, up: Up) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&gpus=1&name=phi-4-page&namespace=serving")
    visitor.sees("It lands: ")
    assert visitor.page.locator(".node.hit .ghost").count() == 1
    visitor.page.get_by_role("button", name="Deploy", exact=True).click()
    expect(visitor.page).to_have_url(f"{visitor.root}/workloads/Workspace/serving/phi-4-page")
    expect(visitor.page.locator("h1")).to_have_text("phi-4-page")
    eventually(
        lambda: "phi-4-page-0" in up.names("/api/v1/namespaces/serving/pods"), "the pod of the Workspace is there"
    )
    expect(visitor.page.locator(".pod .hull").first).to_be_visible()


def test_a_node_says_what_fits_and_is_cordoned_after_its_change_was_shown(visitor: Visitor, up: Up) -> None:
    assert up.post(SERVING, deployment("towering", 16)) == 201
    visitor.goes_to("/?node=vision-1")
    here = visitor.page.get_by_role("region", name="What fits here")
    expect(here).to_contain_text("A pod of up to ")
    expect(here.get_by_role("list", name="Pods that wait")).to_contain_text("needs 16 nvidia.com/gpu, has only")
    here.get_by_role("button", name="Cordon", exact=True).click()
    expect(here.get_by_label("Difference")).to_have_text("Node vision-1+ /spec/unschedulable: true")
    assert "unschedulable" not in up.get("/api/v1/nodes/vision-1")["spec"], "Nothing is written before it is confirmed."
    here.get_by_role("button", name="Cordon it").click()
    expect(here.get_by_role("list", name="What keeps pods off")).to_contain_text("it is cordoned")
    assert up.get("/api/v1/nodes/vision-1")["spec"]["unschedulable"] is True
    expect(visitor.page.get_by_role("region", name="Node vision-1")).to_contain_text("Cordoned")
    here.get_by_role("button", name="Uncordon").click()
    here.get_by_role("button", name="Uncordon it").click()
    expect(here.get_by_role("button", name="Cordon", exact=True)).to_be_visible()
    assert "unschedulable" not in up.get("/api/v1/nodes/vision-1")["spec"]


def test_a_selector_that_matches_nothing_says_so_before_anything_is_written(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&labels=pool%3Dnowhere")
    visitor.sees("No node has this label.")
    visitor.sees("It would wait")
    counts = visitor.page.get_by_role("status", name="Nodes for this selector")
    expect(counts).to_contain_text("0match")


def test_a_misspelt_label_is_corrected_by_the_button(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&gpus=1&labels=nvidia.com%252Fgpu.product%3DNVIDIA-H100-80GB-HMB3")
    visitor.sees("No node has this value. The nearest is")
    visitor.presses("Use NVIDIA-H100-80GB-HBM3")
    visitor.sees("It lands: ")


def test_a_bad_name_is_told_beside_its_field(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&name=Not_A_Name")
    visitor.sees('"Not_A_Name" is not allowed')
    expect(visitor.page.get_by_role("button", name="Deploy")).to_be_disabled()


def test_what_waits_says_why_and_is_helped_by_a_button(visitor: Visitor, up: Up) -> None:
    wrong: dict[str, Any] = {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HMB3"}}
    assert up.post(SERVING, deployment("misspelt", 1, **wrong)) == 201
    visitor.goes_to("/workloads/Deployment/serving/misspelt")
    visitor.sees("Why it waits")
    visitor.sees("Correct nodeSelector nvidia.com/gpu.product")
    visitor.presses("Show change")
    visitor.sees("This is exactly what will be written")
    visitor.presses("Apply")
    expect(visitor.page.locator(".pagehead .state")).to_have_text("Ready")


def test_a_node_that_is_lost_is_seen_at_once(visitor: Visitor, up: Up) -> None:
    visitor.goes_to("/?node=h100-4")
    expect(visitor.page.get_by_role("region", name="Node h100-4")).to_contain_text("Ready")
    with up.client() as client:
        body = {"metadata": {"annotations": {"mooring.dev/lost": "true"}}}
        headers = {"Content-Type": "application/merge-patch+json"}
        assert client.patch("/api/v1/nodes/h100-4", json=body, headers=headers).status_code == 200
    expect(visitor.page.get_by_role("region", name="Node h100-4")).to_contain_text("Not ready", timeout=60_000)
    expect(visitor.page.locator("[data-node=h100-4]")).to_contain_text("not ready")


def test_keys_go_where_they_say(visitor: Visitor) -> None:
    visitor.page.keyboard.press("g")
    visitor.page.keyboard.press("p")
    expect(visitor.page).to_have_url(f"{visitor.root}/pools")
    visitor.page.keyboard.press("?")
    visitor.sees("Submit a form")
    visitor.page.keyboard.press("Escape")
    visitor.page.keyboard.press("d")
    visitor.sees("Nothing changes in the cluster until you press Deploy.")
