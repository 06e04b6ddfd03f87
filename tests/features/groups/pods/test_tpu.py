"""The environment of pods with TPUs."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.groups import api
from mooring.features.groups.pods.webhook import POD_WEBHOOK
from mooring.kube.objects import Object
from mooring.testing.groups import leader_pod, worker_pod
from mooring.testing.webhooks import patched_to, review

LED = {api.LEADER_REQUESTS_TPUS: "true"}


def container(name: str = "main", field: str = "limits", amount: Any = "4", **env: str) -> Object:
    made: Object = {"name": name, "resources": {field: {"google.com/tpu": amount}}}
    return made | ({"env": [{"name": key, "value": value} for key, value in env.items()]} if env else {})


def told(pod: Object, at: int = 0, field: str = "containers") -> dict[str, str]:
    env = patched_to(POD_WEBHOOK, review(pod))["spec"][field][at].get("env", [])
    return {each["name"]: each["value"] for each in env if each["name"].startswith("TPU_")}


def with_tpus(*containers: Object) -> Object:
    return {"containers": list(containers or (container(),))}


def test_a_leader_with_tpus_is_the_first_host() -> None:
    assert told(leader_pod("serve-0", spec=with_tpus())) == {
        "TPU_WORKER_HOSTNAMES": "serve-0.serve,serve-0-1.serve",
        "TPU_WORKER_ID": "0",
        "TPU_NAME": "serve-0",
        "TPU_PROCESS_ADDRESSES": "serve-0.serve:8476,serve-0-1.serve:8476",
        "TPU_PROCESS_PORT": "8476",
    }


def test_workers_count_from_the_leader_if_it_has_tpus() -> None:
    worker = told(worker_pod("serve-0-2", size=3, annotations=LED, spec=with_tpus()))
    assert worker["TPU_WORKER_ID"] == "2"
    assert worker["TPU_WORKER_HOSTNAMES"] == "serve-0.serve,serve-0-1.serve,serve-0-2.serve"


def test_workers_count_from_the_first_of_them_if_it_has_none() -> None:
    worker = told(worker_pod("serve-0-2", size=3, spec=with_tpus()))
    assert worker["TPU_WORKER_ID"] == "1"
    assert worker["TPU_WORKER_HOSTNAMES"] == "serve-0-1.serve,serve-0-2.serve"


def test_every_container_with_tpus_is_a_process() -> None:
    pod = worker_pod("serve-0-1", annotations=LED, spec=with_tpus(container("a"), {"name": "side"}, container("b")))
    assert told(pod)["TPU_WORKER_ID"] == "2"
    assert told(pod, 1) == {}
    assert told(pod, 2)["TPU_WORKER_ID"] == "3"
    assert told(pod, 2)["TPU_PROCESS_PORT"] == "8477"
    assert told(pod)["TPU_PROCESS_ADDRESSES"] == (
        "serve-0.serve:8476,serve-0.serve:8477,serve-0-1.serve:8476,serve-0-1.serve:8477"
    )


def test_init_containers_count_too() -> None:
    spec = {"containers": [{"name": "main"}], "initContainers": [container("i")]}
    assert told(leader_pod(size=1, spec=spec), 0, "initContainers")["TPU_WORKER_HOSTNAMES"] == "serve-0.serve"


def test_a_port_of_the_user_is_kept() -> None:
    env = told(leader_pod(spec=with_tpus(container(TPU_PROCESS_PORT="9000"))))
    assert env["TPU_PROCESS_PORT"] == "9000"
    assert env["TPU_PROCESS_ADDRESSES"] == "serve-0.serve:9000,serve-0-1.serve:9000"


@pytest.mark.parametrize("name", ["TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"])
def test_who_says_it_already_is_left_alone(name: str) -> None:
    assert told(leader_pod(spec=with_tpus(container(**{name: "x"})))) == {name: "x"}


@pytest.mark.parametrize(("field", "amount"), [("requests", 4), ("limits", "4")])
def test_requests_and_limits_both_count(field: str, amount: Any) -> None:
    assert "TPU_NAME" in told(leader_pod(spec=with_tpus(container(field=field, amount=amount))))


@pytest.mark.parametrize("amount", ["0", 0, "none"])
def test_no_tpus_no_variables(amount: Any) -> None:
    assert told(leader_pod(spec=with_tpus(container(amount=amount)))) == {}


def parts(size: int, kind: str = "LeaderWorker") -> dict[str, str]:
    return {api.SUBGROUP_SIZE: str(size), api.SUBGROUP_TYPE: kind}


SUBGROUPS = {
    "the leader with its subgroup": (leader_pod, "serve-0", 4, parts(2), "0", [0, 1]),
    "a worker beside the leader": (worker_pod, "serve-0-1", 4, parts(2) | LED, "1", [0, 1]),
    "a worker in the second subgroup": (worker_pod, "serve-0-2", 4, parts(2) | LED, "0", [2, 3]),
    "a worker whose leader has no tpus": (worker_pod, "serve-0-1", 5, parts(2), "0", [1, 2]),
    "a worker in the second subgroup whose leader has none": (worker_pod, "serve-0-4", 5, parts(2), "1", [3, 4]),
    "a worker whose leader is outside": (worker_pod, "serve-0-1", 5, parts(2, "LeaderExcluded") | LED, "0", [1, 2]),
    "a leader outside of all subgroups": (leader_pod, "serve-0", 5, parts(2, "LeaderExcluded"), "0", [0]),
}  # fmt: skip


@pytest.mark.parametrize("case", SUBGROUPS)
def test_in_subgroups_the_hosts_are_those_of_one(case: str) -> None:
    build, name, size, notes, place, numbers = SUBGROUPS[case]
    env = told(build(name, size=size, annotations=notes, spec=with_tpus()))
    hosts = ["serve-0.serve" if number == 0 else f"serve-0-{number}.serve" for number in numbers]
    assert env["TPU_WORKER_ID"] == place
    assert env["TPU_WORKER_HOSTNAMES"] == ",".join(hosts)
    assert env["TPU_PROCESS_ADDRESSES"] == ",".join(f"{host}:8476" for host in hosts)
