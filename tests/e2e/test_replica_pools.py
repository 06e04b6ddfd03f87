"""A pool for every replica as users have it: docs/replica-pools.md typed with kubectl, in both homes.

A LeaderWorkerSet goes from two replicas to four and to one, an update surges, and a host is lost. Beside a real control
plane Mooring runs its controllers and webhooks from outside, and plays the agents of hosts there too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from mooring.features.groups.feature import GROUPS
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES, REAL, whole
from mooring.testing.tools import ToolMissing
from tests.e2e.test_autoscaler import events, mooring
from tests.e2e.test_hosts import BASH, ROOT, RUN_CONTROLLERS, TIMEOUTS, Shell, eventually, on_real

FLEET = ROOT / "examples" / "replica-pools" / "fleet.yaml"
APPLY, ALLOW, LOOK, TO_FOUR, TO_ONE = BASH.findall((ROOT / "docs" / "replica-pools.md").read_text(encoding="utf-8"))
QUICK = ("--scan-interval=1s", "--replica-pool-unneeded-time=2s", "--scale-down-unready-time=1s")
KEY = "example.com/node-group"
SERVING = "-n serving"
NEW_IMAGE = json.dumps(
    [{"op": "replace", "path": "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "value": "vllm:2"}]
)
NOT_READY = json.dumps(
    {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
)


@pytest.fixture(scope="module", params=HOMES)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    name, folder = str(request.param), tmp_path_factory.mktemp(f"{request.param}-replicas")
    up = ("--fleet", str(FLEET), "--controllers", "-process-node", *TIMEOUTS, *QUICK)
    controllers = ",".join((RUN_CONTROLLERS, *GROUPS.names, "replica-pools"))
    try:
        with whole(name, folder, run_arguments=(), up_arguments=up) as home:
            made = Shell(home)
            running = on_real(home, made, controllers, *QUICK, fleet=FLEET) if name == REAL else None
            try:
                eventually(lambda: phases(made) == ["Available"] * 8, "all hosts are free")
                yield made
            finally:
                if running is not None:
                    running.stop()
    except ToolMissing as error:
        missing(error)


def phases(shell: Shell) -> list[str]:
    return sorted(each.get("status", {}).get("phase", "") for each in shell.items("byohost").values())


def pools(shell: Shell) -> dict[str, int]:
    return {name: pool["spec"]["replicas"] for name, pool in shell.items("machinedeployment").items()}


def nodes_by_replica(shell: Shell) -> dict[str, set[str]]:
    """The nodes on which the pods of each replica run."""
    found: dict[str, set[str]] = {}
    for pod in shell.items("pods", SERVING).values():
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]:
            found.setdefault(pod["spec"]["nodeSelector"][KEY], set()).add(pod["spec"]["nodeName"])
    return found


def check_whole(shell: Shell, replicas: int) -> None:
    """Every replica runs on two hosts of its own, and there are no other pools."""
    names = [f"deepseek-{number}" for number in range(replicas)]
    eventually(lambda: pools(shell) == dict.fromkeys(names, 2), f"there are {replicas} pools")
    eventually(lambda: [len(nodes_by_replica(shell).get(name, ())) for name in names] == [2] * replicas, "all run")
    found = nodes_by_replica(shell)
    assert len(set().union(*found.values())) == 2 * replicas
    eventually(lambda: phases(shell).count("Claimed") == 2 * replicas, "other hosts are free")


def test_nothing_is_made_without_a_policy_and_the_event_says_how_to_allow_it(shell: Shell) -> None:
    eventually(lambda: shell.run(APPLY), "the set is applied")
    eventually(lambda: len(events(shell, "NotTriggerScaleUp")) == 4, "all pods are told")
    assert "there is no ConfigMap kube-system/mooring-replica-pools; create it" in events(shell, "NotTriggerScaleUp")[0]
    assert pools(shell) == {}
    assert "kubectl create configmap mooring-replica-pools -n kube-system" in mooring(shell, "doctor")
    told = f"no nodes are added for {KEY}=deepseek-0: there is no ConfigMap kube-system/mooring-replica-pools"
    assert told in mooring(shell, "explain", "pod/deepseek-0", "-n", "serving")


def test_every_replica_gets_hosts_of_its_own(shell: Shell) -> None:
    shell.run(ALLOW)
    check_whole(shell, 2)
    looked = shell.run(LOOK)
    assert re.search(r"deepseek-1 +my-cluster +.* deepseek-1\n", looked), looked
    node = shell.items("nodes", "")[min(nodes_by_replica(shell)["deepseek-0"])]
    assert {"key": KEY, "value": "deepseek-0", "effect": "NoSchedule"} in node["spec"]["taints"]
    listed = mooring(shell, "pools")
    assert re.search(r"default +deepseek-0 +- +- +2 +2 +4 +for serving/deepseek-0", listed), listed
    told = mooring(shell, "pools", "explain", "deepseek-0", "-n", "default")
    assert f"2 pods of serving/deepseek-0 ask for nodes with {KEY}=deepseek-0" in told
    assert mooring(shell, "doctor") == "Nothing is wrong with pools and hosts.\n"


def test_pools_come_and_go_with_replicas(shell: Shell) -> None:
    shell.run(TO_FOUR)
    check_whole(shell, 4)
    shell.run(TO_ONE)
    check_whole(shell, 1)
    eventually(lambda: phases(shell) == ["Available"] * 6 + ["Claimed"] * 2, "hosts go back")
    eventually(lambda: sorted(shell.items("byomachinetemplate")) == ["deepseek-0"], "templates go with their pools")


def test_an_update_that_surges_has_a_pool_for_the_time_of_it(shell: Shell) -> None:
    shell.run(f"kubectl patch leaderworkerset deepseek -n serving --type=json -p '{NEW_IMAGE}'")
    eventually(lambda: "deepseek-1" in pools(shell), "the surge has a pool")
    eventually(lambda: images(shell) == ["vllm:2"] * 2, "the update is through")
    check_whole(shell, 1)


def images(shell: Shell) -> list[str]:
    return [each["spec"]["containers"][0]["image"] for each in shell.items("pods", SERVING).values()]


def test_a_lost_host_is_replaced_and_the_replica_runs_again(shell: Shell) -> None:
    lost = min(nodes_by_replica(shell)["deepseek-0"])
    shell.run(f"kubectl annotate byohost/{lost} -n default mooring.dev/lost=yes")
    shell.run(f"kubectl annotate node/{lost} mooring.dev/lost=yes")
    # So that nobody has to wait until the node counts as lost, nor until its pods are collected.
    shell.run(f"kubectl patch node {lost} --subresource=status --type=strategic -p '{NOT_READY}'")
    eventually(lambda: lost not in shell.items("nodes", ""), "the lost node is given up")
    stuck = f"kubectl get pods {SERVING} --field-selector spec.nodeName={lost} -o name"
    shell.run(f"{stuck} | xargs --no-run-if-empty kubectl delete {SERVING} --grace-period=0 --force")
    eventually(lambda: lost not in nodes_by_replica(shell).get("deepseek-0", {lost}), "another has taken its place")
    check_whole(shell, 1)
    assert any(f"node {lost} is not ready: Machine deepseek-0-" in text for text in events(shell, "HostLost"))


def test_nothing_is_left_when_the_set_is_gone(shell: Shell) -> None:
    shell.run("kubectl delete leaderworkerset deepseek -n serving")
    eventually(lambda: pools(shell) == {} and shell.items("byomachinetemplate") == {}, "no pool is left")
    eventually(lambda: list(shell.items("nodes", "")) == ["control-plane"], "no node is left")
    eventually(lambda: "Claimed" not in phases(shell), "no host is claimed")
