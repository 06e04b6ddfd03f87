"""The pod of the autoscaler on this machine: it is the process that decides, and one that dies is replaced."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from mooring.kube.objects import Object
from mooring.testing.homes import EMBEDDED, whole
from tests.e2e.test_autoscaler import ANNOTATE, LOOK, QUICK, apply_gpu_pod, targets
from tests.e2e.test_hosts import BASH, BLOCKS, FLEET, ROOT, TIMEOUTS, Shell, eventually

MOVE = BASH.findall((ROOT / "docs" / "autoscaler.md").read_text(encoding="utf-8"))[2]
KILL = 'for p in /proc/[0-9]*; do case "$(readlink $p/exe)" in *python*) kill -9 ${p#/proc/};; esac; done'
DEPLOYMENT = "deployment/cluster-autoscaler -n kube-system"


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Pools at zero, and the autoscaler's pod where the fleet puts it: on a simulated node."""
    up = ("--fleet", str(FLEET), *TIMEOUTS, *QUICK)
    with whole(EMBEDDED, tmp_path_factory.mktemp("up"), up_arguments=up) as home:
        shell = Shell(home)
        eventually(lambda: len(shell.items("byohost")) == 4, "there are four hosts")
        for block in BLOCKS[:5]:
            shell.run(re.sub(r"replicas: \d", "replicas: 0", block))
        shell.run(ANNOTATE)
        yield shell


def lease(shell: Shell) -> Object:
    found = shell.run("kubectl get lease cluster-autoscaler -n kube-system -o json")
    spec: Object = json.loads(found)["spec"]
    return spec


def pod_name(shell: Shell) -> str:
    """The pod on this machine; one on a simulated node may still be on its way out."""
    found = shell.items("pods", "-n kube-system -l app=cluster-autoscaler")
    (name,) = (name for name, pod in found.items() if "mooring.dev/process" in pod["spec"]["nodeSelector"])
    return name


def container_log(shell: Shell) -> list[str]:
    """The messages that the container has printed."""
    return [json.loads(line)["message"] for line in shell.run(f"kubectl logs {DEPLOYMENT}").splitlines()]


def test_the_pod_that_lands_on_this_machine_decides_and_survives_a_kill(pools: Shell) -> None:
    eventually(lambda: "discovered nodegroup" in pools.run(LOOK), "the stand-in decides")
    assert lease(pools)["holderIdentity"] == "mooring-up"
    args = json.dumps(["--controllers", "cluster-autoscaler", *QUICK])
    container = f'{{"name": "cluster-autoscaler", "args": {args}}}'
    pools.run(
        f'kubectl patch {DEPLOYMENT} -p \'{{"spec": {{"template": {{"spec": {{"containers": [{container}]}}}}}}}}\''
    )
    pools.run(MOVE)
    eventually(lambda: lease(pools)["holderIdentity"].startswith(pod_name(pools)), "the pod holds the Lease")
    line = "discovered nodegroup: MachineDeployment/default/gpu-pool (min: 0, max: 2, replicas: 0)"
    eventually(lambda: line in container_log(pools), "the container's log has the pools")
    assert re.search(r"cluster-autoscaler-\S+ +1/1 +Running", pools.run(LOOK))

    apply_gpu_pod(pools, "first")
    pools.run("kubectl wait --for=condition=Ready pod/first -n default --timeout=60s")
    assert "Final scale-up plan: [{MachineDeployment/default/gpu-pool 0->1 (max: 2)}]" in container_log(pools)

    before = lease(pools)["holderIdentity"]
    pools.run(f"kubectl exec {DEPLOYMENT} -- sh -c '{KILL}' || true")
    eventually(lambda: lease(pools)["holderIdentity"] not in (before, "mooring-up"), "the pod is at work again")
    assert lease(pools)["holderIdentity"].startswith(pod_name(pools))
    assert targets(pools) == {"worker-pool": 0, "gpu-pool": 1}


def test_the_pod_may_do_no_more_than_the_autoscaler_declares(pools: Shell) -> None:
    account = "--as=system:serviceaccount:kube-system:cluster-autoscaler"
    rights = {
        "patch machinedeployments.cluster.x-k8s.io --subresource=scale -n default": "yes",
        "patch leases/cluster-autoscaler -n kube-system": "yes",
        "patch leases/kube-scheduler -n kube-system": "no",
        "delete pods -n default": "no",
        "get secrets -n kube-system": "no",
    }
    asked = {what: pools.run(f"kubectl auth can-i {what} {account} || true").strip() for what in rights}
    assert asked == rights
