"""Pools as users change them, with the commands of docs/machines.md, in both homes: updates, pauses, and drains."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from mooring.testing.workloads import budget, deployment, template
from tests.e2e.test_hosts import BASH, ROOT, Shell, eventually, pools, reason_of, shell

# Fixtures of this module too.
__all__ = ["pools", "shell"]

# The commands of docs/machines.md, in their order.
UPDATE, LOOK, USE_HOSTS_AGAIN, PAUSE, RESUME = BASH.findall((ROOT / "docs" / "machines.md").read_text(encoding="utf-8"))


def versions(shell: Shell) -> dict[str, str]:
    nodes = shell.items("nodes", "-l purpose=worker").items()
    return {name: node["status"]["nodeInfo"]["kubeletVersion"] for name, node in nodes}


def rolling_out(shell: Shell) -> str:
    return reason_of(shell.items("machinedeployment")["worker-pool"], type_="RollingOut")


def test_a_full_pool_is_updated_by_using_its_hosts_again(pools: Shell) -> None:
    before = dict.fromkeys(("node10", "node12"), "v1.34.1")
    assert versions(pools) == before
    pools.run(UPDATE)
    eventually(lambda: rolling_out(pools) == "RolloutBlocked", "it is told that no host is free")
    assert "set maxSurge to 0 and maxUnavailable to 1" in pools.run(LOOK)
    assert versions(pools) == before
    pools.run(USE_HOSTS_AGAIN)
    eventually(lambda: rolling_out(pools) == "NotRollingOut", "the rollout ends")
    eventually(lambda: pools.ready("worker-pool") == 2, "both are ready")
    assert versions(pools) == dict.fromkeys(before, "v1.35.0")
    assert len(pools.items("machineset", "-n default -l cluster.x-k8s.io/deployment-name=worker-pool")) == 1


def test_both_versions_of_the_api_are_one_object(pools: Shell) -> None:
    old = json.loads(
        pools.run("kubectl get machinedeployments.v1beta1.cluster.x-k8s.io worker-pool -n default -o json")
    )
    assert old["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert old["status"]["updatedReplicas"] == 2
    assert old["spec"]["template"]["spec"]["infrastructureRef"] == {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "ByoMachineTemplate",
        "name": "worker-template",
    }


def test_a_paused_cluster_is_left_as_it_is(pools: Shell) -> None:
    pools.run(PAUSE)
    eventually(lambda: reason_of(pools.items("machinedeployment")["worker-pool"], "status", "Paused") == "True", "told")
    pools.run("kubectl scale machinedeployment worker-pool -n default --replicas=1")
    # Pauses are told where hosts are, so that their agents rest too.
    eventually(
        lambda: "cluster.x-k8s.io/paused" in pools.items("byohost")["node10"]["metadata"].get("annotations", {}),
        "the host is paused",
    )
    assert sorted(versions(pools)) == ["node10", "node12"]
    pools.run(RESUME)
    eventually(lambda: len(versions(pools)) == 1, "one goes")
    pools.run("kubectl scale machinedeployment worker-pool -n default --replicas=2")
    eventually(lambda: pools.ready("worker-pool") == 2, "and comes back")


def test_a_drain_waits_for_the_disruption_budget(pools: Shell) -> None:
    made = deployment("web", 2, pods=template(app="web", nodeSelector={"purpose": "worker"}))
    for obj in (made, budget("web", "web", minAvailable=2)):
        obj["metadata"]["namespace"] = "default"
        pools.run(f"kubectl apply -f - <<'EOF'\n{json.dumps(obj)}\nEOF")
    pools.run("kubectl rollout status deployment/web -n default --timeout=60s")
    pods = pools.items("pods", "-n default -l app=web").values()
    node = next(iter(pods))["spec"]["nodeName"]
    machine = next(
        name
        for name, each in pools.items("machine").items()
        if each.get("status", {}).get("nodeRef", {}).get("name") == node
    )
    pools.run(f"kubectl delete machine {machine} -n default --wait=false")
    eventually(lambda: "disruption budget" in reason_of(pools.items("machine")[machine], "message", "Deleting"), "told")
    assert reason_of(pools.items("machine")[machine], "reason", "Deleting") == "DrainingNode"
    assert pools.items("nodes", "")[node]["spec"]["unschedulable"] is True
    pools.run("kubectl delete pdb web -n default")
    eventually(lambda: machine not in pools.items("machine"), "the Machine goes")
    eventually(lambda: pools.ready("worker-pool") == 2, "another takes its place")
    pools.run("kubectl delete deployment web -n default --wait=false")


def test_a_pasted_command_raises_the_pool_and_corrects_the_workload(pools: Shell, tmp_path: Path) -> None:
    pools.run("kubectl label byohost node13 -n default purpose=worker --overwrite")
    made = deployment("front", 3, pods=template(app="front", nodeSelector={"purpose": "wroker"}))
    made["metadata"]["namespace"] = "default"
    spec = made["spec"]["template"]["spec"]
    spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    not_gpu = {"matchExpressions": [{"key": "purpose", "operator": "NotIn", "values": ["gpu"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [not_gpu]}}
    spec["affinity"] = {"nodeAffinity": required}
    file = tmp_path / "front.json"
    file.write_text(json.dumps(made))
    asked = ["explain", "-f", str(file), "-o", "json", "--kubeconfig", str(pools.home.kubeconfig)]
    done = subprocess.run([sys.executable, "-m", "mooring", *asked], capture_output=True, text=True, check=False)
    wanted = 'Correct nodeSelector purpose from "wroker" to "worker", and raise pool worker-pool from 2 to 3'
    (advice,) = (each for each in json.loads(done.stdout)["pods"][0]["advice"] if each["title"] == wanted)
    assert advice["brings"] == 3
    pools.run(f"{advice['command']} | kubectl apply -f -")
    pools.run("kubectl rollout status deployment/front -n default --timeout=60s")
    pools.run("kubectl delete deployment front -n default --wait=false")
