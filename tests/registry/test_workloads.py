"""Workloads and the rest of the built-in kinds: their defaults, and why they are refused."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from tests.registry.world import World, config, job, refused, workload


def test_a_deployment_is_completed(world: World) -> None:
    spec = world.make("deployment", workload())["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert (spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (10, 600)
    assert spec["template"]["spec"]["restartPolicy"] == "Always"
    assert spec["template"]["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"


def test_a_stateful_set_is_completed(world: World) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    set_ = workload(serviceName="web", volumeClaimTemplates=[claim])
    set_["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/d"}]
    spec = world.make("statefulset", set_)["spec"]
    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert spec["volumeClaimTemplates"][0]["spec"]["volumeMode"] == "Filesystem"


def test_a_daemon_set_is_completed(world: World) -> None:
    spec = world.make("daemonset", workload())["spec"]
    assert spec["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}


def test_a_job_gets_the_selector_that_is_its_own(world: World) -> None:
    made = world.make("job", job())
    uid, spec = made["metadata"]["uid"], made["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert spec["template"]["metadata"]["labels"] == {
        "controller-uid": uid,
        "batch.kubernetes.io/controller-uid": uid,
        "job-name": "train",
        "batch.kubernetes.io/job-name": "train",
    }
    assert (spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (1, 1, 6)
    assert (spec["completionMode"], spec["suspend"]) == ("NonIndexed", False)


def test_a_secret_stores_text_as_bytes(world: World) -> None:
    made = world.make("secret", {"metadata": {"name": "s"}, "stringData": {"k": "hello"}})
    assert (made["data"], made["type"]) == ({"k": "aGVsbG8="}, "Opaque")
    assert "stringData" not in made


def test_a_service_is_completed(world: World) -> None:
    spec = world.make("service", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})["spec"]
    assert (spec["type"], spec["sessionAffinity"], spec["internalTrafficPolicy"]) == ("ClusterIP", "None", "Cluster")
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert (spec["clusterIP"], spec["clusterIPs"], spec["ipFamilies"]) == ("10.96.1.0", ["10.96.1.0"], ["IPv4"])


def test_a_service_keeps_the_address_it_was_given(world: World) -> None:
    service: Object = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
    made = world.make("service", service)["spec"]
    assert made["ports"][0]["nodePort"] == 30000
    changed = world.put("service", {**service, "spec": {**service["spec"], "selector": {"a": "b"}}})["spec"]
    assert (changed["clusterIP"], changed["ports"]) == (made["clusterIP"], made["ports"])
    with refused(422, "failed to allocate IP 10.96.1.0: provided IP is already allocated"):
        world.make("service", {"metadata": {"name": "t"}, "spec": {"ports": [{"port": 1}], "clusterIP": "10.96.1.0"}})
    headless = {"metadata": {"name": "h"}, "spec": {"clusterIP": "None"}}
    assert world.make("service", headless)["spec"]["clusterIPs"] == ["None"]


_ALWAYS = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'


@pytest.mark.parametrize(
    ("word", "spec", "text"),
    [
        ("deployment", {"selector": None}, "spec.selector: Required value"),
        ("deployment", {"selector": {}}, "spec.selector: Invalid value: {}: empty selector is invalid for deployment"),
        (
            "deployment",
            {"selector": {"matchLabels": {"app": "other"}}},
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ),
        ("deployment", {"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        (
            "deployment",
            {"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ),
        (
            "deployment",
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        ("deployment", {"minReadySeconds": 600}, "must be greater than minReadySeconds"),
        ("replicaset", {"replicas": -2}, "spec.replicas: Invalid value: -2"),
        ("statefulset", {"podManagementPolicy": "Wild"}, "must be 'OrderedReady' or 'Parallel'"),
        ("statefulset", {"updateStrategy": {"rollingUpdate": {"partition": -1}}}, "partition: Invalid value: -1"),
        ("statefulset", {"selector": None}, "spec.selector: Required value"),
        ("daemonset", {"selector": {"matchLabels": {"a": "b"}}}, "`selector` does not match template `labels`"),
    ],
)
def test_a_workload_is_refused(world: World, word: str, spec: Object, text: str) -> None:
    with refused(422, text):
        world.make(word, workload(**spec))


@pytest.mark.parametrize("word", ["deployment", "replicaset", "statefulset", "daemonset"])
def test_pods_that_are_kept_running_must_restart(world: World, word: str) -> None:
    wrong = workload()
    wrong["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    with refused(422, _ALWAYS):
        world.make(word, wrong)


def test_errors_of_a_template_say_where_it_is(world: World) -> None:
    wrong = workload()
    wrong["spec"]["template"]["spec"]["containers"][0]["name"] = "Bad_Name"
    with refused(422, "spec.template.spec.containers[0].name: Invalid value"):
        world.make("deployment", wrong)


@pytest.mark.parametrize("word", ["deployment", "replicaset", "daemonset"])
def test_a_selector_never_changes(world: World, word: str) -> None:
    world.make(word, workload())
    other = workload(app="other")
    with refused(422, 'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable'):
        world.put(word, other)


def test_most_of_a_stateful_set_never_changes(world: World) -> None:
    world.make("statefulset", workload(serviceName="web"))
    with refused(422, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template'"):
        world.merge("statefulset", "web", {"spec": {"serviceName": "other"}})
    assert world.merge("statefulset", "web", {"spec": {"replicas": 4}})["spec"]["replicas"] == 4


def test_a_job_is_refused(world: World) -> None:
    always = job()
    always["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    with refused(422, 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'):
        world.make("job", always)
    with refused(422, "spec.completions: Required value: when completion mode is Indexed"):
        world.make("job", job(completionMode="Indexed", parallelism=1))
    with refused(422, "spec.selector: Invalid value"):
        world.make("job", job(selector={"matchLabels": {"a": "b"}}))
    with refused(422, "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"):
        world.make("job", job(backoffLimitPerIndex=1))


def test_a_job_changes_little_once_it_runs(world: World) -> None:
    world.make("job", job())
    with refused(422, "spec.completions: Invalid value: 2: field is immutable"):
        world.merge("job", "train", {"spec": {"completions": 2}})
    with refused(422, "spec.template: Invalid value"):
        world.merge("job", "train", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})
    assert world.merge("job", "train", {"spec": {"parallelism": 0}})["spec"]["parallelism"] == 0


def test_a_suspended_job_may_still_be_steered(world: World) -> None:
    world.make("job", job(suspend=True))
    changed = world.merge("job", "train", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})
    assert changed["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        ("", "spec.schedule: Required value"),
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("61 * * * *", "end of range (61) above maximum (59): 61"),
        ("TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
    ],
)
def test_a_schedule_is_read(world: World, schedule: str, text: str) -> None:
    with refused(422, text):
        world.make(
            "cronjob",
            {"metadata": {"name": "n"}, "spec": {"schedule": schedule, "jobTemplate": {"spec": job()["spec"]}}},
        )


def test_a_cron_job_is_completed(world: World) -> None:
    made = world.make(
        "cronjob",
        {"metadata": {"name": "n"}, "spec": {"schedule": "*/5 0-6 * jan mon", "jobTemplate": {"spec": job()["spec"]}}},
    )
    spec = made["spec"]
    assert (spec["concurrencyPolicy"], spec["suspend"]) == ("Allow", False)
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 1)


def test_sealed_config_stays_as_it_is(world: World) -> None:
    world.make("configmap", {**config(), "immutable": True})
    with refused(422, "data: Forbidden: field is immutable when `immutable` is set"):
        world.merge("configmap", "c", {"data": {"a": "2"}})


def test_priorities_have_limits(world: World) -> None:
    with refused(422, "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"):
        world.make("priorityclass", {"metadata": {"name": "max"}, "value": 1_000_000_001})
    with refused(422, "priority class names with 'system-' prefix are reserved for system use only"):
        world.make("priorityclass", {"metadata": {"name": "system-mine"}, "value": 1})
    world.make("priorityclass", {"metadata": {"name": "p"}, "value": 1})
    with refused(422, "value: Forbidden: may not be changed in an update."):
        world.merge("priorityclass", "p", {"value": 2}, namespace="")


def test_a_budget_says_one_thing(world: World) -> None:
    with refused(422, "minAvailable and maxUnavailable cannot be both set"):
        world.make("pdb", {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "maxUnavailable": 1}})
    with refused(422, "a valid percent string must be a numeric string followed by an ending '%'"):
        world.make("pdb", {"metadata": {"name": "b"}, "spec": {"minAvailable": "half"}})


def test_a_claim_needs_a_size_and_keeps_it(world: World) -> None:
    with refused(422, "spec.resources[storage]: Required value"):
        world.make("pvc", {"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    assert world.make("pvc", {"metadata": {"name": "d"}, "spec": spec})["status"] == {"phase": "Pending"}
    with refused(422, "spec is immutable after creation except resources.requests"):
        world.merge("pvc", "d", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}})


def test_scale_is_one_number(world: World) -> None:
    world.make("deployment", workload(replicas=2))
    kind = world.kind("deployment")
    scale = world.registry.get(kind, "default", "web", subresource="scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 0, "selector": "app=web"},
    )
    answer = world.merge("deployment", "web", {"spec": {"replicas": 7}}, subresource="scale", manager="kubectl")
    assert answer["spec"]["replicas"] == 7
    assert world.get("deployment", "web")["spec"]["replicas"] == 7
    assert world.get("deployment", "web")["metadata"]["generation"] == 2
    with refused(422, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"):
        world.put("deployment", {**answer, "spec": {"replicas": -1}}, subresource="scale")
    with refused(409, "the object has been modified"):
        world.put("deployment", {**scale, "spec": {"replicas": 3}}, subresource="scale")
    world.make("configmap", config("web"))
    with refused(404, "the server could not find the requested resource"):
        world.registry.get(world.kind("configmap"), "default", "web", subresource="scale")


@pytest.mark.parametrize(
    ("api_version", "kind", "body", "text"),
    [
        ("storage.k8s.io/v1", "StorageClass", {}, "provisioner: Required value"),
        ("node.k8s.io/v1", "RuntimeClass", {"handler": "Bad_"}, "handler: Invalid value"),
        ("discovery.k8s.io/v1", "EndpointSlice", {}, "addressType: Required value"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": {"kind": "Role"}}, "roleRef.name: Required value"),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            {"spec": {"minReplicas": 3, "maxReplicas": 2}},
            "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`",
        ),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            {"spec": {"maxReplicas": 2, "behavior": {"scaleUp": {"tolerance": "-0.1"}}}},
            'spec.behavior.scaleUp.tolerance: Invalid value: "-100m": must be greater than or equal to 0',
        ),
    ],
)
def test_smaller_kinds_say_what_they_need(world: World, api_version: str, kind: str, body: Object, text: str) -> None:
    with refused(422, text):
        world.registry.create(
            world.registry.resource(api_version, kind), {"metadata": {"name": "x"}, **body}, now=world.now
        )
