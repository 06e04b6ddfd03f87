"""Two real hosts, two pools: claimed, made nodes by a real kubelet and containerd, drained, cleaned and claimed again.

Agents, kubelets and the API server are killed in between. What is on a host is printed before, during and after a
claim; before and after are equal, or the test is red.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import pytest

from mooring.api.certificates.x509_requests import CLIENT
from mooring.kube.objects import Object
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES
from mooring.testing.tools import ToolMissing, tool
from tests.builtin.certificates.requests import pem, signing_request
from tests.e2e.test_real_kubelet import forwarded
from tests.external.kubectl import Kubectl
from tests.realnode.agent import RealAgent
from tests.realnode.cluster import cluster_for_hosts
from tests.realnode.images import APP
from tests.realnode.leftovers import Inventory, inventory
from tests.realnode.network import local_network
from tests.realnode.pools import cluster_objects, pool_objects
from tests.realnode.programs import kubelet_or_skip

TOKEN = "agents.0123456789abcdef"
PATIENCE = 60.0
POOL_LABEL = "node.cluster.x-k8s.io/pool"


class Yard(NamedTuple):
    """A cluster, its two hosts with an agent each, and what was on them before."""

    kubectl: Kubectl
    kill_api_server: Callable[[], None]
    agents: dict[str, RealAgent]
    before: dict[str, Inventory]

    def until(self, holds: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                pytest.fail(f"There was no {what} after {PATIENCE:g} s.\n{self._state()}")
            time.sleep(0.2)

    def _state(self) -> str:
        said = [self.kubectl.run("get", "machines,byomachines,byohosts,nodes,pods,csr", "-o", "wide").stdout]
        return "\n".join([*said, *(f"{name}: {agent.log()[-2000:]}" for name, agent in self.agents.items())])

    def field(self, kind: str, name: str, path: str) -> str:
        return self.kubectl.run("get", kind, name, "-o", f"jsonpath={{{path}}}").stdout

    def is_ready(self, node: str) -> bool:
        return self.field("node", node, ".status.conditions[?(@.type=='Ready')].status") == "True"

    def is_free(self, host: str) -> bool:
        return self.field("byohost", host, ".status.phase") == "Available"

    def agent_of(self, host: str) -> Kubectl:
        """kubectl with the identity of that host's agent."""
        return Kubectl(self.kubectl.program, self.agents[host].root / "agent" / "config", self.kubectl.cache)

    def on(self, host: str) -> Inventory:
        return inventory(self.agents[host].root, self.agents[host].network)


@pytest.fixture(scope="module", params=HOMES)
def yard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    kubelet = kubelet_or_skip()
    # Paths of sockets are short, and pytest's folders are long.
    folder = tmp_path_factory.mktemp("y")
    try:
        with ExitStack() as stack:
            network = stack.enter_context(local_network(["a", "b"]))
            cluster = cluster_for_hosts(request.param, folder / "home", network.gateway)
            home, kill_api_server = stack.enter_context(cluster)
            kubectl = Kubectl(tool("kubectl"), home.kubeconfig, folder)
            hosts = zip(("node-a", "node-b"), network.hosts, strict=True)
            agents = {name: RealAgent(name, folder, host, kubelet) for name, host in hosts}
            for agent in agents.values():
                stack.callback(agent.stop)
            kubectl.apply(bootstrap_token(), flags=("--namespace", "kube-system"))
            kubectl.apply(*cluster_objects(home))
            before = {name: inventory(agent.root, agent.network) for name, agent in agents.items()}
            for agent, purpose in zip(agents.values(), ("worker", "gpu"), strict=True):
                agent.start(home, TOKEN, "--label", f"purpose={purpose}")
            yield Yard(kubectl, kill_api_server, agents, before)
    except ToolMissing as error:
        missing(error)


def bootstrap_token() -> Object:
    identity, secret = TOKEN.split(".")
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": f"bootstrap-token-{identity}", "namespace": "kube-system"},
        "stringData": {
            "token-id": identity,
            "token-secret": secret,
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:byoh",
        },
    }


def pod(pool: str) -> Object:
    container = {"name": "main", "image": APP, "imagePullPolicy": "Never"}
    spec = {
        "nodeSelector": {POOL_LABEL: pool},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": spec}


def refused(agent: Kubectl, *arguments: str, by: str, stdin: str | None = None) -> None:
    done = agent.run(*arguments, stdin=stdin)
    assert done.returncode == 1, f"kubectl {' '.join(arguments)} was let through"
    assert by in done.stderr, done.stderr


def test_an_agent_can_do_nothing_but_what_it_may(yard: Yard) -> None:
    yard.until(lambda: all(yard.is_free(name) for name in yard.agents), "two free hosts")
    agent = yard.agent_of("node-a")
    assert agent("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}") == "byoh:host:node-a"
    assert agent.get("byohost", "node-a")["metadata"]["name"] == "node-a"
    agent("label", "byohost", "node-a", "rack=1")
    agent("label", "byohost", "node-a", "rack-")

    # By access rules.
    for words in (
        "get byohost node-b",
        "get byohosts",
        "label byohost node-b rack=1",
        "delete byohost node-a",
        "get secrets",
        "get secret -n kube-system bootstrap-token-agents",
        "get nodes",
        "cordon node-b",
        "get pods -A",
        "run intruder --image=mooring.test/app:1",
        "get machines",
        "get byomachines",
        "certificate approve --force byoh-csr-node-b",
        "get csr",
        "create clusterrolebinding mine --clusterrole cluster-admin --user byoh:host:node-a",
        "auth can-i --as=system:admin get pods",
    ):
        refused(agent, *words.split(), by="orbidden")

    # By admission.
    other = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoHost", "metadata": {"name": "node-c"}}
    refused(agent, "create", "-f", "-", stdin=json.dumps(other), by="may write ByoHost node-a only, and not node-c")
    secret = {"spec": {"bootstrapSecret": {"kind": "Secret", "name": "any"}}}
    patch = ("patch", "byohost", "node-a", "--type", "merge", "-p")
    refused(agent, *patch, json.dumps(secret), by="spec.bootstrapSecret of ByoHost node-a are set by a claim")
    claim = {**other, "metadata": {"name": "node-a"}, "status": {"machineRef": {"kind": "ByoMachine", "name": "mine"}}}
    said = "status.machineRef of ByoHost node-a is set by a ByoMachine"
    applied = ("apply", "--server-side", "--subresource", "status", "-f", "-")
    refused(agent, *applied, stdin=json.dumps(claim), by=said)

    # By approval: neither an agent nor the token it came with gets the certificate of somebody else.
    for name, request, reason in (
        ("byoh-csr-node-b", signing_request(pem("byoh:host:node-b", ("byoh:hosts",)), CLIENT), "ForeignHost"),
        ("byoh-csr-node-a-1", signing_request(pem("byoh:host:node-a", ("byoh:hosts", "ops")), CLIENT), "NotAnAgent"),
    ):
        yard.kubectl.run("delete", "csr", name)
        request["metadata"] = {"name": name}
        agent("create", "-f", "-", stdin=json.dumps(request))
        verdict = partial(yard.field, "csr", name, ".status.conditions[0].reason")
        yard.until(verdict, f"verdict on {name}")
        assert verdict() == reason


def test_hosts_become_nodes_of_their_pools_and_are_clean_afterwards(yard: Yard) -> None:
    kubectl = yard.kubectl
    yard.until(lambda: all(yard.is_free(name) for name in yard.agents), "two free hosts")

    # Two claims; one agent is killed as soon as it has begun.
    kubectl.apply(*pool_objects("workers", 1, "worker", taint="dedicated"))
    kubectl.apply(*pool_objects("gpus", 1, "gpu", version="v1.34.0"))
    yard.until(lambda: "claimed by" in yard.agents["node-a"].log(), "claim")
    yard.agents["node-a"].kill()
    yard.agents["node-a"].restart()
    for name, pool in (("node-a", "workers"), ("node-b", "gpus")):
        yard.until(partial(yard.is_ready, name), f"Node {name} that is Ready")
        node = kubectl.get("node", name)
        assert node["metadata"]["labels"][POOL_LABEL] == pool
        assert node["metadata"]["labels"]["byohost.infrastructure.cluster.x-k8s.io/host"] == name
        assert node["spec"]["providerID"] == f"byoh://{name}"
        print(f"\n{name}: kubelet {node['status']['nodeInfo']['kubeletVersion']}")
    dedicated = {"key": "dedicated", "value": "yes", "effect": "NoSchedule"}
    assert dedicated in kubectl.get("node", "node-a")["spec"]["taints"]
    told = kubectl.get("byomachine", yard.field("byohost", "node-b", ".status.machineRef.name"))
    versions = {each["type"]: each for each in told["status"]["conditions"]}["KubeletVersionMatches"]
    assert (versions["status"], "v1.35.8" in versions["message"]) == ("False", True), versions

    # A pod of the pool runs in a container, and is reached.
    kubectl.apply(pod("workers"))
    yard.until(lambda: "hello from app" in kubectl.run("logs", "app").stdout, "log of a running pod")
    container = kubectl.get("pod", "app")["status"]["containerStatuses"][0]["containerID"]
    print(f"container {container}")
    assert kubectl("exec", "app", "--", "hostname") == "app\n"
    assert forwarded(kubectl) == "page of app\n"
    # Its agent reads the Secret of its own claim, and that of no other.
    secrets = {name: yard.field("byohost", name, ".spec.bootstrapSecret.name") for name in yard.agents}
    assert yard.agent_of("node-a").get("secret", secrets["node-a"])["data"]["value"]
    refused(yard.agent_of("node-a"), "get", "secret", secrets["node-b"], by="orbidden")
    during = yard.on("node-a")
    print(f"before:\n{yard.before['node-a'].shown()}\nduring:\n{during.shown()}")
    assert all(len(part) > len(was) for part, was in zip(during, yard.before["node-a"], strict=True))

    # Neither a killed kubelet nor a killed API server costs the container anything.
    yard.agents["node-a"].kill_kubelet()
    yard.kill_api_server()
    yard.until(lambda: kubectl.run("exec", "app", "--", "hostname").stdout == "app\n", "way into the pod")
    assert kubectl.get("pod", "app")["status"]["containerStatuses"][0]["containerID"] == container

    # Scaled to nothing, the node is drained and the host cleaned, although its agent is killed meanwhile.
    kubectl("scale", "machinedeployment", "workers", "--replicas=0")
    yard.until(lambda: "being released" in yard.agents["node-a"].log(), "release")
    yard.agents["node-a"].kill()
    yard.agents["node-a"].restart()
    yard.until(lambda: yard.is_free("node-a"), "free host")
    yard.until(lambda: kubectl.run("get", "node", "node-a").returncode == 1, "end of the Node")
    assert kubectl.run("get", "pod", "app").returncode == 1
    refused(yard.agent_of("node-a"), "get", "secret", secrets["node-a"], by="orbidden")
    print(f"after:\n{yard.on('node-a').shown()}")
    assert yard.on("node-a") == yard.before["node-a"]

    # The other pool takes it, and nothing of the first comes with it.
    kubectl("label", "byohost", "node-a", "purpose=gpu", "--overwrite")
    kubectl("scale", "machinedeployment", "gpus", "--replicas=2")
    yard.until(lambda: yard.is_ready("node-a"), "Node node-a that is Ready again")
    again = kubectl.get("node", "node-a")
    assert again["metadata"]["labels"][POOL_LABEL] == "gpus"
    assert not [each for each in again["spec"].get("taints", ()) if each["key"] == "dedicated"]
    kubectl("scale", "machinedeployment", "gpus", "--replicas=0")
    # Both hosts share the folders of this machine outside of their own, so both have to be clean.
    yard.until(lambda: all(yard.is_free(name) for name in yard.agents), "two free hosts again")
    for name in yard.agents:
        assert yard.on(name) == yard.before[name]
