"""`explain` and `snapshot` against a cluster: what they read, what they say, and that they never write."""

from __future__ import annotations

import json

import pytest

from tests.cli.live import Live
from tests.cli.world import requests

# Explaining


def test_a_waiting_pod_is_explained_as_it_is(town: Live) -> None:
    result = town.run("explain", "pod/llm-5d4f-x7x7x")
    assert result.exit_code == 2
    assert result.stdout.startswith("default/llm-5d4f-x7x7x cannot be placed: 0 of 3 nodes fit\n")


def test_advice_about_a_pod_names_the_deployment_that_made_it(town: Live) -> None:
    result = town.run("explain", "po/llm-5d4f-x7x7x")
    patch = '[{"op":"add","path":"/spec/template/spec/tolerations","value":'
    assert f"kubectl patch deployment llm -n default --type=json -p '{patch}" in result.stdout


def test_advice_about_a_pod_that_nobody_made_is_about_the_pod(town: Live) -> None:
    town.cluster.add(town.world.pod("alone", resources=requests(gpu=4)))
    assert "kubectl patch pod alone -n default --type=json" in town.run("explain", "pod/alone").stdout


def test_a_deployment_is_explained_as_if_not_yet_placed(town: Live) -> None:
    result = town.run("explain", "deploy/llm")
    assert result.exit_code == 2
    assert "Deployment default/llm has 1 pod in the cluster already; explained as if not yet placed" in result.stdout
    assert "kubectl patch deployment llm -n default" in result.stdout


@pytest.mark.parametrize("kind", ["StatefulSet", "Job", "ReplicaSet"])
def test_other_workloads_are_explained_too(town: Live, kind: str) -> None:
    town.cluster.add(town.world.workload(kind, "other", requests(cpu=1)))
    result = town.run("explain", f"{kind.lower()}/other")
    assert result.exit_code == 0, result.output
    assert "would be scheduled on cpu-1" in result.stdout


def test_a_manifest_is_placed_on_the_cluster(town: Live) -> None:
    file = town.world.manifest(town.world.pod("new", resources=requests(cpu=15)))
    result = town.run("explain", "-f", file)
    assert result.exit_code == 2
    assert "needs 15 cpu, 14 of 16 free" in result.stdout


def test_all_waiting_pods_are_explained_together(town: Live) -> None:
    pod = town.world.pod("elsewhere", resources=requests(cpu=1))
    pod["metadata"]["namespace"] = "shop"
    town.cluster.add(pod)
    everywhere = json.loads(town.run("explain", "pods", "-A", "-o", "json").stdout)
    assert {found["pod"] for found in everywhere["pods"]} == {"default/llm-5d4f-x7x7x", "shop/elsewhere"}
    assert json.loads(town.run("explain", "pods", "-n", "shop", "-o", "json").stdout)["pod"] == "shop/elsewhere"


def test_a_name_is_looked_for_in_all_namespaces(town: Live) -> None:
    pod = town.world.pod("elsewhere")
    pod["metadata"]["namespace"] = "shop"
    town.cluster.add(pod)
    assert town.run("explain", "pod/elsewhere", "-A").stdout.startswith("shop/elsewhere would be scheduled on cpu-1")
    assert "there is one in shop: add -n shop" in town.complaint("explain", "pod/elsewhere")
    workload = town.world.workload("StatefulSet", "db")
    town.cluster.add(workload, {**workload, "metadata": {"name": "db", "namespace": "shop"}})
    assert town.complaint("explain", "sts/db", "-A") == "there is a statefulset/db in default, shop: choose one with -n"


def test_the_namespace_of_the_context_is_home(town: Live) -> None:
    pod = town.world.pod("elsewhere")
    pod["metadata"]["namespace"] = "shop"
    town.cluster.add(pod)
    result = town.run("explain", "pod/elsewhere", "--kubeconfig", town.cluster.kubeconfig(namespace="shop"))
    assert result.stdout.startswith("shop/elsewhere would be scheduled on cpu-1")


def test_nothing_is_ever_written(town: Live) -> None:
    town.run("explain", "pod/llm-5d4f-x7x7x")
    town.run("explain", "deployment/llm")
    town.run("snapshot", "-o", "cluster.yaml")
    town.run("shadow", "--for", "300ms")
    assert len(town.cluster.front.asked) > 20
    assert town.cluster.verbs == {"GET"}


def test_a_cluster_without_nodes_is_explained_too(live: Live) -> None:
    live.cluster.add(live.world.pod("web"))
    result = live.run("explain", "pod/web")
    assert result.exit_code == 2
    assert "no nodes available to schedule pods" in result.stdout


def test_more_objects_than_fit_on_a_page_are_all_read(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.runway.sources.live_source.PAGE", 7)
    live.world.node("n1")
    for number in range(40):
        live.world.running(f"web-{number:02d}", "n1", resources=requests(cpu="100m"))
    live.settle()
    answer = json.loads(live.run("explain", "pod/web-39", "-o", "json").stdout)
    assert answer["notes"] == ["the pod runs on n1; explained as if not yet placed"]
    pages = [path for _, path in live.cluster.front.asked if path == "/api/v1/pods"]
    assert len(pages) == 6


# What cannot be read


def test_a_kind_that_may_not_be_listed_is_left_out_and_said_to_be(town: Live) -> None:
    town.cluster.front.forbidden = {"services", "poddisruptionbudgets"}
    result = town.run("explain", "pod/web")
    assert result.exit_code == 0
    assert (
        "you may not list Service objects: default spreading does not know which pods belong together" in result.stdout
    )
    assert "you may not list PodDisruptionBudget objects: preemption takes no care of budgets" in result.stdout


@pytest.mark.parametrize(("plural", "kind"), [("pods", "Pod"), ("nodes", "Node")])
def test_pods_and_nodes_must_be_readable(town: Live, plural: str, kind: str) -> None:
    town.cluster.front.forbidden = {plural}
    for command in (("explain", "pod/web"), ("snapshot", "-o", "cluster.yaml"), ("shadow", "--for", "5s")):
        line = town.complaint(*command)
        assert kind in line
        assert f'{plural} is forbidden: User "ada" cannot list resource "{plural}"' in line


def test_a_workload_that_may_not_be_read(town: Live) -> None:
    town.cluster.front.forbidden = {"deployments"}
    assert "does not let you get Deployment default/llm: deployments is forbidden" in town.complaint(
        "explain", "deploy/llm"
    )
    # Without it, advice is about the pod itself.
    assert "kubectl patch pod llm-5d4f-x7x7x" in town.run("explain", "pod/llm-5d4f-x7x7x").stdout


def test_credentials_that_have_expired(town: Live) -> None:
    town.cluster.front.expired = True
    for command in (("explain", "pod/web"), ("snapshot",)):
        assert town.complaint(*command).startswith(
            f"{town.cluster.url} does not accept these credentials (Unauthorized)"
        )
    assert "Unauthorized" in town.complaint("shadow", "--for", "5s")


def test_a_server_that_is_not_there(live: Live) -> None:
    kubeconfig = live.cluster.kubeconfig(url="http://127.0.0.1:1")
    for command in (("explain", "pod/web"), ("snapshot",), ("shadow", "--for", "5s"), ("pools",), ("doctor",)):
        assert live.complaint(*command, "--kubeconfig", kubeconfig) == (
            "http://127.0.0.1:1 cannot be reached: connection refused; "
            "see that it runs and that the address in the kubeconfig is right"
        )


def test_a_context_that_is_not_there_names_those_that_are(live: Live) -> None:
    assert live.complaint("explain", "pod/web", "--context", "there").endswith(
        'there is no context "there"; known are: here'
    )


def test_no_kubeconfig_at_all(live: Live) -> None:
    assert live.complaint("explain", "pod/web", "--kubeconfig", "absent.yaml").startswith("absent.yaml: ")


def test_what_is_not_in_the_cluster(town: Live) -> None:
    url = town.cluster.url
    assert (
        town.complaint("explain", "deploy/absent") == f'Deployment "absent" not found in namespace "default" of {url}'
    )
    assert (
        town.complaint("explain", "deploy/absent", "-A") == f'Deployment "absent" not found in any namespace of {url}'
    )
    assert (
        town.complaint("explain", "pod/webb")
        == f'pod "webb" not found in namespace "default" of {url}; did you mean web?'
    )


def test_a_snapshot_takes_the_place_of_a_cluster(town: Live) -> None:
    assert town.complaint("explain", "pod/web", "--snapshot", "cluster.yaml").startswith(
        "--snapshot takes the place of"
    )
    assert town.complaint("explain", "pod/web", "-A", "-n", "shop") == "-A and -n cannot be given together"
