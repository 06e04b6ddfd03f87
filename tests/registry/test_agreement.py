"""Agreement with a real API server, request by request: thousands of good and bad ones, and its recorded answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mooring.registry import Registry
from tests.registry.agreement import NOW, differences, perform

DATA = Path(__file__).parents[1] / "data" / "registry"


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".jsonl.gz") for path in DATA.glob("*.jsonl.gz")))
def test_the_registry_answers_as_a_real_server(name: str) -> None:
    registry = Registry(now=NOW, seed=1)
    registry.bootstrap(now=NOW, host="10.1.2.3", port=6443)
    wrong = []
    for number, line in enumerate(gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines(), 1):
        record = json.loads(line)
        answer = perform(registry, record)
        if record["kind"][1] == "Namespace" and record["op"] == "create":
            _mount_no_tokens(registry)
        lines = [] if record.get("skip") else differences(record, *answer)
        if lines:
            wrong.append(
                f"line {number}, {record['op']} {record['kind'][1]} {record['name']}: {'; '.join(lines)[:600]}"
            )
    assert not wrong, "\n".join([f"{len(wrong)} answers differ", *wrong[:20]])


def _mount_no_tokens(registry: Registry) -> None:
    """As the accounts of the recorded server: the volumes of their tokens would have random names."""
    accounts, body = registry.resource("v1", "ServiceAccount"), {"automountServiceAccountToken": False}
    for account in registry.all("v1", "ServiceAccount"):
        if "automountServiceAccountToken" not in account:
            registry.patch(accounts, account["metadata"]["namespace"], "default", "merge", body, now=NOW)
