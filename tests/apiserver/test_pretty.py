"""Answers to the programs that people type are written for people."""

from __future__ import annotations

import pytest

from tests.apiserver.world import Api

PATH = "/api/v1/namespaces/default/configmaps"
INDENTED = '{\n  "'


def asked(api: Api, path: str, agent: str) -> str:
    return api.client.get(path, headers={"user-agent": agent}).text


@pytest.mark.parametrize(
    ("agent", "query", "indented"),
    [
        ("curl/8.5.0", "", True),
        ("Wget/1.21", "", True),
        ("Mozilla/5.0 (X11)", "", True),
        ("kubectl/v1.35.8", "", False),
        ("kubectl/v1.35.8", "?pretty=true", True),
        ("curl/8.5.0", "?pretty=false", False),
        ("curl/8.5.0", "?pretty=0", False),
    ],
)
def test_json_is_indented_for_people(api: Api, agent: str, query: str, indented: bool) -> None:
    assert asked(api, f"{PATH}{query}", agent).startswith(INDENTED) is indented


def test_refusals_and_long_lists_are_indented_too(api: Api) -> None:
    api.fill(300)
    text = asked(api, PATH, "curl/8.5.0")
    assert text.startswith(INDENTED)
    assert text.count('"name": "c') == 300
    assert asked(api, f"{PATH}/none", "curl/8.5.0").startswith(INDENTED)
