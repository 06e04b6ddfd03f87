"""What a page shows while it knows nothing yet: that it loads, that it may not, that nobody answers, who must sign in.

The browser holds the answers of the API back or makes them up, so that nothing must be broken for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import playwright.sync_api as playwright
import pytest
from playwright.sync_api import Route, expect

from tests.cli.embedded import Up
from tests.e2e.page.browser import Visitor, visiting

pytestmark = pytest.mark.slow

PATHS = ("/", "/workloads", "/workloads/Deployment/serving/any", "/pools", "/notebooks", "/deploy")
FORBIDDEN = 'nodes is forbidden: User "ada" cannot list resource "nodes" in API group "" at the cluster scope'


def _answers(status: int, message: str) -> Callable[[Route], None]:
    error: Any = {"error": {"message": message, "statusCode": status}}
    return lambda route: route.fulfill(status=status, json=error)


def _opened(visitor: Visitor, path: str) -> None:
    """The page as it opens for somebody who is signed in."""
    visitor.goes_to(f"{path}{visitor.address.removeprefix(visitor.root).lstrip('/')}")


def test_what_is_on_its_way_has_its_geometry(chromium: playwright.Browser, up: Up) -> None:
    with visiting(chromium, up) as visitor:
        visitor.page.add_init_script("window.fetch = () => new Promise(() => undefined)")
        for path in PATHS:
            _opened(visitor, path)
            expect(visitor.page.locator("main[aria-busy=true] .panel").first).to_be_visible()
            visitor.is_kept(f"loading{path.replace('/', '-')}")
        assert visitor.complaints() == []


@pytest.mark.parametrize(
    ("handler", "title", "text"),
    [
        (_answers(403, FORBIDDEN), "You may not see the cluster", 'User "ada" cannot list resource "nodes"'),
        (lambda route: route.abort(), "The cluster cannot be shown", "The server does not answer."),
    ],
    ids=["refused", "unreachable"],
)
def test_what_cannot_be_shown_says_why_and_comes_when_it_can(
    chromium: playwright.Browser, up: Up, handler: Callable[[Route], None], title: str, text: str
) -> None:
    with visiting(chromium, up) as visitor:
        visitor.page.route("**/api/stream?*", handler)
        for path in PATHS:
            _opened(visitor, path)
            expect(visitor.page.get_by_role("heading", name=title)).to_be_visible()
            visitor.sees(text)
        visitor.is_kept(title.replace(" ", "-").lower())
        assert visitor.complaints() == []
        visitor.page.unroute("**/api/stream?*")
        visitor.presses("Try again")
        expect(visitor.page.get_by_role("heading", name=title)).to_have_count(0)


def test_an_expired_token_leads_to_sign_in_and_back(chromium: playwright.Browser, up: Up) -> None:
    with visiting(chromium, up) as visitor:
        visitor.page.route("**/api/**", _answers(401, "Unauthorized"))
        _opened(visitor, "/pools?span=6+h")
        visitor.sees("The token is no longer valid. Sign in again to go on where you were.")
        visitor.is_kept("expired")
        assert visitor.complaints() == []
        visitor.page.unroute("**/api/**")
        visitor.page.get_by_label("Token").fill(visitor.address.partition("#token=")[2])
        visitor.presses("Sign in")
        visitor.sees("No hosts are registered.")
        assert visitor.page.url == f"{visitor.root}/pools?span=6+h"
