"""Deployments in a cluster: created as a whole or not at all, listed wherever they are, deleted, their logs read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.client.transport import Request, UnknownOutcome
from mooring.kube.errors import InputError, MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ForbiddenError, NotFoundError
from mooring.runway.operations.create import create_deployment
from mooring.runway.operations.deployments import (
    delete_deployment,
    deployment_log,
    find_deployment,
    list_deployments,
)
from mooring.runway.operations.provider_facts import is_embedded, provider_facts
from mooring.runway.problems import DeploymentError
from mooring.runway.providers.registry import deployment_manifests, find_provider, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS
from mooring.testing.builders import pod
from tests.runway.operations.api import SmallApi


def manifests(name: str = "phi", **fields: Any) -> list[Object]:
    config = read_deployment({"name": name, "modelId": "phi-4", **fields}, embedded=True).config
    return deployment_manifests(config, DEFAULT_SETTINGS)


def refusing(kind: str, error: MooringError, verb: str = "create") -> Any:
    return lambda request: error if (request.verb, request.kind) == (verb, kind) else None


def test_all_objects_are_created_and_the_main_one_owns_the_others() -> None:
    api = SmallApi()
    created = asyncio.run(create_deployment(api, manifests()))
    assert [each["kind"] for each in created] == ["Workspace", "Service"]
    (owner,) = created[1]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Workspace", created[0]["metadata"]["uid"])


def test_a_refusal_takes_back_what_was_created_before() -> None:
    api = SmallApi(refuse=refusing("Service", ForbiddenError("services is forbidden")))
    with pytest.raises(ForbiddenError, match="services is forbidden"):
        asyncio.run(create_deployment(api, manifests()))
    assert api.objects == {}
    assert api.requests[-1] == ("delete", "Workspace", "phi")


def test_a_deployment_that_exists_is_left_as_it_is() -> None:
    api = SmallApi(manifests()[0])
    with pytest.raises(AlreadyExistsError):
        asyncio.run(create_deployment(api, manifests()))
    assert [kind for kind, _, _ in api.objects] == ["Workspace"]


def test_a_service_that_an_earlier_deployment_left_is_replaced() -> None:
    api = SmallApi(manifests()[1])
    created = asyncio.run(create_deployment(api, manifests()))
    assert api.objects["Service", "default", "phi-vllm"]["metadata"]["ownerReferences"]
    assert len(created) == 2


def test_a_service_of_somebody_else_is_not_touched() -> None:
    theirs = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "phi-vllm", "namespace": "default"}}
    api = SmallApi(theirs)
    with pytest.raises(AlreadyExistsError):
        asyncio.run(create_deployment(api, manifests()))
    assert [kind for kind, _, _ in api.objects] == ["Service"]


def test_an_answer_that_is_lost_is_said_to_be() -> None:
    api = SmallApi(refuse=refusing("Workspace", UnknownOutcome("the connection was cut")))
    with pytest.raises(InputError, match="whether Workspace phi was created is not known: the connection was cut"):
        asyncio.run(create_deployment(api, manifests()))


def test_a_rollback_that_fails_too_does_not_hide_the_refusal() -> None:
    def refuse(request: Request) -> MooringError | None:
        is_refused = request.kind == "Service" or request.verb == "delete"
        return ForbiddenError(f"{request.verb} {request.kind}") if is_refused else None

    with pytest.raises(ForbiddenError, match="create Service"):
        asyncio.run(create_deployment(SmallApi(refuse=refuse), manifests()))


def deployed(name: str, namespace: str, created: str, **fields: Any) -> Object:
    obj = manifests(name, namespace=namespace, **fields)[0]
    obj["metadata"]["creationTimestamp"] = created
    return obj


GROUPS: Any = {"modelId": "deepseek-r1-0528", "nodes": 2}
BARE = {
    "apiVersion": "kaito.sh/v1beta1",
    "kind": "Workspace",
    "metadata": {"name": "theirs", "namespace": "team", "creationTimestamp": "2026-01-03"},
    "inference": {"preset": {"name": "phi-4"}},
}
FOREIGN_GROUPS = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "other", "namespace": "team"},
}


def a_cluster(**more: Any) -> SmallApi:
    return SmallApi(
        deployed("phi", "default", "2026-01-01"),
        deployed("r1", "serving", "2026-01-02", **GROUPS),
        BARE,
        FOREIGN_GROUPS,
        pod("phi-0", node="h-1", labels={"kaito.sh/workspace": "phi"}),
        pod("phi-0", namespace="team", labels={"kaito.sh/workspace": "phi"}),
        pod("r1-0", namespace="serving", labels={"leaderworkerset.sigs.k8s.io/name": "r1"}),
        pod("web", labels={"app": "web"}),
        **more,
    )


def test_deployments_of_all_namespaces_are_listed_the_newest_first() -> None:
    found = asyncio.run(list_deployments(a_cluster(), "kaito"))
    assert [(each.namespace, each.name, each.provider) for each in found] == [
        ("team", "theirs", "kaito"),
        ("serving", "r1", "mooring"),
        ("default", "phi", "mooring"),
    ]
    assert [[each.name for each in one.pods] for one in found] == [[], ["r1-0"], ["phi-0"]]


def test_one_namespace_can_be_asked_for() -> None:
    found = asyncio.run(list_deployments(a_cluster(), "kaito", "serving"))
    assert [each.name for each in found] == ["r1"]


def test_a_kind_that_is_not_served_has_no_deployments() -> None:
    found = asyncio.run(list_deployments(a_cluster(served=frozenset({"LeaderWorkerSet", "Pod"})), "kaito"))
    assert [each.name for each in found] == ["r1"]


def test_a_deployment_is_found_in_whichever_namespace_has_it() -> None:
    assert asyncio.run(find_deployment(a_cluster(), "r1", "kaito")).namespace == "serving"
    with pytest.raises(NotFoundError, match='there is no deployment "none"'):
        asyncio.run(find_deployment(a_cluster(), "none", "kaito"))
    with pytest.raises(NotFoundError, match='there is no deployment "r1" in namespace default'):
        asyncio.run(find_deployment(a_cluster(), "r1", "kaito", "default"))


def test_of_two_deployments_of_one_name_one_must_be_chosen() -> None:
    api = SmallApi(deployed("phi", "a", "1"), deployed("phi", "b", "2"))
    with pytest.raises(InputError, match=r'"phi" in a \(Workspace\) and b \(Workspace\); choose one'):
        asyncio.run(find_deployment(api, "phi", "kaito"))
    assert asyncio.run(find_deployment(api, "phi", "kaito", "b")).namespace == "b"


def test_a_deployment_is_deleted_with_its_service_and_no_other() -> None:
    theirs = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "r1", "namespace": "serving"}}
    api = SmallApi(*manifests("r1", namespace="serving", **GROUPS), theirs)
    assert asyncio.run(delete_deployment(api, "r1", "kaito")).name == "r1"
    assert api.requests == [("delete", "LeaderWorkerSet", "r1"), ("delete", "Service", "r1-vllm")]


def test_a_service_that_may_not_be_deleted_is_left_to_the_garbage_collector() -> None:
    api = SmallApi(*manifests(), refuse=refusing("Service", ForbiddenError("services is forbidden"), "delete"))
    assert asyncio.run(delete_deployment(api, "phi", "kaito")).name == "phi"


def test_the_log_of_the_first_pod_on_a_node_is_read() -> None:
    found = asyncio.run(deployment_log(a_cluster(), "phi", "kaito", tail=7, timestamps=True, container="model"))
    assert found.pod == "phi-0"
    assert found.text == (
        "default/phi-0 {'tailLines': '7', 'limitBytes': '2097152', 'container': 'model', 'timestamps': 'true'}"
    )


def test_a_pod_of_something_else_has_no_log_here() -> None:
    with pytest.raises(DeploymentError, match='podName: "web" is no pod of deployment phi'):
        asyncio.run(deployment_log(a_cluster(), "phi", "kaito", pod="web"))


def test_without_a_pod_on_a_node_there_is_no_log() -> None:
    with pytest.raises(InputError, match="deployment r1 has no log, as none of its pods has a node yet"):
        asyncio.run(deployment_log(a_cluster(), "r1", "kaito"))


def test_the_facts_of_a_provider_are_those_of_the_cluster() -> None:
    operator = pod("kaito-1", namespace="kaito-workspace", labels={"app.kubernetes.io/name": "workspace"}, node="n")
    running = {"apiVersion": "runway.mooring.dev/v1alpha1", "kind": "Installation", "metadata": {"name": "kaito"}}
    facts = asyncio.run(provider_facts(SmallApi(operator, running), find_provider("kaito")))
    assert facts.served
    assert [each["metadata"]["name"] for each in facts.operator_pods] == ["kaito-1"]
    assert facts.installation is not None
    add_on = pod("toolchain", namespace="kube-system", labels={"app": "ai-toolchain-operator"}, node="n")
    assert asyncio.run(provider_facts(SmallApi(add_on), find_provider("kaito"))).operator_pods
    nothing = asyncio.run(provider_facts(SmallApi(served=frozenset({"Pod"})), find_provider("kaito")))
    assert (nothing.served, nothing.operator_pods, nothing.installation) == (False, [], None)


@pytest.mark.parametrize(("version", "embedded"), [("v1.35.8+mooring", True), ("v1.35.8", False), ("", False)])
def test_the_embedded_server_says_so_in_its_version(version: str, embedded: bool) -> None:
    assert is_embedded(version) is embedded
