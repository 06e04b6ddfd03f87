"""The mode of Workspaces on the command line: `up`, `run` and `plan` refuse what makes no sense, and start nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.features.workspaces.feature import WORKSPACES
from mooring.features.workspaces.flags import contradiction
from mooring.runtime.settings import Configuration

GATE = "disableNodeAutoProvisioning"


@pytest.mark.parametrize("command", ["up", "run", "plan"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--feature-gates", f"{GATE}=false", "--node-provisioner", "byo"),
            f"--node-provisioner byo and --feature-gates {GATE}=false contradict each other; "
            f"drop one of them, or set {GATE}=true",
        ),
        (
            ("--feature-gates", f"{GATE}=true", "--node-provisioner", "karpenter"),
            f"--node-provisioner karpenter and --feature-gates {GATE}=true contradict each other; "
            f"drop one of them, or set {GATE}=false",
        ),
        (("--node-provisioner", "gpu"), '--node-provisioner: "gpu" is none of byo, karpenter, azure-gpu-provisioner'),
        (("--not-ready-nodes", "wait"), '--not-ready-nodes: "wait" is none of reject, pending'),
        (
            ("--feature-gates", "enableMIG=true"),
            "--feature-gates: enableMIG cannot be opened: Mooring has no such part yet",
        ),
        (
            ("--feature-gates", "vLLM=true"),
            "--feature-gates: vLLM cannot be opened: a Workspace chooses its runtime with the annotation",
        ),
    ],
    ids=["byo and on", "karpenter and off", "no provisioner", "no way to wait", "a part to come", "runtime"],
)
def test_what_makes_no_sense_starts_nothing(
    command: str, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    needed = {"plan": ("--snapshot", "none.yaml", "-f", "none.yaml")}.get(command, ())
    result = CliRunner().invoke(cli, [command, *needed, *arguments])
    assert result.exit_code != 0
    assert result.stderr.startswith(f"error: {said}"), result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("gates", "settings"),
    [
        ({}, {}),
        ({GATE: True}, {"node-provisioner": "byo"}),
        ({GATE: False}, {"node-provisioner": "karpenter"}),
        ({GATE: False}, {}),
        ({}, {"node-provisioner": "azure-gpu-provisioner"}),
    ],
)
def test_both_spellings_may_say_the_same(gates: dict[str, bool], settings: dict[str, str]) -> None:
    assert contradiction(Configuration(gates, settings)) == ""


def test_every_gate_of_upstream_is_known() -> None:
    assert set(WORKSPACES.refused_gates) | set(WORKSPACES.gates) == {
        "vLLM", GATE, "gatewayAPIInferenceExtension", "enableInferenceSetController", "enableMIG", "enableAccelerator",
        "enableMultiRoleInferenceController", "ModelMirror", "ModelStreaming", "enableBaseImageAutoUpgrade",
    }  # fmt: skip
