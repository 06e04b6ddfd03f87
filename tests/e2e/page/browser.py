"""A real Chromium that looks at the page of one `mooring up`, and notes what it must never do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import playwright.sync_api as playwright
from playwright.sync_api import Page, expect, sync_playwright

from mooring.kube.errors import MooringError
from mooring.runway.rest.page import PAGE_FOLDER
from tests.cli.embedded import Up

__all__ = ["Visitor", "browser", "visiting"]

PATIENCE_MS: Final = 15_000
_ROOT: Final = Path(__file__).parents[3]
_AXE: Final = _ROOT / "ui/node_modules/axe-core/axe.min.js"
_PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


class BrowserMissing(MooringError):
    """What the stories of the page need is not there."""


@contextmanager
def browser() -> Iterator[playwright.Browser]:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        raise BrowserMissing("there is no Chromium; on Debian: apt install chromium-headless-shell")
    if not (PAGE_FOLDER / "index.html").is_file() or not _AXE.is_file():
        raise BrowserMissing("the web page is not built; build it with: make page")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        # As root Chromium has no sandbox to go into.
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield running
        finally:
            running.close()


class Visitor:
    """Somebody who looks at the page of a cluster."""

    def __init__(self, up: Up, page: Page) -> None:
        self.up, self.page = up, page
        # The address that was printed.
        self.address = up.says("page  ").partition("page")[2].strip()
        self.root = self.address.partition("#")[0].rstrip("/")
        self.foreign: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self._note(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, url: str) -> None:
        if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc != urlsplit(self.root).netloc:
            self.foreign.append(url)

    def signs_in(self) -> Visitor:
        self.page.goto(self.address)
        expect(self.page.get_by_text("Live")).to_be_visible()
        return self

    def goes_to(self, path: str) -> Visitor:
        self.page.goto(f"{self.root}{path}")
        return self

    def sees(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def presses(self, name: str) -> None:
        self.page.get_by_role("button", name=name).first.click()

    def is_kept(self, name: str) -> None:
        """As a picture to be looked at, in the folder MOORING_SHOTS where there is one."""
        if folder := os.environ.get("MOORING_SHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder, f"{name}.png"), full_page=True)

    def complaints(self) -> list[str]:
        """What axe-core finds that is serious."""
        self.page.add_script_tag(path=str(_AXE))
        found: list[dict[str, Any]] = self.page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]


@contextmanager
def visiting(running: playwright.Browser, up: Up, **context: Any) -> Iterator[Visitor]:
    """A fresh browser profile. At the end nothing has gone wrong in the page, and nothing has left the machine."""
    # The page allows no foreign script, and axe is one.
    opened = running.new_context(bypass_csp=True, **{"viewport": {"width": 1280, "height": 900}, **context})
    opened.set_default_timeout(PATIENCE_MS)
    try:
        visitor = Visitor(up, opened.new_page())
        yield visitor
        assert visitor.foreign == [], "The page asked another host."
        assert visitor.errors == [], "Something went wrong in the page."
    finally:
        opened.close()
