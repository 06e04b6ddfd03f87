"""Makes the pictures of the web page in README and docs, with a real Chromium on the example fleet of a lab.

    python -m scripts.pictures

A picture that comes out larger than it may be is an error, and so is one whose page never shows what it should.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import playwright.sync_api as playwright
from PIL import Image
from playwright.sync_api import expect

from scripts.made import ROOT
from tests.cli.embedded import Up, eventually
from tests.e2e.page.browser import Visitor, browser, visiting
from tests.e2e.page.deployments import SERVING, deployment

__all__ = ["main"]

FLEET: Final = ROOT / "examples/fleets/lab.yaml"
TO: Final = ROOT / "docs/pictures"
MOST_BYTES: Final = 200_000
MOST_BYTES_MOVING: Final = 2_000_000
_COLOURS: Final = 256
_THEMES: Final = ("light", "dark")
_WIDTH: Final = 1280
_MOVING_SIZE: Final[Any] = {"width": 1080, "height": 720}
_MODEL: Final = "phi-4"
# Of each: how many GPUs a pod has, and the nodes that have one. Four GPUs are free together on one node only: of
# several that are as good as each other a scheduler takes any, and a film should end where it said.
_HOLDERS: Final = (
    ("pretrain-7b", 8, ["h100-1"]),
    ("qwen3-32b", 4, ["h100-2"]),
    ("mistral-7b", 2, ["h100-2", "h100-3", "h100-4"]),
    ("gemma3-27b", 2, ["h100-2", "h100-3"]),
    ("guard", 2, ["h100-3"]),
    ("whisper", 1, ["a100-1", "a100-4", "a100-6"]),
    ("embedder", 1, ["a100-1", "a100-2"]),
    ("reranker", 2, ["a100-1"]),
    ("sdxl", 2, ["a100-2", "a100-6"]),
    ("eval-nightly", 4, ["a100-3"]),
)
_MISSPELT: Final[dict[str, Any]] = {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HMB3"}}


class Still(NamedTuple):
    """A page, what it says once it is whole, and how much of it is shown."""

    name: str
    path: str
    says: str
    height: int = 800


_STILLS: Final = (
    Still("fleet", "/", "GPUs are free"),
    Still("deploy", "/deploy?model=microsoft/phi-4&gpus=2&replicas=3&namespace=serving", "What will happen", 980),
    Still("workload", "/workloads/Deployment/serving/llama-70b", "What would help", 1120),
)


def main() -> None:
    TO.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        up = Up(Path(folder), "--ui-port", "0", "--fleet", str(FLEET)).ready()
        try:
            _furnish(up)
            for theme in _THEMES:
                with visiting(chromium, up, device_scale_factor=1.5, color_scheme=theme) as visitor:
                    visitor.signs_in()
                    for still in _STILLS:
                        _take(visitor, still, TO / f"{still.name}-{theme}.png")
            with visiting(chromium, up, viewport=_MOVING_SIZE, color_scheme="light") as visitor:
                _write_film(_deploying(visitor.signs_in()), TO / "deploy.webp")
        finally:
            up.stop()


def _furnish(up: Up) -> None:
    """Workloads that hold GPUs, one that waits for a misspelt label, and a node that is cordoned."""
    eventually(lambda: len(up.get("/api/v1/nodes")["items"]) >= 29, "the fleet is there")
    for name, gpus, nodes in _HOLDERS:
        up.post(SERVING, deployment(name, gpus, len(nodes), affinity=_one_on_each(nodes, name)))
    up.post(SERVING, deployment("llama-70b", 4, **_MISSPELT))
    with up.client() as client:
        headers = {"Content-Type": "application/merge-patch+json"}
        client.patch("/api/v1/nodes/a100-5", json={"spec": {"unschedulable": True}}, headers=headers)
    wanted = sum(len(nodes) for _, _, nodes in _HOLDERS)

    def running() -> bool:
        pods: list[dict[str, Any]] = up.get("/api/v1/namespaces/serving/pods")["items"]
        return [pod["status"].get("phase") for pod in pods].count("Running") >= wanted

    eventually(running, "the workloads hold their GPUs")


def _one_on_each(nodes: list[str], app: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]}]
    others = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}]
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": others},
    }


def _take(visitor: Visitor, still: Still, path: Path) -> None:
    visitor.page.set_viewport_size({"width": _WIDTH, "height": still.height})
    visitor.goes_to(still.path).sees(still.says)
    _settle(visitor.page)
    with Image.open(io.BytesIO(visitor.page.screenshot())) as shot:
        shot.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    _check(path, MOST_BYTES)


def _settle(page: playwright.Page) -> None:
    page.mouse.move(0, 0)
    page.wait_for_timeout(600)


# The film


class _Film:
    """Screenshots, each with how long it stays."""

    def __init__(self, page: playwright.Page) -> None:
        self._page = page
        self.frames: list[Image.Image] = []
        self.milliseconds: list[int] = []

    def shows(self, milliseconds: int) -> None:
        self.frames.append(Image.open(io.BytesIO(self._page.screenshot())).convert("RGB"))
        self.milliseconds.append(milliseconds)

    def rolls(self, frames: int, milliseconds: int = 120) -> None:
        for _ in range(frames):
            self.shows(milliseconds)
            self._page.wait_for_timeout(milliseconds)


def _deploying(visitor: Visitor) -> _Film:
    """A model is chosen, the fleet shows where it lands, it is deployed, and its pod is there."""
    page, film = visitor.page, _Film(visitor.page)
    visitor.goes_to("/deploy?namespace=serving").sees("Where it lands")
    _settle(page)
    film.shows(900)
    page.get_by_role("button", name="Model").click()
    film.shows(500)
    for letter in _MODEL:
        page.keyboard.type(letter)
        film.shows(140)
    film.shows(500)
    page.keyboard.press("Enter")
    film.rolls(2)
    visitor.sees("It lands: ")
    film.shows(900)
    page.get_by_role("group", name="GPUs per pod").get_by_role("button", name="4").click()
    film.rolls(3)
    visitor.sees("It lands: h100-4")
    page.get_by_role("button", name="Deploy", exact=True).hover()
    film.shows(1600)
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(page.locator("h1")).to_have_text(_MODEL)
    film.rolls(3)
    expect(page.locator(".pagehead .state")).to_have_text("Ready")
    film.shows(1400)
    page.get_by_role("link", name="Fleet").first.click()
    visitor.sees("GPUs are free")
    page.get_by_role("link", name=_MODEL).first.hover()
    page.wait_for_timeout(400)
    film.shows(2600)
    return film


def _write_film(film: _Film, path: Path) -> None:
    first, *others = film.frames
    first.save(path, save_all=True, append_images=others, duration=film.milliseconds, loop=0, quality=82, method=6)
    _check(path, MOST_BYTES_MOVING)


def _check(path: Path, most: int) -> None:
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")
    if size > most:
        raise SystemExit(f"{path.relative_to(ROOT)} has {size} bytes, and may have {most}")


if __name__ == "__main__":
    main()
