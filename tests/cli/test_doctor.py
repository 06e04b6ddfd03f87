"""`mooring doctor` tells scripts by its exit code whether anything was found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from mooring.cli import doctor


@pytest.mark.parametrize(
    ("findings", "code", "said"),
    [
        ([], 0, "Nothing is wrong with pools and hosts.\n"),
        (
            [SimpleNamespace(about="pool gpu", problem="no host is free", command="mooring token")],
            2,
            "pool gpu: no host is free\n  mooring token\n",
        ),
    ],
    ids=["nothing is found", "something is found"],
)
def test_the_exit_code_says_whether_something_is_wrong(
    findings: list[Any], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = SimpleNamespace(diagnose=lambda world, decisions: findings)
    read = SimpleNamespace(report=report, world=None, decisions=())
    monkeypatch.setattr(doctor, "fetch_pools", lambda kubeconfig, context: (read, None))
    done = CliRunner().invoke(doctor.command, [])
    assert (done.exit_code, done.output) == (code, said)
