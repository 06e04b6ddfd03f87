"""What is refused, and in which words: one case per rule, in the tables under refusals/."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.api.core.validation.pods import answer_validate

TABLES = sorted((Path(__file__).parent / "refusals").glob("*.yaml"))
CASES = [
    pytest.param(case, id=f"{table.stem}: {case['case']}")
    for table in TABLES
    for case in yaml.safe_load(table.read_text(encoding="utf-8"))
]


def lines(spec: dict[str, Any], metadata: dict[str, Any] | None = None) -> list[str]:
    given = metadata if metadata is not None else {"name": "p", "namespace": "default", "labels": {"app": "web"}}
    answer = answer_validate({"id": 0, "pod": {"metadata": given, "spec": spec}})
    found: list[str] = answer.get("invalid", [])
    return found


@pytest.mark.parametrize("case", CASES)
def test_says_what_the_api_server_says(case: dict[str, Any]) -> None:
    assert lines(case["spec"], case.get("metadata")) == case["lines"]


def container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "web:1", **fields}]}


def test_annotations_have_a_limit_together() -> None:
    metadata = {"name": "p", "namespace": "n", "annotations": {"a": "x" * 262_144}}
    assert lines(container(), metadata) == ["metadata.annotations: Too long: may not be more than 262144 bytes"]


def test_profiles_have_a_longest_name() -> None:
    profile = {"type": "Localhost", "localhostProfile": "x" * 4096}
    assert lines(container(securityContext={"appArmorProfile": profile})) == [
        "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"
    ]


def test_credentials_have_a_limit() -> None:
    (line,) = lines(container(securityContext={"windowsOptions": {"gmsaCredentialSpec": "x" * 70_000}}))
    assert line.endswith("gmsaCredentialSpec size must be under 64 KiB")


def test_search_domains_have_a_number_and_a_length() -> None:
    first, second, *_ = lines({**container(), "dnsConfig": {"searches": ["x" * 100] * 33}})
    assert first.endswith("must not have more than 32 search paths")
    assert second.endswith("must not have more than 2048 characters (including spaces) in the search list")


def test_restart_rules_have_a_number() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
    assert lines(container(restartPolicy="Never", restartPolicyRules=[rule] * 21)) == [
        "spec.containers[0].restartPolicyRules: Too long: may not be more than 20 bytes"
    ]


def test_tolerations_of_old_must_be_json() -> None:
    for text in ("no json", '{"key": "a"}'):
        metadata = {
            "name": "p",
            "namespace": "n",
            "annotations": {"scheduler.alpha.kubernetes.io/tolerations": text},
        }
        (line,) = lines(container(), metadata)
        assert line.startswith('metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/tolerations"')


def test_map_entries_are_reported_in_the_order_of_their_keys() -> None:
    resources = {"limits": {"zeta": "1", "alpha": "1"}}
    found = [line.partition(":")[0] for line in lines(container(resources=resources))]
    assert found.index("spec.containers[0].resources.limits[alpha]") < found.index(
        "spec.containers[0].resources.limits[zeta]"
    )
