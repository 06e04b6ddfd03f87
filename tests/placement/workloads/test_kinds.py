"""What is known of each kind that makes pods: whose its pods are, what can be edited, and in which waves a Job runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from mooring.api.apps.owners import StatefulSet
from mooring.api.core.types import Pod, ReplicationController, Service
from mooring.kube.objects import Object
from mooring.placement.pods import Owner
from mooring.placement.workloads.cron_jobs import expand_cron_job
from mooring.placement.workloads.expansion import Expansion, WorkloadError, expand
from mooring.placement.workloads.job_waves import JobWaves, job_waves
from mooring.placement.workloads.kinds import BUILT_IN, Unit, WorkloadKind
from mooring.placement.workloads.known_cluster import KnownCluster
from mooring.placement.workloads.node_readiness import with_readiness
from mooring.testing import Scene, cluster, pod

KINDS = {each.kind: each for each in BUILT_IN}
TEMPLATE: Object = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SECOND = timedelta(seconds=1)


def expansion(kind: str, name: str = "web") -> Expansion:
    made = pod(name)
    return expand(made, "default", KnownCluster())._replace(kind=kind, name=name)


@pytest.mark.parametrize(
    ("kind", "owner", "owns"),
    [
        ("Deployment", "ReplicaSet/web-5d8f7", True),
        ("Deployment", "ReplicaSet/web-api-5d8f7", False),
        ("Deployment", "ReplicaSet/web", False),
        ("Deployment", "Deployment/web", False),
        ("ReplicaSet", "ReplicaSet/web", True),
        ("ReplicaSet", "ReplicaSet/web-1", False),
        ("StatefulSet", "ReplicaSet/web", False),
        ("CronJob", "Job/web-29384756", True),
        ("CronJob", "Job/web-hand", False),
        ("CronJob", "Job/web-api-29384756", False),
        ("CronJob", "ReplicaSet/web-29384756", False),
    ],
)
def test_a_pod_comes_from_the_workload_that_made_its_owner(kind: str, owner: str, owns: bool) -> None:
    made_by, _, name = owner.partition("/")
    assert KINDS[kind].owns(expansion(kind), Owner(made_by, "apps/v1", name)) is owns


def test_kinds_are_called_as_people_call_them() -> None:
    told = {kind: (each.group, each.plural, each.short, each.scales, each.runs_later) for kind, each in KINDS.items()}
    assert told == {
        "Pod": ("", "pods", "po", False, False),
        "Deployment": ("apps", "deployments", "deploy", True, False),
        "ReplicaSet": ("apps", "replicasets", "rs", True, False),
        "StatefulSet": ("apps", "statefulsets", "sts", True, False),
        "Job": ("batch", "jobs", "job", True, False),
        "CronJob": ("batch", "cronjobs", "cj", False, True),
        "ReplicationController": ("", "replicationcontrollers", "rc", True, False),
    }
    paths = {kind: each.template_path({}, {}) for kind, each in KINDS.items()}
    assert paths == {
        **dict.fromkeys(KINDS, "spec.template"),
        "Pod": "",
        "CronJob": "spec.jobTemplate.spec.template",
    }


def test_the_built_in_kinds_choose_no_nodes_and_leave_everything_to_be_edited() -> None:
    for each in BUILT_IN:
        assert not each.chooses_nodes
        assert each.select({}, "default", KnownCluster()) is None
        assert (each.fixed({}), dict(each.fields)) == ((), {})
        assert (each.create_only, each.waits_for_nodes, each.withdraws_pods) == (False, False, False)
        owned: Object = {"a": 1}
        assert each.restored(owned) is owned


def test_the_job_of_a_kind_is_its_own_spec_or_that_of_its_runs() -> None:
    spec: Object = {"completions": 3}
    manifest: Object = {"spec": spec}
    assert KINDS["Job"].job_spec(manifest) is spec
    assert KINDS["CronJob"].job_spec({"spec": {"jobTemplate": manifest}}) is spec
    assert KINDS["Deployment"].job_spec(manifest) is None


def test_units_are_there_when_all_of_their_pods_are() -> None:
    kind: WorkloadKind = KINDS["StatefulSet"]
    pods = {f"ml/{name}": {"group": name[0]} for name in ("a-0", "a-1", "b-0", "b-1", "c-0")}
    there = {"ml/a-0", "ml/a-1", "ml/b-1"}
    assert kind.whole_units(pods, there) == (3, 5)
    grouped = kind._replace(unit=Unit("groups", lambda labels: labels["group"]))
    assert grouped.whole_units(pods, there) == (1, 3)
    assert grouped.whole_units({}, there) == (0, 0)


# Runs of CronJobs


def cron_job(**spec: Any) -> Object:
    job = {"spec": {"completions": 1, "template": TEMPLATE}}
    metadata = {"name": "night", "namespace": "ml"}
    return {"kind": "CronJob", "metadata": metadata, "spec": {"schedule": "@daily", "jobTemplate": job, **spec}}


def test_one_run_of_a_cron_job_is_a_job_of_its_name() -> None:
    made = expand_cron_job(cron_job(), "default", KnownCluster())
    assert (made.kind, made.name, made.template_path) == ("CronJob", "night", "spec.jobTemplate.spec.template")
    (only,) = made.pods
    assert only["metadata"]["namespace"] == "ml"
    assert only["metadata"]["ownerReferences"][0]["name"] == "night-1"
    assert made.notes == ("the pods of one run are explained",)
    suspended = expand_cron_job(cron_job(suspend=True), "default", KnownCluster())
    assert suspended.notes[1:] == ("it is suspended (spec.suspend): no run starts until it is resumed",)
    waiting = cron_job()
    waiting["spec"]["jobTemplate"]["spec"]["suspend"] = True
    (_, note) = expand_cron_job(waiting, "default", KnownCluster()).notes
    assert "its Job " in note


@pytest.mark.parametrize(
    ("value", "message", "path"),
    [
        ({"spec": {}}, "a CronJob needs a name", "metadata.name"),
        ({"metadata": {"name": "n"}}, "a CronJob needs a job template with a spec", "spec.jobTemplate"),
        ({"metadata": {"name": "n"}, "spec": []}, "a CronJob needs a job template with a spec", "spec.jobTemplate"),
        (cron_job(jobTemplate={"spec": None}), "a CronJob needs a job template with a spec", "spec.jobTemplate"),
        (cron_job(jobTemplate={"spec": {}}), None, "spec.jobTemplate.spec.template"),
    ],
)
def test_what_is_wrong_with_a_cron_job_is_told_with_its_place(value: Object, message: str | None, path: str) -> None:
    with pytest.raises(WorkloadError) as found:
        expand_cron_job(value, "default", KnownCluster())
    assert found.value.path == path
    assert message in (None, found.value.message)


# Waves of Jobs


@pytest.mark.parametrize(
    ("spec", "landed", "waves"),
    [
        ({"completions": 6, "parallelism": 2}, 9, JobWaves(6, 2, False, None)),
        ({"completions": 6, "parallelism": 4}, 3, JobWaves(6, 3, True, None)),
        ({"completions": 6, "parallelism": 4}, 4, JobWaves(6, 4, False, None)),
        ({"completions": 2}, 1, JobWaves(2, 1, False, None)),
        ({"completions": 3, "parallelism": 9}, 2, JobWaves(3, 2, True, None)),
        ({"completions": 3, "parallelism": 9}, 3, None),
        ({"completions": 1}, 1, None),
        ({"completions": 6, "parallelism": 4}, 0, None),
        ({"completions": 6, "parallelism": 0}, 5, None),
        ({"parallelism": 4}, 2, None),
        ({"completions": 6, "parallelism": 4, "suspend": True}, 2, None),
        ({"completions": "6", "parallelism": 4}, 2, None),
        ({"completions": 6, "parallelism": "4"}, 2, None),
    ],
)
def test_a_job_runs_in_waves_where_not_all_of_it_runs_at_once(
    spec: Object, landed: int, waves: JobWaves | None
) -> None:
    assert job_waves(spec, landed, SECOND) == waves


def test_waves_take_as_long_as_their_pods_say() -> None:
    def took(template: object) -> timedelta | None:
        found = job_waves({"completions": 7, "parallelism": 3, "template": template}, 3, 2 * SECOND)
        assert found is not None
        assert found.number == 3
        return found.took

    def annotated(value: object) -> object:
        return {"metadata": {"annotations": {"mooring.dev/duration": value}}}

    assert took(annotated("1m")) == 3 * 62 * SECOND
    assert took(annotated(60)) is None
    assert took({"metadata": {}}) is None
    assert took([]) is None


# Nodes and selectors around them


def taint(key: str) -> Object:
    return {"key": f"node.kubernetes.io/{key}", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "status", "reason"),
    [
        ([], "True", "KubeletReady"),
        ([taint("disk-pressure")], "True", "KubeletReady"),
        ([taint("disk-pressure"), taint("not-ready")], "False", "not-ready"),
        ([taint("unreachable"), taint("not-ready")], "False", "unreachable"),
        (["odd"], "True", "KubeletReady"),
        (None, "True", "KubeletReady"),
    ],
)
def test_a_node_that_says_nothing_is_ready_unless_it_is_tainted(taints: object, status: str, reason: str) -> None:
    pressure = {"type": "DiskPressure", "status": "True"}
    made = {"spec": {"taints": taints}, "status": {"conditions": [pressure], "capacity": {"cpu": "1"}}}
    ready = {"type": "Ready", "status": status, "reason": reason}
    assert with_readiness(made) == {**made, "status": {"conditions": [pressure, ready], "capacity": {"cpu": "1"}}}
    bare: Object = {"metadata": {"name": "n"}, **({"spec": None} if taints is None else {"spec": {"taints": taints}})}
    assert with_readiness(bare)["status"] == {"conditions": [ready]}


def test_a_node_that_says_whether_it_is_ready_stays_as_it_is() -> None:
    made = {"spec": {"taints": [taint("not-ready")]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    assert with_readiness(made) is made


def selecting(scene: Scene, made: Object) -> str:
    found = scene.cluster.default_selectors.default_selector(scene.explain(made).pod)
    return ", ".join(sorted(f"{each.key} {each.op} {','.join(each.values)}" for each in found.requirements))


def test_default_spreading_counts_what_services_and_the_owner_select() -> None:
    scene = cluster()
    selectors = scene.cluster.default_selectors

    def service(name: str, namespace: str = "default", selector: Object | None = None) -> Service:
        body = {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}
        return msgspec.convert(body, Service)

    web = pod("web", labels={"app": "web", "tier": "a"}, owner="StatefulSet/db")
    assert selecting(scene, web) == ""
    selectors.set_service(service("one", selector={"app": "web"}))
    selectors.set_service(service("two", selector={"tier": "a"}))
    selectors.set_service(service("other", selector={"tier": "b"}))
    selectors.set_service(service("far", "ml", selector={"app": "web", "tier": "a"}))
    assert selecting(scene, web) == "app In web, tier In a"
    selectors.set_service(service("two"))
    assert selecting(scene, web) == "app In web"
    owner = {"metadata": {"name": "db", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"x": "1"}}}}
    selectors.set_owner("StatefulSet", msgspec.convert(owner, StatefulSet))
    assert selecting(scene, web) == "app In web, x In 1"
    selectors.remove_service("default", "one")
    assert selecting(scene, web) == "x In 1"
    # A ReplicationController's version is v1, so this one is of somebody else.
    controller = {"metadata": {"name": "db", "namespace": "default"}, "spec": {"selector": {"y": "2"}}}
    selectors.set_owner("ReplicationController", msgspec.convert(controller, ReplicationController))
    controlled = pod("web", owner="ReplicationController/db")
    assert selecting(scene, controlled) == ""
    controlled["metadata"]["ownerReferences"][0]["apiVersion"] = "v1"
    assert selecting(scene, controlled) == "y In 2"
    selectors.remove_owner("StatefulSet", "default", "db")
    selectors.remove_owner("StatefulSet", "default", "gone")
    assert selecting(scene, web) == ""
    assert msgspec.convert(web, Pod).metadata.name == "web"
