"""The webhook of Workspaces: in a registry of the same process, and served with a view that lags behind."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from mooring.catalog import CATALOG
from mooring.client.inprocess import AsyncInProcess
from mooring.features.workspaces.api import OLD_API_VERSION
from mooring.features.workspaces.feature import WORKSPACES
from mooring.features.workspaces.webhooks import VALIDATION, WEBHOOKS
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.application import WebhookApplication
from mooring.runtime.webhooks.configuration import admit_path
from mooring.runtime.webhooks.direct import install
from mooring.runtime.webhooks.model import Admitted
from mooring.testing.webhooks import admitted, answered, denied_because, review
from mooring.workloads.kinds import NODE
from tests.features.workspaces.objects import gpu_node, workspace

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PROVISIONING = Configuration({"disableNodeAutoProvisioning": False})
KARPENTER = Configuration(settings={"node-provisioner": "karpenter"})
PENDING = Configuration(settings={"not-ready-nodes": "pending"})
A100_TYPE = "Standard_NC24ads_A100_v4"


def config_map(text: str, name: str = "arguments", namespace: str = "default") -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"inference_config.yaml": text}}


def with_config(name: str = "arguments", **fields: Any) -> Object:
    made = workspace(**fields)
    return {**made, "inference": {**made["inference"], "config": name}}


def old(obj: Object) -> Object:
    return {**obj, "apiVersion": OLD_API_VERSION}


# Modes


def test_the_mode_is_the_gate_or_its_newer_spelling() -> None:
    typed = review(workspace(instanceType=A100_TYPE))
    assert "must be empty when node auto-provisioning is disabled" in denied_because(VALIDATION, typed, gpu_node("n0"))
    for provisioning in (PROVISIONING, KARPENTER):
        assert admitted(VALIDATION, typed, configuration=provisioning)
        untyped = denied_because(VALIDATION, review(workspace()), gpu_node("n0"), configuration=provisioning)
        assert "is required when node auto-provisioning is enabled" in untyped


def test_nodes_that_are_not_ready_refuse_or_warn_as_the_flag_says() -> None:
    nodes = (gpu_node("n0"), gpu_node("n1", ready=False))
    asked = review(workspace(count=2))
    assert "1 of 2 matching nodes are ready, 2 are required" in denied_because(VALIDATION, asked, *nodes)
    answer = answered(VALIDATION, asked, *nodes, configuration=PENDING)
    assert answer == Admitted(
        warnings=("nodes that match the selector do not count until they are ready: n1 is not ready (KubeletNotReady)",)
    )


def test_a_surplus_node_that_is_not_ready_is_nobodys_concern() -> None:
    assert answered(VALIDATION, review(workspace()), gpu_node("n0"), gpu_node("n1", ready=False)) == Admitted()


def test_with_provisioning_nodes_that_do_not_count_are_named_in_warnings() -> None:
    nodes = (
        gpu_node("right", instance_type=A100_TYPE),
        gpu_node("late", instance_type=A100_TYPE, ready=False),
        gpu_node("other", instance_type="Standard_ND96isr_H100_v5"),
        gpu_node("plain"),
    )
    asked = review(workspace(instanceType=A100_TYPE, preferredNodes=["plain"]))
    answer = answered(VALIDATION, asked, *nodes, configuration=PROVISIONING)
    assert isinstance(answer, Admitted)
    preferred, types, readiness = answer.warnings
    assert "give plain its labels instead" in preferred
    assert types.endswith(f"not of type {A100_TYPE}: other (Standard_ND96isr_H100_v5), plain (no type)")
    assert readiness.endswith("until they are ready: late is not ready (KubeletNotReady)")


def test_a_type_that_is_not_known_needs_a_node_of_it_before_a_preset_can_be_sized() -> None:
    asked = review(workspace(instanceType="own-8"))
    answer = answered(VALIDATION, asked, configuration=PROVISIONING)
    assert isinstance(answer, Admitted)
    (warning,) = answer.warnings
    assert warning.startswith("the GPUs of instance type 'own-8' are not known, and no node of it is ready; bring one")
    assert "Standard_NC24ads_A100_v4" in warning
    node = gpu_node("n0", instance_type="own-8")
    assert answered(VALIDATION, asked, node, configuration=PROVISIONING) == Admitted()
    template = review(workspace(image="serve:1", instanceType="own-8"))
    assert answered(VALIDATION, template, configuration=PROVISIONING) == Admitted()


# Changes


def test_what_is_on_its_way_out_is_let_go() -> None:
    leaving = workspace(metadata={"deletionTimestamp": "2026-01-01T12:00:00Z", "finalizers": []})
    assert admitted(VALIDATION, review({**leaving, "resource": {"labelSelector": {}}}, workspace()))


def test_an_object_from_before_keeps_what_is_not_allowed_in_a_new_one_and_can_be_changed() -> None:
    before = workspace(instanceType=A100_TYPE, preferredNodes=["n7"])
    noted = {**before, "metadata": {**before["metadata"], "annotations": {"team": "a"}}}
    assert answered(VALIDATION, review(noted, before)) == Admitted()
    cleared = workspace(preferredNodes=["n7"])
    assert answered(VALIDATION, review(cleared, before)) == Admitted()
    more = workspace(instanceType=A100_TYPE, preferredNodes=["n7", "n8"])
    answer = answered(VALIDATION, review(more, before))
    assert isinstance(answer, Admitted)
    assert "give n7, n8 its labels instead" in answer.warnings[0]


def test_an_object_with_parts_that_are_not_supported_keeps_its_pods_as_they_are() -> None:
    """Adapters of an upstream install stay where they are; a new revision would be without them."""
    before = workspace()
    before["inference"]["adapters"] = [{"source": {"name": "a", "image": "adapters/a:1"}}]
    noted = {**before, "metadata": {**before["metadata"], "annotations": {"team": "a"}}}
    assert admitted(VALIDATION, review(noted, before))
    configured = {**before, "inference": {**before["inference"], "config": "arguments"}}
    assert "inference.adapters: Invalid value: adapters are not supported yet" in denied_because(
        VALIDATION, review(configured, before)
    )


def test_an_old_version_is_for_changes_and_a_new_object_is_sent_to_the_newer_one() -> None:
    made = old(workspace(instanceType=A100_TYPE))
    assert denied_because(VALIDATION, review(made), gpu_node("n0")).endswith("write this Workspace as kaito.sh/v1beta1")
    # Where upstream's operator has left its defaults, it is taken as upstream takes it.
    defaults = config_map("vllm: {}", "inference-params-template", "kaito-workspace")
    assert admitted(VALIDATION, review(made), gpu_node("n0"), defaults)
    noted = {**made, "metadata": {**made["metadata"], "annotations": {"team": "a"}}}
    assert admitted(VALIDATION, review(noted, made))


def test_a_change_in_the_old_version_that_would_add_its_default_type_is_refused() -> None:
    refusal = denied_because(VALIDATION, review(old(workspace(instanceType=A100_TYPE)), old(workspace())))
    assert refusal.endswith("this one has none; change it as kaito.sh/v1beta1")


# A configuration, which is read by name


@pytest.mark.parametrize(
    ("objects", "refusal"),
    [
        ((), 'config: Not found: "ConfigMap arguments in namespace default"'),
        ((config_map("vllm: [a]"),), "vllm must be a map"),
        ((config_map("vllm: {max-model-len: 99999999}"),), "the longest context of microsoft/phi-4 is 16384"),
        ((config_map("vllm: {max-model-len: 2048}"),), ""),
    ],
    ids=["absent", "unreadable", "too long", "good"],
)
def test_a_configuration_is_read_in_the_namespace_of_its_workspace(objects: tuple[Object, ...], refusal: str) -> None:
    told = denied_because(VALIDATION, review(with_config()), gpu_node("n0"), *objects)
    assert told.endswith(refusal)
    assert bool(told) is bool(refusal)


def registry_with_workspaces() -> Registry:
    registry = Registry(now=NOW, seed=1)
    for definition in CATALOG.definitions(WORKSPACES.names):
        create(registry, definition)
    return registry


def create(registry: Registry, obj: Object, **options: Any) -> Object:
    resource = registry.resource(obj["apiVersion"], obj["kind"])
    return registry.create(resource, obj, now=NOW, **options)


def test_a_registry_refuses_and_takes_as_a_server_would() -> None:
    registry = registry_with_workspaces()
    install(registry, WEBHOOKS, clock=lambda: NOW)
    with pytest.raises(ApiError, match="No nodes found matching the specified label selector"):
        create(registry, workspace())
    create(registry, gpu_node("n0"))
    create(registry, workspace())
    with pytest.raises(ApiError, match="ConfigMap arguments in namespace default"):
        create(registry, with_config(name="arguments") | {"metadata": {"name": "two", "namespace": "default"}})
    create(registry, config_map("vllm: {}"))
    create(registry, with_config() | {"metadata": {"name": "two", "namespace": "default"}})


def test_a_registry_tells_warnings() -> None:
    registry = registry_with_workspaces()
    install(registry, WEBHOOKS, clock=lambda: NOW, configuration=PROVISIONING)
    create(registry, gpu_node("plain"))
    warnings: list[str] = []
    create(registry, workspace(instanceType=A100_TYPE), warnings=warnings)
    assert warnings == [
        f"nodes that match the selector do not count, as they are not of type {A100_TYPE}: plain (no type)"
    ]


# Served, with a view that has not heard of the latest yet


class CountingReads(AsyncInProcess):
    """Counts the lists that were made live."""

    lists = 0

    def list(self, *arguments: Any, **options: Any) -> Any:
        self.lists += 1
        return super().list(*arguments, **options)


def posted(
    registry: Registry, seen: tuple[Object, ...], obj: Object, configuration: Configuration = DEFAULTS
) -> tuple[str, int]:
    """Why a review is refused over HTTP by a webhook whose view has these nodes, if it is; and the lists it took."""
    store = Store(NODE)
    told = [{**each, "metadata": {**each["metadata"], "uid": "u", "resourceVersion": "1"}} for each in seen]
    store.resync(map(store.read, told), 1)
    transport = CountingReads(registry, lambda: NOW)
    application = WebhookApplication(WEBHOOKS, (), {NODE: store}, transport, lambda: NOW, configuration)
    version = {"group": "kaito.sh", "version": "v1beta1"}
    asked = {
        "uid": "u1",
        "kind": {**version, "kind": "Workspace"},
        "resource": {**version, "resource": "workspaces"},
        "operation": "CREATE",
        "name": obj["metadata"]["name"],
        "namespace": "default",
        "userInfo": {"username": "me"},
        "object": obj,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps(body).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application({"type": "http", "method": "POST", "path": admit_path(VALIDATION)}, receive, send))
    assert sent[0]["status"] == 200, sent
    response = json.loads(sent[1]["body"])["response"]
    return ("" if response["allowed"] else response["status"]["message"]), transport.lists


@pytest.mark.parametrize(
    "seen",
    [
        (),
        (gpu_node("n0"),),
        (gpu_node("n0", pool=""), gpu_node("n1", pool="")),
        (gpu_node("n0"), gpu_node("n1", pool="gpu-b")),
        (gpu_node("n0"), gpu_node("n1", ready=False)),
    ],
    ids=["none", "too few", "unlabelled", "labelled otherwise", "not ready"],
)
@pytest.mark.parametrize("image", ["", "serve:1"], ids=["preset", "template"])
def test_nodes_that_are_right_by_now_refuse_nothing(seen: tuple[Object, ...], image: str) -> None:
    registry = registry_with_workspaces()
    for name in ("n0", "n1"):
        create(registry, gpu_node(name))
    assert posted(registry, seen, workspace(count=2, image=image)) == ("", 1)


def test_a_refusal_that_nodes_do_not_help_lists_none() -> None:
    refusal, lists = posted(registry_with_workspaces(), (), workspace(preset="phi-2"))
    assert "Model phi-2 is deprecated" in refusal
    assert lists == 0


def test_what_was_seen_and_is_gone_by_now_is_told_from_a_live_list() -> None:
    registry = registry_with_workspaces()
    create(registry, gpu_node("n0"))
    refusal, lists = posted(registry, (gpu_node("n8"), gpu_node("n9")), workspace(count=3))
    assert "1 nodes match the label selector, 3 are required" in refusal
    assert lists == 1


def test_a_configuration_is_read_live_as_well() -> None:
    registry = registry_with_workspaces()
    create(registry, gpu_node("n0"))
    refusal, _ = posted(registry, (gpu_node("n0"),), with_config())
    assert "ConfigMap arguments in namespace default" in refusal
    create(registry, config_map("vllm: {}"))
    assert posted(registry, (gpu_node("n0"),), with_config()) == ("", 0)
