"""What people do with the page: they see their GPUs, deploy a model, and read why something waits."""

from __future__ import annotations

from typing import Any

import playwright.sync_api as playwright
import pytest
from playwright.sync_api import expect

from mooring.apiserver.authentication.token_file import add_token
from tests.cli.embedded import Up, eventually
from tests.e2e.page.browser import Visitor, visiting
from tests.e2e.page.deployments import SERVING, deployment

pytestmark = pytest.mark.slow

MISSPELT: dict[str, Any] = {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HMB3"}}


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
    visitor.sees("It would be refused")
    counts = visitor.page.get_by_role("status", name="Nodes for this selector")
    expect(counts).to_contain_text("0match")


def test_a_misspelt_label_is_corrected_by_the_button(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&gpus=1&labels=nvidia.com%252Fgpu.product%3DNVIDIA-H100-80GB-HMB3")
    visitor.sees("No node has this value. The nearest is")
    visitor.presses("Use NVIDIA-H100-80GB-HBM3")
    visitor.sees("It lands: ")


def test_a_misspelt_label_is_corrected_by_the_advice_where_a_taint_is_in_the_way_too(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&gpus=1&labels=nvidia.com%252Fgpu.product%3DNVIDIA-RTX-6000-Aba")
    right = visitor.page.locator(".prop", has_text="Correct label nvidia.com/gpu.product: NVIDIA-RTX-6000-Ada")
    expect(right).to_contain_text("taint lab.example.com/owner=vision:NoSchedule is not tolerated")
    right.get_by_role("button", name="Apply").click()
    expect(visitor.page.get_by_label("value")).to_have_value("NVIDIA-RTX-6000-Ada")
    visitor.sees("1 node carries it.")


def test_a_node_of_the_landing_says_why_it_takes_the_pod_or_not(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&gpus=1")
    visitor.sees("It lands: ")
    visitor.page.locator("[data-node^=vision]").first.click()
    chosen = visitor.page.get_by_role("region", name="Node vision")
    expect(chosen).to_contain_text("takes no pod of it")
    expect(chosen).to_contain_text("taint lab.example.com/owner=vision:NoSchedule is not tolerated")
    assert "node=vision" in visitor.page.url
    visitor.page.locator(".node.hit").first.click()
    visitor.sees("A pod lands on ")
    assert visitor.complaints() == []


def test_a_bad_name_is_told_beside_its_field(visitor: Visitor) -> None:
    visitor.goes_to("/deploy?model=microsoft/phi-4&name=Not_A_Name")
    visitor.sees('"Not_A_Name" is not allowed')
    expect(visitor.page.get_by_role("button", name="Deploy")).to_be_disabled()


def test_what_waits_says_why_and_is_helped_by_a_button(visitor: Visitor, up: Up) -> None:
    assert up.post(SERVING, deployment("misspelt", 1, **MISSPELT)) == 201
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


def _selector(up: Up, name: str) -> str:
    spec = up.get(f"{SERVING}/{name}")["spec"]["template"]["spec"]
    return str(spec["nodeSelector"]["nvidia.com/gpu.product"])


def _helped(visitor: Visitor, up: Up, name: str) -> None:
    """A workload whose label was corrected by the button."""
    assert up.post(SERVING, deployment(name, 1, **MISSPELT)) == 201
    visitor.goes_to(f"/workloads/Deployment/serving/{name}")
    visitor.sees("Correct nodeSelector nvidia.com/gpu.product")
    visitor.presses("Show change")
    visitor.presses("Apply")
    visitor.sees("Applied: Correct nodeSelector")


def test_what_was_applied_is_taken_back_after_it_was_shown(visitor: Visitor, up: Up) -> None:
    _helped(visitor, up, "regretted")
    visitor.presses("Undo")
    dialog = visitor.page.get_by_role("dialog", name="Bring back the previous values")
    expect(dialog).to_contain_text("HMB3")
    visitor.is_kept("undo")
    assert visitor.complaints() == []
    dialog.get_by_role("button", name="Write back").click()
    eventually(lambda: _selector(up, "regretted").endswith("HMB3"), "the previous value is back")
    expect(dialog).to_have_count(0)
    expect(visitor.page.get_by_text("Applied: Correct nodeSelector")).to_have_count(0)


def test_what_somebody_changed_since_is_not_taken_back(visitor: Visitor, up: Up) -> None:
    _helped(visitor, up, "contested")
    with up.client() as client:
        headers = {"Content-Type": "application/merge-patch+json"}
        assert client.patch(f"{SERVING}/contested", json={"spec": {"replicas": 2}}, headers=headers).is_success
    visitor.presses("Undo")
    visitor.presses("Write back")
    visitor.sees("It has changed since, so nothing was written")
    assert _selector(up, "contested").endswith("HBM3")


def test_a_workload_is_scaled_and_deleted_from_its_page(visitor: Visitor, up: Up) -> None:
    assert up.post(SERVING, deployment("elastic", 1)) == 201
    visitor.goes_to("/workloads/Deployment/serving/elastic")
    expect(visitor.page.locator(".pagehead .state")).to_have_text("Ready")
    visitor.presses("Scale")
    visitor.presses("One more")
    dialog = visitor.page.get_by_role("dialog", name="Scale elastic")
    expect(dialog).to_contain_text("- /spec/replicas: 1")
    expect(dialog).to_contain_text("+ /spec/replicas: 2")
    visitor.is_kept("scale")
    assert visitor.complaints() == []
    dialog.get_by_role("button", name="Scale from 1 to 2").click()
    visitor.sees("2 of 2 pods ready")
    visitor.presses("Delete")
    dialog = visitor.page.get_by_role("dialog", name="Delete elastic")
    expect(dialog).to_contain_text("- with 2 pods: ")
    expect(dialog).to_contain_text("2 GPUs will be free")
    visitor.is_kept("delete")
    dialog.get_by_role("button", name="Delete elastic").click()
    expect(visitor.page).to_have_url(f"{visitor.root}/workloads")
    expect(visitor.page.get_by_role("link", name="elastic")).to_have_count(0)


def test_a_reader_is_refused_in_the_dialog(chromium: playwright.Browser, up: Up) -> None:
    token = add_token(up.folder / ".mooring" / "tokens", "onlooker", ["onlookers"])
    reading = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    subject = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "onlookers"}
    role = {"kind": "ClusterRole", "apiGroup": "rbac.authorization.k8s.io", "name": "looking"}
    assert up.post(f"{rbac}/clusterroles", {"metadata": {"name": "looking"}, "rules": [reading]}) == 201
    binding = {"metadata": {"name": "looking"}, "roleRef": role, "subjects": [subject]}
    assert up.post(f"{rbac}/clusterrolebindings", binding) == 201
    assert up.post(SERVING, deployment("admired", 1)) == 201
    with visiting(chromium, up) as visitor:
        visitor.page.goto(f"{visitor.root}/workloads/Deployment/serving/admired#token={token}")
        visitor.presses("Delete")
        visitor.page.get_by_role("dialog").get_by_role("button", name="Delete admired").click()
        expect(visitor.page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
            'User "onlooker" cannot delete resource "deployments"'
        )
        visitor.is_kept("reader")
    assert "admired" in up.names(SERVING)
