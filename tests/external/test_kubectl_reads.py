"""What people read with kubectl: get in all its forms, describe, explain, discovery."""

from __future__ import annotations

import json
import re

import yaml

from tests.external.kubectl import Kubectl
from tests.external.manifests import config_map, deployment, service


def test_get_prints_a_table_with_the_columns_of_the_kind(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web"))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    header, row = kubectl("get", "deployments").splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row.split()[:4] == ["web", "2/2", "2", "2"]
    wide = kubectl("get", "pods", "-o", "wide").splitlines()[0]
    assert "NODE" in wide
    assert "NOMINATED NODE" in wide


def test_get_speaks_every_output_format(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a", x="1"))
    assert json.loads(kubectl("get", "configmap", "a", "-o", "json"))["data"] == {"x": "1"}
    assert yaml.safe_load(kubectl("get", "configmap", "a", "-o", "yaml"))["data"] == {"x": "1"}
    assert kubectl("get", "configmap", "a", "-o", "name") == "configmap/a\n"
    assert kubectl("get", "configmap", "a", "-o", "jsonpath={.data.x}") == "1"
    assert kubectl("get", "configmap", "a", "-o", "go-template={{.data.x}}") == "1"
    columns = kubectl("get", "configmap", "a", "-o", "custom-columns=N:.metadata.name,X:.data.x")
    assert [line.split() for line in columns.splitlines()] == [["N", "X"], ["a", "1"]]
    assert kubectl("get", "configmap", "a", "--no-headers").split()[:2] == ["a", "1"]


def test_get_selects_sorts_and_shows_labels(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("b"), config_map("a"), config_map("c"))
    kubectl("label", "configmap", "b", "tier=front")
    assert kubectl("get", "configmap", "-l", "tier=front", "-o", "name") == "configmap/b\n"
    assert kubectl("get", "configmap", "--field-selector=metadata.name=c", "-o", "name") == "configmap/c\n"
    assert "tier=front" in kubectl("get", "configmap", "b", "--show-labels")
    assert "front" in kubectl("get", "configmap", "-L", "tier")
    names = kubectl("get", "configmap", "--sort-by=.metadata.name", "-o", "name").splitlines()
    assert names == sorted(names)
    in_pages = kubectl("get", "configmap", "--chunk-size=1", "-o", "name").splitlines()
    assert sorted(in_pages) == sorted(names)


def test_get_finds_several_kinds_at_once(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web"), service("web"))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    found = kubectl("get", "all", "-o", "name").split()
    kinds = {name.split("/")[0] for name in found}
    assert kinds == {"pod", "service", "deployment.apps", "replicaset.apps"}
    assert len(kubectl("get", "deploy/web", "svc/web", "-o", "name").split()) == 2


def test_get_of_nothing_says_so(kubectl: Kubectl) -> None:
    done = kubectl.run("get", "pods")
    assert done.stderr == f"No resources found in {kubectl.namespace} namespace.\n"
    said = kubectl.fails("get", "pod", "none")
    assert said == 'Error from server (NotFound): pods "none" not found\n'
    assert 'the server doesn\'t have a resource type "ghosts"' in kubectl.fails("get", "ghosts")


def test_get_watches(kubectl: Kubectl) -> None:
    # Every namespace is given one of its own.
    kubectl("wait", "--for=create", "configmap/kube-root-ca.crt", "--timeout=30s")
    kubectl.apply(config_map("a", x="1"))
    watching = kubectl.start("get", "configmap", "-w", "-o", "name")
    try:
        assert watching.stdout is not None
        assert [watching.stdout.readline() for _ in range(2)] == ["configmap/a\n", "configmap/kube-root-ca.crt\n"]
        kubectl.apply(config_map("b"))
        assert watching.stdout.readline() == "configmap/b\n"
        kubectl("delete", "configmap", "a")
        assert watching.stdout.readline() == "configmap/a\n"
    finally:
        watching.terminate()
        watching.communicate()


def test_get_watches_as_a_table(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("a", x="1"))
    watching = kubectl.start("get", "configmap", "a", "-w")
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline().split() == ["NAME", "DATA", "AGE"]
        assert watching.stdout.readline().split()[:2] == ["a", "1"]
        kubectl.apply(config_map("a", x="1", y="2"))
        assert watching.stdout.readline().split()[:2] == ["a", "2"]
    finally:
        watching.terminate()
        watching.communicate()


DESCRIPTIONS = {
    "deployment web": ["StrategyType: +RollingUpdate", "NewReplicaSet: +web-", "ScalingReplicaSet"],
    "replicaset": ["Controlled By: +Deployment/web", "Replicas: +2 current / 2 desired"],
    "pod -l app=web": ["Status: +Running", "Node: +\\S+", "Scheduled +\\S+ +\\S*scheduler"],
    "service web": ["Type: +ClusterIP", "Selector: +app=web"],
    "configmap a": ["x:", "----"],
    "namespace default": ["Status: +Active"],
    "node -l kubernetes.io/os=linux": ["Allocatable:", "Non-terminated Pods:", "Ready +True"],
}


def test_describe_tells_the_whole_story(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web"), service("web"), config_map("a", x="1"))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    for what, lines in DESCRIPTIONS.items():
        told = kubectl("describe", *what.split())
        for line in lines:
            assert re.search(line, told), f"no {line} in:\n{told}"


def test_explain_describes_fields(kubectl: Kubectl) -> None:
    told = kubectl("explain", "deployment.spec.replicas")
    assert "GROUP:      apps" in told
    assert "replicas <integer>" in told
    assert "nodeSelector" in kubectl("explain", "pod.spec")
    assert "maxSurge" in kubectl("explain", "deployment", "--recursive")
    assert 'field "sepc" does not exist' in kubectl.fails("explain", "pod.sepc")


def test_explain_reads_the_older_document_too(kubectl: Kubectl) -> None:
    older = ("--output", "plaintext-openapiv2")
    told = kubectl("explain", "deployment.spec.strategy.rollingUpdate.maxSurge", *older)
    assert "FIELD:    maxSurge <string>" in told
    assert "nodeSelector\t<map[string]string>" in kubectl("explain", "pod.spec", *older)


def test_events_are_listed(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web", replicas=1))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    told = kubectl("events", "--for", "deployment/web")
    assert "ScalingReplicaSet" in told
    assert "SuccessfulCreate" in kubectl("get", "events", "--sort-by=.metadata.creationTimestamp")


def test_discovery_lists_kinds_and_versions(kubectl: Kubectl) -> None:
    told = kubectl("api-resources")
    assert re.search(r"^pods +po +v1 +true +Pod$", told, re.MULTILINE)
    assert re.search(r"^deployments +deploy +apps/v1 +true +Deployment$", told, re.MULTILINE)
    assert {"apps/v1", "batch/v1", "v1"} <= set(kubectl("api-versions").split())
    assert "nodes" in kubectl("api-resources", "--namespaced=false", "-o", "name").split()


def test_version_and_cluster_info_reach_the_server(kubectl: Kubectl) -> None:
    told = json.loads(kubectl("version", "-o", "json"))
    assert told["serverVersion"]["major"] == "1"
    assert told["serverVersion"]["minor"] == "35"
    assert "Kubernetes control plane" in kubectl("cluster-info")


def test_permissions_can_be_asked_for(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "*.*" in kubectl("auth", "can-i", "--list")
    assert "Username" in kubectl("auth", "whoami")


def test_raw_paths_can_be_read(kubectl: Kubectl) -> None:
    assert kubectl("get", "--raw", "/readyz") == "ok"
    assert json.loads(kubectl("get", "--raw", "/api/v1/namespaces/default"))["kind"] == "Namespace"


def test_what_is_not_there_is_refused_clearly(kubectl: Kubectl) -> None:
    kubectl.apply(deployment("web", replicas=1))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    for command in (("logs", "deployment/web"), ("exec", "deployment/web", "--", "true")):
        said = kubectl.fails(*command)
        assert "Error from server" in said or "error" in said, said
        assert "Traceback" not in said


def test_what_this_machine_uses_is_shown_and_that_nothing_is_known_of_simulated_nodes(kubectl: Kubectl) -> None:
    header, *rows = kubectl("top", "nodes").splitlines()
    assert header.split()[:2] == ["NAME", "CPU(cores)"]
    simulated = [row for row in rows if row.startswith(("cpu-", "gpu-", "spot-"))]
    assert simulated
    assert all("<unknown>" in row for row in simulated)
    assert any("<unknown>" not in row for row in rows)


def test_events_are_watched_and_name_who_tells_them(kubectl: Kubectl) -> None:
    watch = kubectl.start("get", "events", "--watch", "-o", "jsonpath={.reason} {.source.component}{'\\n'}")
    try:
        kubectl.apply(deployment("told", replicas=1))
        wanted = {
            "ScalingReplicaSet deployment-controller",
            "SuccessfulCreate replicaset-controller",
            "Scheduled default-scheduler",
        }
        assert watch.stdout is not None
        for line in watch.stdout:
            wanted.discard(line.strip())
            if not wanted:
                break
        assert not wanted
    finally:
        watch.terminate()
        watch.communicate()


def test_who_one_is_can_be_asked(newest: Kubectl) -> None:
    said = newest("auth", "whoami")
    assert "system:masters" in said
    assert "system:authenticated" in said


def test_explain_goes_down_to_the_last_field(newest: Kubectl) -> None:
    told = newest("explain", "pod", "--recursive")
    assert "topologySpreadConstraints" in told
    assert len(told.splitlines()) > 1000
