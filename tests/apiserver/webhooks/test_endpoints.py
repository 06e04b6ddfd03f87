"""Where a webhook is requested: its path, cleaned as the real server cleans it."""

from __future__ import annotations

import pytest

from mooring.apiserver.webhooks.endpoints import find_address
from mooring.registry import Registry


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://127.0.0.1:9443//validate", "/validate"),
        ("https://127.0.0.1:9443/a//b/", "/a/b"),
        ("https://127.0.0.1:9443", "/"),
        ("https://127.0.0.1:9443/", "/"),
    ],
)
def test_a_path_has_no_empty_parts(url: str, path: str) -> None:
    assert find_address(Registry(), {"url": url}).path == path
