"""Services: the addresses behind them, in Endpoints and in slices."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.testing.workloads import deployment, service, stateful_set, template
from tests.e2e.stories.deployments import wait_for_rollout
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def wait_for_addresses(town: Town, name: str, count: int) -> None:
    def are_there() -> bool:
        subsets = town.get("Endpoints", name).get("subsets") or ()
        old = sum(len(subset.get("addresses") or ()) for subset in subsets)
        slices = [each for each in town.all("EndpointSlice") if each["metadata"]["labels"].get(LABEL) == name]
        ready = [end for each in slices for end in each.get("endpoints") or () if end["conditions"].get("ready")]
        return old == count == len(ready)

    town.until(are_there, f"{count} addresses of {name}")


LABEL = "kubernetes.io/service-name"


def a_service_follows_its_pods(town: Town) -> Scenes:
    town.create(service("web", "web"))
    town.until(lambda: town.get("Endpoints", "web") and town.all("EndpointSlice"), "endpoints of nobody")
    yield None
    town.create(deployment("web", 3))
    wait_for_rollout(town, "web", 3)
    wait_for_addresses(town, "web", 3)
    yield None
    town.scale("Deployment", "web", 1)
    wait_for_rollout(town, "web", 1)
    wait_for_addresses(town, "web", 1)
    yield None
    town.delete("Service", "web")
    town.until(lambda: not town.all("EndpointSlice") and not town.all("Endpoints"), "no endpoints")
    yield None


def a_headless_service_names_the_pods_of_a_set(town: Town) -> Scenes:
    town.create(service("db", "db", clusterIP="None", publishNotReadyAddresses=True))
    town.create(stateful_set("db", 2, podManagementPolicy="Parallel"))
    wait_for_addresses(town, "db", 2)
    yield None


def a_service_by_the_name_of_a_port(town: Town) -> Scenes:
    ports = [
        {"name": "http", "port": 80, "targetPort": "web"},
        {"name": "metrics", "port": 9090, "protocol": "UDP"},
    ]
    pods = template("web")
    pods["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 8081}]
    town.create(service("web", "web", ports=ports), deployment("web", 1, pods=pods))
    wait_for_addresses(town, "web", 1)
    yield None
    town.patch("Service", "web", {"spec": {"ports": [{"port": 80, "targetPort": 8082}]}})
    town.until(lambda: "8082" in str(town.all("EndpointSlice")) and "8082" in str(town.all("Endpoints")), "8082")
    yield None


def a_service_without_a_selector_is_left_alone(town: Town) -> Scenes:
    town.create({"kind": "Service", "metadata": {"name": "outside"}, "spec": {"ports": [{"port": 80}]}})
    subsets = [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80}]}]
    town.create({"kind": "Endpoints", "metadata": {"name": "outside"}, "subsets": subsets})
    yield ("EndpointSlice",)


def a_pod_that_ends_leaves_its_service(town: Town) -> Scenes:
    pods = template("web", grace=5)
    town.create(service("web", "web"), deployment("web", 2, pods=pods))
    wait_for_addresses(town, "web", 2)
    town.delete_a_pod()
    wait_for_rollout(town, "web", 2)
    wait_for_addresses(town, "web", 2)
    yield None


STORIES = (
    a_service_follows_its_pods,
    a_headless_service_names_the_pods_of_a_set,
    a_service_by_the_name_of_a_port,
    a_service_without_a_selector_is_left_alone,
    a_pod_that_ends_leaves_its_service,
)
