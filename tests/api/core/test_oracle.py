"""Agreement with a real API server: what it says about pods, and what it makes of them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mooring.api.core.defaults.pods import default_pod
from mooring.api.core.validation.pods import answer_validate, invalid_message, validate_pod

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in gzip.decompress(
        (Path(__file__).parents[2] / "data" / "oracle" / "validate.jsonl.gz").read_bytes()
    ).splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"case {case['request']['id']}")
def test_answers_as_the_api_server(case: dict[str, Any]) -> None:
    before = json.dumps(case["request"])
    assert answer_validate(case["request"]) == case["expect"]
    assert json.dumps(case["request"]) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"case {case['request']['id']}")
def test_defaulting_twice_is_defaulting_once_and_the_two_steps_agree_with_the_whole(case: dict[str, Any]) -> None:
    pod = default_pod(case["request"]["pod"])
    errors = validate_pod(pod)
    assert [str(error) for error in errors] == case["expect"].get("invalid", [])
    if errors:
        assert invalid_message(pod, errors) == case["expect"]["message"]
    if "matchLabelKeys" not in json.dumps(pod):
        assert default_pod(pod) == pod
