"""Defaults: what the API server adds to a pod, told field by field."""

import copy
from typing import Any

import pytest

from mooring.api.core.defaults.pods import default_pod, default_pod_spec
from mooring.kube.errors import InvalidObjectError
from mooring.kube.objects import Object


def pod(containers: list[Object] | None = None, labels: Object | None = None, **spec: Any) -> Object:
    given = containers if containers is not None else [container()]
    return {"metadata": {"name": "p", "labels": labels or {}}, "spec": {"containers": given, **spec}}


def container(name: str = "c", image: str = "web:1", **fields: Any) -> Object:
    return {"name": name, "image": image, **fields}


def resources(**lists: Object) -> Object:
    return {"resources": lists}


def defaulted_spec(**spec: Any) -> Object:
    result: Object = default_pod(pod(**spec))["spec"]
    return result


def test_a_plain_pod_gets_its_policies() -> None:
    assert default_pod(pod()) == {
        "metadata": {"name": "p", "generation": 1},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "web:1",
                    "resources": {},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                    "imagePullPolicy": "IfNotPresent",
                }
            ],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "enableServiceLinks": True,
        },
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }


def test_the_input_is_left_alone() -> None:
    given = pod([container(**resources(limits={"cpu": "0.5"}))], volumes=[{"name": "v"}])
    before = copy.deepcopy(given)
    default_pod(given)
    assert given == before


def test_the_newest_image_is_always_pulled() -> None:
    spec = defaulted_spec(containers=[container(image="web"), container("d", "web:latest"), container("e", "web:2")])
    assert [c["imagePullPolicy"] for c in spec["containers"]] == ["Always", "Always", "IfNotPresent"]


def test_requests_are_taken_from_limits_resource_by_resource() -> None:
    spec = defaulted_spec(
        containers=[container(**resources(limits={"cpu": "0.5", "memory": "1.5Gi"}, requests={"cpu": "100m"}))],
        initContainers=[container("i", **resources(limits={"cpu": 1}))],
    )
    assert spec["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1536Mi"},
        "requests": {"cpu": "100m", "memory": "1536Mi"},
    }
    assert spec["initContainers"][0]["resources"]["requests"] == {"cpu": "1"}


def test_resources_are_rounded_up_to_thousandths() -> None:
    spec = defaulted_spec(containers=[container(**resources(requests={"cpu": "0.1m"}))], overhead={"cpu": "1500001u"})
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "1m"}
    assert spec["overhead"] == {"cpu": "1501m"}


@pytest.mark.parametrize(
    ("given", "qos"),
    [
        pytest.param(resources(), "BestEffort", id="nothing is promised"),
        pytest.param(resources(requests={"nvidia.com/gpu": "1"}), "BestEffort", id="only cpu and memory count"),
        pytest.param(resources(requests={"cpu": "0"}), "BestEffort", id="zero is nothing"),
        pytest.param(resources(requests={"cpu": "1"}), "Burstable", id="a request without limit"),
        pytest.param(resources(limits={"cpu": "1"}), "Burstable", id="memory is open"),
        pytest.param(resources(limits={"cpu": "1", "memory": "1Gi"}), "Guaranteed", id="both limits, both requested"),
        pytest.param(
            resources(limits={"cpu": "1", "memory": "1Gi"}, requests={"cpu": "500m"}), "Burstable", id="less requested"
        ),
    ],
)
def test_the_qos_class(given: Object, qos: str) -> None:
    assert default_pod(pod([container(**given)]))["status"]["qosClass"] == qos


def test_the_qos_class_of_a_pod_with_resources_of_its_own() -> None:
    given = pod(resources={"limits": {"cpu": "1", "memory": "1Gi"}})
    assert default_pod(given)["status"]["qosClass"] == "Guaranteed"


def test_pod_level_requests_come_from_containers_first_and_from_limits_otherwise() -> None:
    spec = defaulted_spec(
        containers=[
            container(**resources(requests={"cpu": "250m"})),
            container("d", **resources(requests={"cpu": "0.5"})),
        ],
        initContainers=[container("i", **resources(requests={"cpu": "100m"}), restartPolicy="Always")],
        resources={"limits": {"cpu": "2", "memory": "1Gi"}},
    )
    assert spec["resources"]["requests"] == {"cpu": "850m", "memory": "1Gi"}


def test_pod_level_hugepages_come_from_container_limits() -> None:
    pages = {"cpu": "1", "hugepages-2Mi": "4Mi"}
    spec = defaulted_spec(
        containers=[container(**resources(limits=pages)), container("d", **resources(limits=pages))],
        resources={"requests": {"cpu": "3"}},
    )
    assert spec["resources"] == {
        "limits": {"hugepages-2Mi": "8Mi"},
        "requests": {"cpu": "3", "hugepages-2Mi": "8Mi"},
    }


def test_empty_pod_level_resources_stay_empty() -> None:
    assert defaulted_spec(resources={})["resources"] == {}


def test_ports_get_a_protocol_and_on_the_host_network_a_host_port() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 82, "protocol": "UDP"}]
    spec = defaulted_spec(containers=[container(ports=ports)], hostNetwork=True)
    assert spec["containers"][0]["ports"] == [
        {"containerPort": 80, "hostPort": 80, "protocol": "TCP"},
        {"containerPort": 81, "hostPort": 82, "protocol": "UDP"},
    ]


def test_probes_and_hooks_get_their_numbers_and_schemes() -> None:
    spec = defaulted_spec(
        containers=[
            container(
                livenessProbe={"httpGet": {"port": 80}, "periodSeconds": 5},
                readinessProbe={"grpc": {"port": 90}},
                lifecycle={"preStop": {"httpGet": {"port": "web"}}, "stopSignal": "SIGUSR1"},
            ),
            container("d", lifecycle={"stopSignal": "SIGUSR1"}),
        ]
    )
    first, second = spec["containers"]
    numbers = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    assert first["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        **numbers,
        "periodSeconds": 5,
    }
    assert first["readinessProbe"] == {"grpc": {"port": 90, "service": ""}, **numbers}
    assert first["lifecycle"] == {"preStop": {"httpGet": {"port": "web", "path": "/", "scheme": "HTTP"}}}
    assert "lifecycle" not in second


@pytest.mark.parametrize(
    ("source", "defaulted"),
    [
        pytest.param({}, {"emptyDir": {}}, id="no source is an empty directory"),
        pytest.param({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}, id="hostPath"),
        pytest.param({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}, id="secret"),
        pytest.param(
            {"secret": {"secretName": "s", "defaultMode": 0}},
            {"secret": {"secretName": "s", "defaultMode": 0}},
            id="a mode of zero is a mode",
        ),
        pytest.param(
            {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {
                "downwardAPI": {
                    "items": [{"path": "a", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}],
                    "defaultMode": 420,
                }
            },
            id="downwardAPI",
        ),
        pytest.param(
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"podCertificate": {}}]}},
            {
                "projected": {
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}, {}],
                    "defaultMode": 420,
                }
            },
            id="projected, without what is behind a gate",
        ),
        pytest.param(
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1.5Gi"}}}}}},
            {
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "metadata": {},
                        "spec": {"resources": {"requests": {"storage": "1536Mi"}}, "volumeMode": "Filesystem"},
                    }
                }
            },
            id="ephemeral",
        ),
        pytest.param(
            {"image": {"reference": "model:latest"}},
            {"image": {"reference": "model:latest", "pullPolicy": "Always"}},
            id="image",
        ),
        pytest.param(
            {"emptyDir": {"sizeLimit": "0.5Gi", "medium": ""}}, {"emptyDir": {"sizeLimit": "512Mi"}}, id="emptyDir"
        ),
    ],
)
def test_volumes(source: Object, defaulted: Object) -> None:
    assert defaulted_spec(volumes=[{"name": "v", **source}])["volumes"] == [{"name": "v", **defaulted}]


def test_label_keys_become_conditions_on_the_pods_own_values() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["rev", "absent"],
        "mismatchLabelKeys": ["tenant"],
    }
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["rev"]}
    given = pod(
        labels={"rev": "1", "tenant": "t"},
        affinity={
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
            },
        },
        topologySpreadConstraints=[{**spread, "labelSelector": {}}, spread],
    )
    spec = default_pod(given)["spec"]
    revision = {"key": "rev", "operator": "In", "values": ["1"]}
    selector = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [revision, {"key": "tenant", "operator": "NotIn", "values": ["t"]}],
    }
    affinity = spec["affinity"]
    (required,) = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (preferred,) = affinity["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert required["labelSelector"] == preferred["podAffinityTerm"]["labelSelector"] == selector
    with_selector, without = spec["topologySpreadConstraints"]
    assert with_selector["labelSelector"] == {"matchExpressions": [revision]}
    assert "labelSelector" not in without


def test_a_gated_pod_says_so_in_a_condition() -> None:
    (condition,) = default_pod(pod(schedulingGates=[{"name": "quota"}]), now="2026-01-01T00:00:00Z")["status"][
        "conditions"
    ]
    assert condition["reason"] == "SchedulingGated"
    assert condition["lastTransitionTime"] == "2026-01-01T00:00:00Z"


def test_old_names_and_values_are_brought_up_to_date() -> None:
    given = pod(serviceAccount="builder", terminationGracePeriodSeconds=-5)
    given["metadata"]["annotations"] = {
        "pod.beta.kubernetes.io/init-containers": "[]",
        "container.apparmor.security.beta.kubernetes.io/c": "localhost/strict",
    }
    given["status"] = {"qosClass": "Burstable", "phase": "Running"}
    result = default_pod(given)
    assert result["spec"]["serviceAccountName"] == result["spec"]["serviceAccount"] == "builder"
    assert result["spec"]["terminationGracePeriodSeconds"] == 1
    assert list(result["metadata"]["annotations"]) == ["container.apparmor.security.beta.kubernetes.io/c"]
    profile = {"type": "Localhost", "localhostProfile": "strict"}
    assert result["spec"]["containers"][0]["securityContext"] == {"appArmorProfile": profile}
    assert result["status"] == {"phase": "Pending", "qosClass": "Burstable"}


@pytest.mark.parametrize(
    ("annotation", "profile"),
    [
        ("unconfined", {"type": "Unconfined"}),
        ("runtime/default", {"type": "RuntimeDefault"}),
        ("localhost/", None),
        ("localhost/ x", None),
        ("odd", None),
    ],
)
def test_app_armor_annotations_become_fields_when_they_can_be_read(annotation: str, profile: Object | None) -> None:
    given = pod()
    given["metadata"]["annotations"] = {"container.apparmor.security.beta.kubernetes.io/c": annotation}
    context = default_pod(given)["spec"]["containers"][0].get("securityContext", {})
    assert context.get("appArmorProfile") == profile


def test_annotations_that_are_all_dropped_leave_none() -> None:
    given = pod()
    given["metadata"]["annotations"] = {"pod.alpha.kubernetes.io/init-containers": "[]"}
    assert "annotations" not in default_pod(given)["metadata"]


def test_a_template_gets_less_than_a_pod() -> None:
    spec = default_pod_spec(
        {"containers": [container(**resources(limits={"cpu": "1"}))], "serviceAccountName": "builder"}
    )
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert "enableServiceLinks" not in spec
    assert spec["serviceAccount"] == "builder"
    assert spec["schedulerName"] == "default-scheduler"


def test_wrong_types_are_refused_with_their_paths() -> None:
    with pytest.raises(InvalidObjectError) as caught:
        default_pod(pod([container(**resources(limits={"cpu": "lots"}))], priority="high"))
    assert [error.path for error in caught.value.errors] == [
        "spec.containers[0].resources.limits[cpu]",
        "spec.priority",
    ]
    assert str(caught.value).startswith('Pod "p" is invalid: [spec.containers[0].resources.limits[cpu]: Invalid value')
    with pytest.raises(InvalidObjectError) as caught:
        default_pod_spec({"containers": {}})
    assert caught.value.path == "spec.containers"
    with pytest.raises(InvalidObjectError):
        default_pod({"metadata": [], "spec": {}})
