"""What the server does to objects on their way in, beside defaults: classes, limits, accounts, protection."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, ClassVar

import yaml

from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.registry.admission.chain import AdmissionRequest, Complete
from mooring.testing.conditions import has_condition
from tests.registry.world import World, pod, refused

STRANGERS = "kubeadm:bootstrap-signer-clusterinfo"


def create(world: World, api_version: str, kind: str, obj: Object, **options: Any) -> Object:
    return world.registry.create(world.registry.resource(api_version, kind), obj, now=world.now, **options)


def storage_class(name: str, **fields: Any) -> Object:
    marked = {"storageclass.kubernetes.io/is-default-class": "true"} if fields.pop("default", False) else {}
    return {"metadata": {"name": name, "annotations": marked}, "provisioner": "example.com/disk", **fields}


def claim(name: str = "data", **spec: Any) -> Object:
    size = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": size, **spec}}


def mounting(claim_name: str, **spec: Any) -> Object:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}
    return pod("user", volumes=[volume], **spec)


# Storage


def test_a_claim_without_a_class_gets_the_default_one(world: World) -> None:
    create(world, "storage.k8s.io/v1", "StorageClass", storage_class("plain"))
    assert "storageClassName" not in world.make("pvc", claim("early"))["spec"]
    create(world, "storage.k8s.io/v1", "StorageClass", storage_class("usual", default=True))
    assert world.make("pvc", claim())["spec"]["storageClassName"] == "usual"
    assert world.make("pvc", claim("none", storageClassName=""))["spec"]["storageClassName"] == ""


def test_a_claim_grows_only_where_its_class_lets_it(world: World) -> None:
    create(world, "storage.k8s.io/v1", "StorageClass", storage_class("stiff"))
    create(world, "storage.k8s.io/v1", "StorageClass", storage_class("elastic", allowVolumeExpansion=True))
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    for name in ("stiff", "elastic"):
        world.make("pvc", claim(name, storageClassName=name))
        bound = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
        world.merge("pvc", name, bound, subresource="status")
    with refused(403, "only dynamically provisioned pvc can be resized"):
        world.merge("pvc", "stiff", more)
    assert world.merge("pvc", "elastic", more)["spec"]["resources"]["requests"]["storage"] == "2Gi"


def test_a_claim_goes_when_its_last_pod_has_gone(world: World) -> None:
    assert world.make("pvc", claim())["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    world.make("pod", mounting("data", nodeName="n1"))
    assert "deletionTimestamp" in world.delete("pvc", "data")["metadata"]
    assert world.exists("pvc", "data")
    world.delete("pod", "user", grace=0)
    assert not world.exists("pvc", "data")


def test_a_claim_that_nobody_uses_goes_at_once(world: World) -> None:
    world.make("pvc", claim())
    world.make("pod", mounting("data"))
    world.delete("pvc", "data")
    assert not world.exists("pvc", "data"), "a pod without a node uses nothing yet"


def test_a_claim_is_used_by_a_pod_that_has_ended_as_long_as_it_is_there(world: World) -> None:
    world.make("pvc", claim())
    world.make("pod", mounting("data", nodeName="n1"))
    world.merge("pod", "user", {"status": {"phase": "Succeeded"}}, subresource="status")
    world.delete("pvc", "data")
    assert world.exists("pvc", "data")
    world.delete("pod", "user", grace=0)
    assert not world.exists("pvc", "data")


# Limits


def test_a_namespace_gives_limits_to_containers_that_have_none(world: World) -> None:
    item = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}, "max": {"cpu": "2"}}
    create(world, "v1", "LimitRange", {"metadata": {"name": "limits"}, "spec": {"limits": [item]}})
    made = world.make("pod", pod())
    resources = made["spec"]["containers"][0]["resources"]
    assert (resources["requests"], resources["limits"]) == ({"cpu": "100m"}, {"cpu": "1"})
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu request for container main; cpu limit for container main"
    )
    assert made["status"]["qosClass"] == "Burstable"
    greedy = [{"name": "main", "image": "x", "resources": {"limits": {"cpu": "3"}}}]
    with refused(403, "maximum cpu usage per Container is 2, but limit is 3"):
        world.make("pod", pod("greedy", containers=greedy))


# Runtime classes


def test_a_runtime_class_brings_its_overhead_and_its_nodes(world: World) -> None:
    scheduling = {"nodeSelector": {"runtime": "sealed"}, "tolerations": [{"key": "sealed", "operator": "Exists"}]}
    overhead = {"podFixed": {"cpu": "250m"}}
    made = {"metadata": {"name": "sealed"}, "handler": "sealed", "overhead": overhead, "scheduling": scheduling}
    create(world, "node.k8s.io/v1", "RuntimeClass", made)
    spec = world.make("pod", pod(runtimeClassName="sealed"))["spec"]
    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "250m"}, {"runtime": "sealed"})
    assert spec["tolerations"][-1] == {"key": "sealed", "operator": "Exists"}
    with refused(403, 'pod rejected: RuntimeClass "none" not found'):
        world.make("pod", pod("p2", runtimeClassName="none"))
    with refused(403, "Pod Overhead set without corresponding RuntimeClass defined Overhead"):
        world.make("pod", pod("p3", overhead={"cpu": "1"}))


# A cluster that people live in


def bootstrapped(world: World, host: str = "10.1.2.3", authority: str = "", front_proxy: str = "") -> Registry:
    world.registry.bootstrap(now=world.now, host=host, port=6443, authority=authority, front_proxy=front_proxy)
    return world.registry


def test_every_namespace_has_an_account_from_its_first_moment(world: World) -> None:
    registry = bootstrapped(world)
    assert registry.find("v1", "ServiceAccount", "kube-system", "default") is not None
    world.make("namespace", {"metadata": {"name": "team"}})
    world.make("pod", pod(namespace="team"))
    with refused(403, 'error looking up service account team/robot: serviceaccount "robot" not found'):
        world.make("pod", pod("p2", namespace="team", serviceAccountName="robot"))


def test_the_account_of_a_namespace_comes_back_unless_the_namespace_goes(world: World) -> None:
    registry = bootstrapped(world)
    accounts = registry.resource("v1", "ServiceAccount")
    world.make("namespace", {"metadata": {"name": "team"}})
    first = registry.get(accounts, "team", "default")
    registry.delete(accounts, "team", "default", now=world.now)
    assert registry.get(accounts, "team", "default")["metadata"]["uid"] != first["metadata"]["uid"]
    world.delete("namespace", "team")
    registry.delete(accounts, "team", "default", now=world.now)
    assert registry.find("v1", "ServiceAccount", "team", "default") is None
    again = Registry(world.storage, now=world.now)
    again.bootstrap(now=world.now, host="127.0.0.1", port=1)
    assert again.find("v1", "ServiceAccount", "team", "default") is None


def test_nobody_is_asked_about_an_account_that_the_server_makes(world: World) -> None:
    registry = bootstrapped(world)
    chain = registry.admission

    class Asked:
        naming = registry.naming
        about: ClassVar[list[str]] = []

        def mutate(self, request: AdmissionRequest, complete: Complete, *, again: bool) -> None:
            self.about.append(request.resource.kind)

        def validate(self, request: AdmissionRequest) -> None:
            self.about.append(request.resource.kind)

    with chain.with_webhooks(Asked()):
        world.make("namespace", {"metadata": {"name": "team"}})
    assert set(Asked.about) == {"Namespace"}
    assert registry.find("v1", "ServiceAccount", "team", "default") is not None


def test_pods_pull_images_with_the_secrets_of_their_account(world: World) -> None:
    bootstrapped(world)
    account = {"metadata": {"name": "robot"}, "imagePullSecrets": [{"name": "hub"}]}
    create(world, "v1", "ServiceAccount", account)
    assert world.make("pod", pod(serviceAccountName="robot"))["spec"]["imagePullSecrets"] == [{"name": "hub"}]


def test_the_service_of_the_api_is_where_the_api_is(world: World) -> None:
    registry = bootstrapped(world)
    service = world.get("service", "kubernetes")
    assert (service["spec"]["clusterIP"], service["spec"]["ports"][0]["targetPort"]) == ("10.96.0.1", 6443)
    pieces = registry.find("discovery.k8s.io/v1", "EndpointSlice", "default", "kubernetes")
    assert pieces is not None
    assert pieces["endpoints"] == [{"addresses": ["10.1.2.3"], "conditions": {"ready": True}}]


def test_an_api_on_loopback_has_a_service_without_endpoints(world: World) -> None:
    registry = bootstrapped(world, "127.0.0.1")
    assert world.exists("service", "kubernetes")
    assert registry.find("v1", "Endpoints", "default", "kubernetes") is None


def test_a_new_machine_is_told_where_the_api_is_and_who_vouches_for_it(world: World) -> None:
    registry = bootstrapped(world, authority="PEM")
    told = registry.find("v1", "ConfigMap", "kube-public", "cluster-info")
    assert told is not None
    (found,) = yaml.safe_load(told["data"]["kubeconfig"])["clusters"]
    assert found["cluster"]["server"] == "https://10.1.2.3:6443"
    assert b64decode(found["cluster"]["certificate-authority-data"]) == b"PEM"
    trusted = registry.find("v1", "ConfigMap", "kube-system", "extension-apiserver-authentication")
    assert trusted is not None
    assert trusted["data"] == {"client-ca-file": "PEM"}
    assert registry.find("rbac.authorization.k8s.io/v1", "RoleBinding", "kube-public", STRANGERS) is not None


def test_a_server_behind_the_api_is_told_whom_to_believe_and_where_users_are_named(world: World) -> None:
    registry = bootstrapped(world, authority="PEM", front_proxy="PROXY PEM")
    trusted = registry.find("v1", "ConfigMap", "kube-system", "extension-apiserver-authentication")
    assert trusted is not None
    assert trusted["data"] == {
        "client-ca-file": "PEM",
        "requestheader-client-ca-file": "PROXY PEM",
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-uid-headers": '["X-Remote-Uid"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }


def test_an_api_that_nobody_vouches_for_invites_no_machine(world: World) -> None:
    registry = bootstrapped(world)
    assert registry.find("v1", "ConfigMap", "kube-public", "cluster-info") is None
    assert registry.find("rbac.authorization.k8s.io/v1", "RoleBinding", "kube-public", STRANGERS) is None
    assert registry.find("v1", "ConfigMap", "kube-system", "extension-apiserver-authentication") is None


def test_the_range_of_the_addresses_of_services_is_told_and_stays(world: World) -> None:
    for _ in range(2):
        registry = bootstrapped(world)
        told = registry.find("networking.k8s.io/v1", "ServiceCIDR", "", "kubernetes")
        assert told is not None
        assert told["spec"] == {"cidrs": ["10.96.0.0/12"]}
        assert has_condition(told, "Ready")


def test_system_priorities_stay(world: World) -> None:
    with refused(403, "this is a system priority class and cannot be deleted"):
        world.delete("priorityclass", "system-node-critical")


def test_a_pod_that_is_created_on_a_node_says_where_the_node_stands(world: World) -> None:
    world.make("node", {"metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "z"}}})
    assert world.make("pod", pod(nodeName="n1"))["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z"}


# Devices


def test_devices_are_granted_to_administrators_only_while_the_namespace_says_so(world: World) -> None:
    """What was granted stays written, and all else about the claim can still be."""

    def allow(told: str) -> None:
        label = {"resource.kubernetes.io/admin-access": told}
        world.merge("namespace", "default", {"metadata": {"labels": label}}, namespace="")

    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "adminAccess": True}}
    wanted = {"metadata": {"name": "probe"}, "spec": {"devices": {"requests": [request]}}}
    with refused(422, "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires"):
        world.make("resourceclaim", wanted)
    allow("true")
    world.make("resourceclaim", wanted)
    allow("false")
    device = {"request": "gpu", "driver": "gpu.example.com", "pool": "n0", "device": "gpu-1", "adminAccess": True}
    granted = {"status": {"allocation": {"devices": {"results": [device]}}}}
    with refused(422, "status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires"):
        world.merge("resourceclaim", "probe", granted, subresource="status")
    allow("true")
    world.merge("resourceclaim", "probe", granted, subresource="status")
    allow("false")
    user = {"resource": "pods", "name": "p", "uid": "u"}
    used = world.merge("resourceclaim", "probe", {"status": {"reservedFor": [user]}}, subresource="status")
    assert used["status"]["reservedFor"] == [user]
