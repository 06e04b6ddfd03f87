"""Hosts and pools as users have them: the commands of docs/hosts-and-pools.md, typed with kubectl, in both homes.

The embedded cluster starts with examples/fleets/byoh.yaml. Beside a real control plane Mooring runs its controllers and
webhooks from outside, and plays the agents of hosts there too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.features.hosts.feature import HOSTS
from mooring.features.machines.feature import MACHINES
from mooring.kube.objects import Object
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES, REAL, Home, whole
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import ToolMissing, tool

ROOT = Path(__file__).parents[2]
FLEET = ROOT / "examples" / "fleets" / "byoh.yaml"
PAGE = (ROOT / "docs" / "hosts-and-pools.md").read_text(encoding="utf-8")
SEED = ROOT.parent / "shared" / "seeds" / "multi-pool-hosts.md"
BASH = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BASH.findall(PAGE)
PATIENCE = 60.0
TIMEOUTS = (
    "--host-cleanup-timeout=3s",
    "--host-heartbeat-timeout=4s",
    "--simulated-host-heartbeat=1s",
)
RUN_CONTROLLERS = ",".join((*HOSTS.names, *MACHINES.names, "nodes"))
BIG = {"name": "c", "image": "big", "resources": {"requests": {"cpu": "1000"}}}
PURPOSES = {"node10": "worker", "node11": "gpu", "node12": "worker"}


class Shell:
    """A terminal with kubectl on one of the homes."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._environment = {"KUBECONFIG": str(home.kubeconfig), "PATH": f"{tool('kubectl').parent}:/usr/bin:/bin"}

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", command],
            env={**self._environment, "HOME": str(self.home.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def explained(self, spec: Object) -> str:
        """What `mooring explain` says of a pod that no node has room for."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": spec}
        command = [sys.executable, "-m", "mooring", "explain", "-f", "-", "--kubeconfig", str(self.home.kubeconfig)]
        done = subprocess.run(command, input=json.dumps(pod), capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        return done.stdout

    def items(self, kind: str, arguments: str = "-n default") -> dict[str, Object]:
        found = json.loads(self.run(f"kubectl get {kind} {arguments} -o json"))["items"]
        return {each["metadata"]["name"]: each for each in found}

    def claims(self) -> dict[str, str]:
        """The pool of each host that is claimed."""
        found = {}
        for name, host in self.items("byohost").items():
            ref = host.get("status", {}).get("machineRef")
            if ref is not None:
                found[name] = ref["name"].rpartition("-pool-")[0]
        return found

    def waiting(self) -> dict[str, str]:
        """ByoMachines that are not ready, with the message of BYOHostReady."""
        return {
            name: reason_of(each, "message")
            for name, each in self.items("byomachine").items()
            if not each.get("status", {}).get("ready")
        }

    def ready(self, pool: str) -> int:
        status = self.items("machinedeployment")[pool].get("status", {})
        return int(status.get("readyReplicas", 0))


def reason_of(obj: Object, part: str = "reason", type_: str = "BYOHostReady") -> str:
    conditions = obj.get("status", {}).get("conditions", ())
    return next((str(each.get(part, "")) for each in conditions if each["type"] == type_), "")


def eventually(check: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if check():
                return
            why = "not yet"
        except AssertionError as error:
            why = str(error)
        assert time.monotonic() < end, f"{what}: {why}"
        time.sleep(0.2)


def on_real(
    home: Home, shell: Shell, controllers: str = RUN_CONTROLLERS, *flags: str, fleet: Path = FLEET
) -> ProgramProcess:
    """Definitions, what every kubeadm cluster says of itself, Mooring's controllers, and the fleet."""
    with home.api() as api:
        for definition in CATALOG.definitions(tuple(controllers.split(","))):
            path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
            answer = api.patch(path, "apply", definition, fieldManager="test", force="true")
            assert answer.code in (200, 201), answer.body
    port = free_port()
    command = [sys.executable, "-m", "mooring", "run", "--controllers", controllers, "--no-leader-elect"]
    command += [*TIMEOUTS, *flags, "--webhook-url", f"https://127.0.0.1:{port}"]
    command += ["--webhook-certificates", str(home.folder / "webhooks"), "--kubeconfig", str(home.kubeconfig)]
    process = ProgramProcess(command, home.folder / "run.log")
    info = home.folder / "info.yaml"
    cluster = {"name": "", "cluster": {"server": home.url}}
    info.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "clusters": [cluster]}), encoding="utf-8")
    shell.run(f"kubectl create configmap cluster-info -n kube-public --from-file=kubeconfig={info}")
    eventually(lambda: shell.run(f"kubectl apply -f {fleet}"), "the fleet is applied")
    return process


@pytest.fixture(scope="module", params=HOMES)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A home with four hosts and the pools of the page."""
    name, folder = str(request.param), tmp_path_factory.mktemp(str(request.param))
    up = ("--fleet", str(FLEET), "--controllers", "-process-node", *TIMEOUTS)
    try:
        with whole(name, folder, run_arguments=(), up_arguments=up) as home:
            made = Shell(home)
            running = on_real(home, made) if name == REAL else None
            try:
                eventually(lambda: len(made.items("byohost")) == 4, "there are four hosts")
                eventually(
                    lambda: reason_of(made.items("byohost")["node13"], "status", "HostHealthy") == "True", "healthy"
                )
                yield made
            finally:
                if running is not None:
                    running.stop()
    except ToolMissing as error:
        missing(error)


@pytest.fixture(scope="module")
def pools(shell: Shell) -> Shell:
    for block in BLOCKS[:5]:
        shell.run(block)
    eventually(lambda: shell.ready("worker-pool") == 2 and shell.ready("gpu-pool") == 1, "both pools are ready")
    return shell


@pytest.mark.skipif(not SEED.is_file(), reason="the seed is not here")
def test_the_page_has_every_command_of_the_seed_up_to_the_autoscaler() -> None:
    assert BASH.findall(SEED.read_text(encoding="utf-8"))[:5] == BLOCKS[:5]


def test_hosts_become_nodes_of_the_pool_that_asks_for_them(pools: Shell) -> None:
    assert pools.claims() == {"node10": "worker", "node12": "worker", "node11": "gpu"}
    nodes = pools.items("nodes", "")
    assert {name: nodes[name]["metadata"]["labels"]["purpose"] for name in PURPOSES} == PURPOSES
    assert {nodes[name]["spec"]["providerID"] for name in PURPOSES} == {f"byoh://{name}" for name in PURPOSES}
    assert nodes["node11"]["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.1"
    assert nodes["node11"]["status"]["allocatable"]["nvidia.com/gpu"] == "1"
    assert "node13" not in nodes


def test_the_commands_that_look_show_what_the_page_says(pools: Shell) -> None:
    shown = "".join(pools.run(block) for block in BLOCKS[5:])
    assert re.search(r"node11 +linux +Ubuntu 22.04 +amd64 +Claimed +gpu-pool-\S+ ", shown)
    assert re.search(r"node13 +linux +Ubuntu 22.04 +amd64 +Available ", shown)
    assert '{"matchLabels":{"purpose":"gpu"}}' in shown
    assert '"purpose":"worker"' in shown
    assert re.search(r"worker-pool +my-cluster +True +2 +2 +2 ", shown)


def test_a_gpu_pod_goes_to_the_gpu_pool(pools: Shell) -> None:
    container = {"name": "c", "image": "nvidia/cuda:11.0", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec = {"nodeSelector": {"purpose": "gpu"}, "containers": [container]}
    pod = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gpu-workload"}, "spec": spec})
    pools.run(f"kubectl apply -f - <<'EOF'\n{pod}\nEOF")
    pools.run("kubectl wait --for=condition=Ready pod/gpu-workload --timeout=60s")
    assert pools.run("kubectl get pod gpu-workload -o jsonpath='{.spec.nodeName}'") == "node11"
    pools.run("kubectl delete pod gpu-workload --wait=false")


def test_a_host_in_use_cannot_be_deleted(pools: Shell) -> None:
    with pytest.raises(AssertionError, match="cannot be deleted while it is assigned to ByoMachine gpu-pool-"):
        pools.run("kubectl delete byohost node11 -n default")


def test_a_shortage_is_told_and_a_relabelled_host_ends_it_for_one(pools: Shell) -> None:
    pools.run("kubectl scale machinedeployment worker-pool -n default --replicas=5")
    eventually(lambda: len(pools.waiting()) == 3, "three wait")
    eventually(lambda: all("2 of 2 matching hosts are claimed" in text for text in pools.waiting().values()), "told")
    events = pools.run("kubectl get events -n default --field-selector reason=ByoHostSelectionFailed")
    assert "Warning" in events
    told = pools.explained({"nodeSelector": {"purpose": "worker"}, "containers": [BIG]})
    assert "MachineDeployment default/worker-pool brings nodes that big suits, and waits: 2 of 5 Machines" in told
    pools.run("kubectl label byohost node13 -n default purpose=worker --overwrite")
    eventually(lambda: pools.ready("worker-pool") == 3, "one more is ready")
    assert pools.claims()["node13"] == "worker"
    assert len(pools.waiting()) == 2
    pools.run("kubectl label byohost node13 -n default purpose=general --overwrite")
    pools.run("kubectl scale machinedeployment worker-pool -n default --replicas=2")
    eventually(lambda: len(pools.claims()) == 3, "two remain")
    eventually(lambda: not pools.waiting(), "nobody waits")


def test_a_selector_that_matches_no_host_names_the_nearest_labels(pools: Shell) -> None:
    block = BLOCKS[1].replace("worker-template", "odd-template").replace("purpose: worker", "purpose: wroker")
    pools.run(block)
    eventually(lambda: "NoHostMatches" in pools.run("kubectl get byomachinetemplate odd-template -n default"), "told")
    told = reason_of(pools.items("byomachinetemplate")["odd-template"], "message", "Ready")
    assert "no ByoHost matches purpose=wroker; the nearest label is purpose=worker on node10" in told


def test_a_dead_agent_leaves_its_host_out_of_use_until_it_is_clean(pools: Shell) -> None:
    pools.run("kubectl annotate byohost node11 -n default mooring.dev/lost=true")
    pools.run("kubectl scale machinedeployment gpu-pool -n default --replicas=0")
    eventually(lambda: "node11" not in pools.claims(), "the claim ends without the agent")
    host = pools.items("byohost")["node11"]
    assert reason_of(host, type_="HostClean") == "ForcedRelease"
    assert host["status"]["phase"] == "Cleaning"
    pools.run("kubectl scale machinedeployment gpu-pool -n default --replicas=1")
    eventually(lambda: any("cannot be" in text for text in pools.waiting().values()), "it is not claimed")
    pools.run("kubectl annotate byohost node11 -n default mooring.dev/lost-")
    eventually(lambda: pools.claims().get("node11") == "gpu", "it is claimed again")
    eventually(lambda: pools.ready("gpu-pool") == 1, "and a node")
