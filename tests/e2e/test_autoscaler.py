"""The autoscaler as users have it: the commands of docs/autoscaler.md with kubectl, and scenarios S4 and S5."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES, REAL, whole
from mooring.testing.tools import ToolMissing
from tests.e2e.test_hosts import BASH, BLOCKS, FLEET, ROOT, RUN_CONTROLLERS, SEED, TIMEOUTS, Shell, eventually, on_real

ANNOTATE, LOOK = BASH.findall((ROOT / "docs" / "autoscaler.md").read_text(encoding="utf-8"))[:2]
TROUBLESHOOTING = BASH.findall((ROOT / "docs" / "autoscaler-troubleshooting.md").read_text(encoding="utf-8"))
QUICK = (
    "--scan-interval=1s",
    "--new-gpu-pod-delay=0s",
    "--scale-down-unneeded-time=6s",
    "--scale-down-delay-after-add=2s",
    "--node-deletion-delay-after-taint=1s",
)
GPU_POD = """
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: default
spec:
  nodeSelector:
    purpose: gpu
  containers:
  - name: gpu-container
    image: nvidia/cuda:11.0
    resources:
      limits:
        nvidia.com/gpu: 1
"""


@pytest.fixture(scope="module", params=HOMES)
def pools(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The hosts and templates of docs/hosts-and-pools.md, its pools at zero, and their bounds."""
    name, folder = str(request.param), tmp_path_factory.mktemp(str(request.param))
    up = ("--fleet", str(FLEET), "--controllers", "-process-node", *TIMEOUTS, *QUICK)
    try:
        with whole(name, folder, run_arguments=(), up_arguments=up) as home:
            shell = Shell(home)
            controllers = f"{RUN_CONTROLLERS},cluster-autoscaler"
            running = on_real(home, shell, controllers, *QUICK) if name == REAL else None
            try:
                eventually(lambda: len(shell.items("byohost")) == 4, "there are four hosts")
                for block in BLOCKS[:5]:
                    shell.run(re.sub(r"replicas: \d", "replicas: 0", block))
                shell.run(ANNOTATE)
                yield shell
            finally:
                if running is not None:
                    running.stop()
    except ToolMissing as error:
        missing(error)


def targets(shell: Shell) -> dict[str, int]:
    return {name: pool["spec"]["replicas"] for name, pool in shell.items("machinedeployment").items()}


def apply_gpu_pod(shell: Shell, name: str) -> None:
    shell.run(f"kubectl apply -f - <<'EOF'\n{GPU_POD.format(name=name)}\nEOF")


def events(shell: Shell, reason: str) -> list[str]:
    found = json.loads(shell.run(f"kubectl get events -A --field-selector reason={reason} -o json"))["items"]
    return [each["message"] for each in found]


@pytest.mark.skipif(not SEED.is_file(), reason="the seed is not here")
def test_the_page_has_the_autoscaler_commands_of_the_seed() -> None:
    written = (ROOT / "docs" / "autoscaler.md").read_text(encoding="utf-8")
    blocks = BASH.findall(SEED.read_text(encoding="utf-8"))
    commands = [
        line for line in "".join(blocks).splitlines() if "autoscaler" in line and line.startswith("kubectl get")
    ]
    assert [line for line in commands if line not in written] == []
    annotated = next(block for block in blocks if "kubectl annotate" in block)
    assert set(annotated.split()) - {"#", "Worker", "GPU", "pool"} == set(ANNOTATE.split())


def test_a_running_pod_has_the_log_of_the_autoscaler(pools: Shell) -> None:
    pools.run("kubectl rollout status deployment/cluster-autoscaler -n kube-system --timeout=60s")
    line = "discovered nodegroup: MachineDeployment/default/worker-pool (min: 0, max: 5, replicas: 0)"
    if pools.home.name == REAL:
        # The API server of Mooring alone shows what a simulated pod has not printed itself.
        eventually(lambda: line in pools.run(LOOK.splitlines()[2]), "the ConfigMap has the pools")
        return
    eventually(lambda: line in pools.run(LOOK), "the log has the pools")
    assert re.search(r"cluster-autoscaler-\S+ +1/1 +Running", pools.run(LOOK))


def test_a_gpu_pod_makes_the_gpu_pool_grow_from_zero_and_a_second_is_told_why_not(pools: Shell) -> None:
    apply_gpu_pod(pools, "first")
    pools.run("kubectl wait --for=condition=Ready pod/first -n default --timeout=60s")
    assert targets(pools) == {"worker-pool": 0, "gpu-pool": 1}
    assert pools.items("pods")["first"]["spec"]["nodeName"] == "node11"
    plan = "[{MachineDeployment/default/gpu-pool 0->1 (max: 2)}]"
    eventually(lambda: events(pools, "TriggeredScaleUp"), "it is told")
    assert events(pools, "TriggeredScaleUp") == [f"pod triggered scale-up: {plan}"]
    apply_gpu_pod(pools, "second")
    eventually(lambda: events(pools, "NotTriggerScaleUp"), "the second pod is told")
    (message,) = events(pools, "NotTriggerScaleUp")
    assert "1 no free host for another node" in message
    assert targets(pools) == {"worker-pool": 0, "gpu-pool": 1}


def mooring(shell: Shell, *arguments: str) -> str:
    done = CliRunner().invoke(cli, [*arguments, "--kubeconfig", str(shell.home.kubeconfig)])
    return done.output


def test_people_are_told_about_each_pool(pools: Shell) -> None:
    listed = mooring(pools, "pools")
    assert re.search(r"default +gpu-pool +0 +2 +1 +1 +0 +Healthy", listed), listed
    assert re.search(r"default +worker-pool +0 +5 +0 +0 +2 +Healthy", listed), listed
    told = mooring(pools, "pools", "explain", "gpu-pool", "-n", "default")
    assert "0 of 1 hosts that match are free" in told
    assert "its maximum is 2, and hosts suffice for 1" in told
    assert "Final scale-up plan: [{MachineDeployment/default/gpu-pool 0->1 (max: 2)}]" in told
    assert "Skipping node group MachineDeployment/default/gpu-pool - no free host for another node" in told
    assert "error: there is no pool gpu in namespace default" in mooring(pools, "pools", "explain", "gpu")
    assert "its maximum is 2, and 1 host matches" in mooring(pools, "doctor")
    assert all(map(pools.run, TROUBLESHOOTING))
    advice = mooring(pools, "explain", "pod/second", "-n", "default")
    assert "raise pool" not in advice
    assert "none of the 1 hosts that match is to spare; register a host with the labels purpose=gpu" in advice


def test_an_idle_node_goes_and_its_host_is_clean(pools: Shell) -> None:
    pools.run("kubectl delete pod first second -n default --wait=false")
    eventually(lambda: targets(pools)["gpu-pool"] == 0, "the target is lowered")
    eventually(lambda: "node11" not in pools.claims(), "the host is free")
    eventually(lambda: list(pools.items("nodes", "")) == ["control-plane"], "the node goes")
    assert pools.items("machine") == {}
    host = pools.items("byohost")["node11"]
    eventually(lambda: pools.items("byohost")["node11"]["status"]["phase"] == "Available", "it can be claimed")
    assert "purpose" not in host["spec"].get("labels", {})
    assert events(pools, "ScaleDownEmpty") == ['Scale-down: removing empty node "node11"']
