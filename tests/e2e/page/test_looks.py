"""Every page in both themes and both widths: readable for all, nothing wider than the screen.

With MOORING_SHOTS=FOLDER each is kept as a picture, to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import playwright.sync_api as playwright
import pytest
from playwright.sync_api import expect

from tests.cli.embedded import Up
from tests.e2e.page.browser import Visitor, visiting
from tests.e2e.page.deployments import SERVING, deployment

pytestmark = pytest.mark.slow

WRONG: dict[str, Any] = {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HMB3"}}
PAGES = {
    "fleet": ("/?node=h100-1", "A pod of up to "),
    "dense": ("/?view=dense", "GPUs are free"),
    "workloads": ("/workloads", "waiting"),
    "workload": ("/workloads/Deployment/serving/waits", "What would help"),
    "deploy": ("/deploy?model=microsoft/phi-4&gpus=1", "What will happen"),
    "node": ("/deploy?model=microsoft/phi-4&gpus=1&node=vision-1", "takes no pod of it"),
    "typo": (
        "/deploy?model=microsoft/phi-4&labels=nvidia.com%252Fgpu.product%3DNVIDIA-H100-80GB-HMB3",
        "Correct label",
    ),
    "pools": ("/pools", "No hosts are registered."),
    "notebooks": ("/notebooks", "No notebook was validated yet"),
    "installation": ("/installation", "Not installed"),
    "absent": ("/none", "There is nothing at this address"),
}


@pytest.fixture(scope="module")
def furnished(up: Up) -> Up:
    """Some GPUs are held, one workload waits, a node is cordoned."""
    for name, gpus in (("pretrain", 8), ("mistral", 2), ("whisper", 1)):
        up.post(SERVING, deployment(name, gpus))
    up.post(SERVING, deployment("waits", 4, **WRONG))
    with up.client() as client:
        headers = {"Content-Type": "application/merge-patch+json"}
        client.patch("/api/v1/nodes/a100-1", json={"spec": {"unschedulable": True}}, headers=headers)
    return up


@pytest.fixture(
    scope="module",
    params=[("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)],
    ids=lambda it: f"{it[0]}-{it[1]}",
)
def looking(request: pytest.FixtureRequest, chromium: playwright.Browser, furnished: Up) -> Iterator[Visitor]:
    theme, width = request.param
    with visiting(chromium, furnished, viewport={"width": width, "height": 900}, color_scheme=theme) as visitor:
        visitor.page.goto(visitor.address)
        visitor.sees("GPUs are free")
        yield visitor


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_there_for_everybody(looking: Visitor, name: str, request: pytest.FixtureRequest) -> None:
    path, text = PAGES[name]
    looking.goes_to(path).sees(text)
    expect(looking.page.locator("h1")).to_have_count(1)
    assert looking.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (
        "It is wider than the screen."
    )
    looking.is_kept(request.node.callspec.id)
    assert looking.complaints() == []
