"""One browser and one cluster for all stories here; each story has a browser profile of its own.

They end with the package: while the browser is there an event loop runs in this thread, and no other could.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import playwright.sync_api as playwright
import pytest

from mooring.testing.fixtures import missing
from tests.cli.embedded import Up, eventually
from tests.e2e.page.browser import BrowserMissing, Visitor, browser, visiting
from tests.support.chart_repositories import chart_repository

ROOT = Path(__file__).parents[3]
FLEET = ROOT / "examples/fleets/lab.yaml"


@pytest.fixture(scope="package")
def chromium() -> Iterator[playwright.Browser]:
    try:
        with browser() as running:
            yield running
    except BrowserMissing as error:
        missing(error)


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory, chromium: playwright.Browser) -> Iterator[Up]:
    """The fleet of a lab, a chart repository, and no Workspace controller that KAITO would fight with."""
    folder = tmp_path_factory.mktemp("page")
    with chart_repository(folder / "charts") as repository:
        found = Up(folder, "--ui-port", "0", "--fleet", str(FLEET), "--kaito-repository", repository).ready()
        try:
            eventually(lambda: len(found.get("/api/v1/nodes")["items"]) >= 29, "the fleet is there")
            yield found
        finally:
            found.stop()


@pytest.fixture
def visitor(chromium: playwright.Browser, up: Up) -> Iterator[Visitor]:
    with visiting(chromium, up) as found:
        yield found.signs_in()
