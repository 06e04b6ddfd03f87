"""Events come from where they come from on a real cluster, because people and tools look for them by that."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing import node
from mooring.testing.controllers import whole_control_plane
from tests.builtin.town import Town

TEMPLATE: Object = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always"},
}
ONCE = {"metadata": {"labels": {"app": "j"}}, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}


def workload(kind: str, **spec: Any) -> Object:
    selector = {"matchLabels": {"app": "a"}}
    metadata = {"name": kind.lower(), "namespace": "default"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"selector": selector, "template": TEMPLATE, **spec},
    }


def test_every_event_names_the_component_that_a_real_cluster_would() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"template": ONCE}}
    town = Town(
        node("a"),
        workload("Deployment", replicas=1),
        workload("StatefulSet", replicas=1, serviceName="s"),
        workload("DaemonSet"),
        job,
        controllers=whole_control_plane(),
        settled=True,
    )
    told = town.all("Event")
    assert all(event["source"]["component"] == event["reportingComponent"] for event in told)
    sources = {(event["involvedObject"]["kind"], event["reason"]): event["source"]["component"] for event in told}
    assert sources["Deployment", "ScalingReplicaSet"] == "deployment-controller"
    assert sources["ReplicaSet", "SuccessfulCreate"] == "replicaset-controller"
    assert sources["StatefulSet", "SuccessfulCreate"] == "statefulset-controller"
    assert sources["DaemonSet", "SuccessfulCreate"] == "daemonset-controller"
    assert sources["Job", "SuccessfulCreate"] == "job-controller"
    assert sources["Pod", "Scheduled"] == "default-scheduler"


def test_only_controllers_with_a_name_of_their_own_report_under_it() -> None:
    reporters = {controller.name: controller.reporter for controller in whole_control_plane() if controller.reporter}
    assert reporters["node-lifecycle"] == "node-controller"
    assert reporters["taint-eviction"] == "taint-eviction-controller"
    assert reporters["disruption"] == "controllermanager"
