"""What features declare: kinds and webhooks as an API server has them, controllers, flags and gates."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from mooring.builtin.feature import CONTROL_PLANE
from mooring.catalog import CATALOG, FEATURES
from mooring.kube.errors import InputError
from mooring.runtime.feature import Feature
from mooring.runtime.settings import Configuration, Setting
from mooring.supervisor.declared_api import api_text
from mooring.supervisor.own_api import DATA
from tests.support.declared import declared
from tests.support.golden import same_as_recorded

OURS = [each for each in FEATURES if each is not CONTROL_PLANE]
# What somebody could give a flag of any type.
GIVEN = (
    "",
    "0",
    "0s",
    "5",
    "90s",
    "1h30m",
    "-1s",
    "byo",
    "karpenter",
    "pending",
    "priority",
    "least-waste",
    "/a b",
    "x y",
)


def test_kinds_and_webhooks_are_what_api_servers_are_given() -> None:
    before = DATA.read_text(encoding="utf-8").split('"')
    now = api_text(FEATURES).split('"')
    found = [*difflib.unified_diff(before, now, "given", "declared", lineterm="", n=3)] if before != now else []
    assert found == []


def read(setting: Setting[Any], text: str) -> str:
    try:
        return repr(setting.read(text))
    except InputError as error:
        return str(error)


def told(feature: Feature) -> dict[str, str]:
    facts = {
        "parts": f"controllers {feature.controllers.names}, webhooks {feature.webhooks.names}",
        "pods": f"{feature.workloads.names}, nodes {feature.node_pools.names}",
        "gates": f"{dict(feature.gates)}, refused {dict(feature.refused_gates)}",
        "settings": ", ".join(each.name for each in feature.settings),
        "settings of workloads": ", ".join(each.name for each in feature.workload_settings),
        "in plans": f"joins {sorted(feature.joins)}, needs {[each.name for each in feature.needs]}",
        "elsewhere": f"conflicts {dict(feature.conflicts)}, upstream {dict(feature.upstream)}",
        "run": f"on request {sorted(feature.on_request)}, embedded only {sorted(feature.embedded_only)}, "
        f"add-ons {sorted(feature.add_ons)}, leases {dict(feature.leases)}",
        **{f"controller {each.name}": declared(each) for each in feature.controllers.load()},
        **{f"controller {each.name} of plans": declared(each) for each in feature.plan_controllers()},
    }
    for setting in feature.settings:
        given = "\n".join(f"{text}: {read(setting, text)}" for text in GIVEN)
        facts[f"--{setting.name}"] = f"{setting.metavar} {setting.default!r}: {setting.help}\n{given}"
    for webhook in feature.webhooks.load():
        gates, settings = dict(webhook.gates), [each.name for each in webhook.settings]
        reads = sorted(kind.described for kind in webhook.reads)
        facts[f"webhook {webhook.name}"] = f"reads {reads}, gates {gates}, settings {settings}"
    return {f"{feature.name}: {name}": fact for name, fact in facts.items()}


def test_features_declare_what_they_did() -> None:
    same_as_recorded("features-declared", {name: fact for each in OURS for name, fact in told(each).items()})


@pytest.mark.parametrize("provisioner", [None, "byo", "karpenter", "azure-gpu-provisioner"])
@pytest.mark.parametrize("is_off", [None, True, False])
def test_a_gate_that_says_otherwise_than_its_flag_is_a_contradiction(
    provisioner: str | None, is_off: bool | None
) -> None:
    gate = "disableNodeAutoProvisioning"
    configuration = Configuration(
        gates={} if is_off is None else {gate: is_off},
        settings={} if provisioner is None else {"node-provisioner": provisioner},
    )
    said = [each.contradiction(configuration) for each in FEATURES if each.contradiction(configuration)]
    if None in (provisioner, is_off) or (provisioner == "byo") == is_off:
        assert said == []
        return
    given, wanted = ("false", "true") if provisioner == "byo" else ("true", "false")
    assert said == [
        f"--node-provisioner {provisioner} and --feature-gates {gate}={given} contradict each other; "
        f"drop one of them, or set {gate}={wanted}"
    ]


CONDITION = {"type": "Ready", "status": "False", "message": "its node is not there"}
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any] | None, str]] = [
    ("runway.mooring.dev/v1alpha1", "Installation", {}, None, "nothing is installed yet"),
    ("runway.mooring.dev/v1alpha1", "Installation", {}, {"phase": "Installed", "message": "all is there"}, ""),
    ("runway.mooring.dev/v1alpha1", "Installation", {}, {"phase": "Installing", "message": "step 1"}, "step 1"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 1200}, None, "0 of 1,200 groups are ready"),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {"replicas": 2},
        {"readyReplicas": 1},
        "1 of 2 groups are ready",
    ),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 2}, {"readyReplicas": 2}, ""),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 0}, None, ""),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {}, None, ""),
    ("kaito.sh/v1beta1", "Workspace", {}, None, "nothing is known of its nodes yet"),
    (
        "kaito.sh/v1beta1",
        "Workspace",
        {},
        {"conditions": [{"type": "ResourceReady", "status": "True", "message": "there"}]},
        "nothing is known of its nodes yet",
    ),
    (
        "kaito.sh/v1beta1",
        "Workspace",
        {},
        {"conditions": [{"type": "InferenceReady", "status": "False", "message": "no pod"}]},
        "nothing is known of its nodes yet",
    ),
    (
        "kaito.sh/v1beta1",
        "Workspace",
        {},
        {
            "conditions": [
                {"type": "ResourceReady", "status": "True", "message": "there"},
                {"type": "InferenceReady", "status": "Unknown", "message": "no pod"},
            ]
        },
        "no pod",
    ),
    (
        "kaito.sh/v1beta1",
        "Workspace",
        {},
        {
            "conditions": [
                {"type": "InferenceReady", "status": "True", "message": "it runs"},
                {"type": "ResourceReady", "status": "True", "message": "there"},
            ]
        },
        "",
    ),
    ("mlops.mlops.dev/v1alpha1", "NotebookValidationJob", {}, None, "its pod is not there yet"),
    ("mlops.mlops.dev/v1alpha1", "NotebookValidationJob", {}, {"message": "it runs"}, "it runs"),
    ("mlops.mlops.dev/v1alpha1", "NotebookValidationJob", {}, {"phase": "Failed", "message": "no"}, "no"),
    ("mlops.mlops.dev/v1alpha1", "NotebookValidationJob", {}, {"phase": "Succeeded", "message": "it ran"}, ""),
    ("infrastructure.cluster.x-k8s.io/v1beta1", "ByoMachine", {}, None, "no host is claimed yet"),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1",
        "ByoMachine",
        {},
        {"conditions": [CONDITION]},
        "no host is claimed yet",
    ),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1",
        "ByoMachine",
        {},
        {"conditions": [CONDITION, {"type": "BYOHostReady", "status": "False", "message": "no host matches"}]},
        "no host matches",
    ),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1",
        "ByoMachine",
        {},
        {"conditions": [{"type": "BYOHostReady", "status": "True"}]},
        "",
    ),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1",
        "ByoMachine",
        {},
        {"ready": True, "conditions": [{"type": "BYOHostReady", "status": "False", "message": "no host matches"}]},
        "",
    ),
    ("cluster.x-k8s.io/v1beta2", "Machine", {}, None, ""),
    ("cluster.x-k8s.io/v1beta2", "Machine", {}, {"conditions": [CONDITION]}, "its node is not there"),
    ("cluster.x-k8s.io/v1beta2", "Machine", {}, {"conditions": [{"type": "Ready", "status": "False"}]}, ""),
    ("cluster.x-k8s.io/v1beta2", "Machine", {}, {"conditions": [{**CONDITION, "status": "True"}]}, ""),
    (
        "cluster.x-k8s.io/v1beta2",
        "Machine",
        {},
        {"conditions": [CONDITION, {"type": "Deleting", "status": "True", "message": "it drains"}]},
        "it drains",
    ),
    (
        "cluster.x-k8s.io/v1beta2",
        "Machine",
        {},
        {"conditions": [CONDITION, {"type": "Deleting", "status": "False", "message": "it stays"}]},
        "its node is not there",
    ),
]
ROLLING = {"type": "RollingOut", "status": "True", "message": "rolling"}
NOT_READY = {"type": "MachinesReady", "status": "False", "message": "m-1 is not"}
POOLS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, "0 of 1 Machines are ready"),
    ({"replicas": 0}, {}, ""),
    ({"replicas": 1200}, {"readyReplicas": 1100}, "1,100 of 1,200 Machines are ready"),
    ({"replicas": 2}, {"readyReplicas": 2, "conditions": [NOT_READY]}, ""),
    ({"replicas": 2}, {"readyReplicas": 3, "conditions": [ROLLING]}, "rolling"),
    ({"replicas": 2}, {"readyReplicas": 2, "conditions": [{**ROLLING, "status": "False"}]}, ""),
    ({"replicas": 2}, {"readyReplicas": 2, "conditions": [{"type": "RollingOut", "status": "True"}]}, ""),
    ({"replicas": 2}, {"readyReplicas": 1, "conditions": [NOT_READY]}, "1 of 2 Machines are ready: m-1 is not"),
    ({"replicas": 2}, {"conditions": [NOT_READY, ROLLING]}, "0 of 2 Machines are ready: rolling"),
    ({"replicas": 2}, {"conditions": [{**NOT_READY, "status": "True"}]}, "0 of 2 Machines are ready"),
]
CASES += [
    ("cluster.x-k8s.io/v1beta2", kind, spec, status, said)
    for kind in ("MachineDeployment", "MachineSet")
    for spec, status, said in POOLS
]


def test_an_object_on_its_way_says_what_it_waits_for() -> None:
    for api_version, kind, spec, status, said in CASES:
        obj = {"apiVersion": api_version, "kind": kind, "spec": spec, **({} if status is None else {"status": status})}
        assert CATALOG.progress(obj) == said, (kind, spec, status)
    assert {(each[0], each[1]) for each in CASES} == {place for each in OURS for place in each.progress}
