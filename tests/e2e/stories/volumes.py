"""Claims and volumes: made by hand and by a provisioner, at once and for a pod, released, protected, grown, waiting.

The provisioner is Mooring's on both sides; binding, protection and reclaiming are the control plane's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.workloads import claim_template, stateful_set, template
from tests.e2e.stories.stateful_sets import wait_for
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]

SIMULATED = "mooring.dev/simulated"
# What of volumes and their events is told in a scene.
REPORT = "volumes"


def claim(name: str, class_name: str | None, size: str = "1Gi", **spec: Any) -> Object:
    made = claim_template(name, size=size, storage_class=class_name)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **made, "spec": {**made["spec"], **spec}}


def volume(town: Town, name: str, size: str = "1Gi", modes: tuple[str, ...] = ("ReadWriteOnce",), **spec: Any) -> None:
    """One of a class of the town's own, so that no two stories share volumes."""
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{town.namespace}-{name}", "labels": {"disk": name}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": list(modes),
            "storageClassName": town.namespace,
            "hostPath": {"path": f"/mnt/{name}"},
            **spec,
        },
    }
    answer = town.api.post("/api/v1/persistentvolumes", body)
    assert answer.code == 201, answer.body


def storage_class(town: Town, name: str, provisioner: str, mode: str, **more: Any) -> str:
    body = {"metadata": {"name": f"{town.namespace}-{name}"}, "provisioner": provisioner, "volumeBindingMode": mode}
    answer = town.api.post("/apis/storage.k8s.io/v1/storageclasses", {**body, **more})
    assert answer.code == 201, answer.body
    return f"{town.namespace}-{name}"


def volumes_of(town: Town) -> dict[str, Object]:
    """The volumes of the town's claims and classes, by name."""
    found = town.api.get("/api/v1/persistentvolumes").body["items"]
    mine = (
        each
        for each in found
        if each["spec"].get("storageClassName", "").startswith(town.namespace)
        or (each["spec"].get("claimRef") or {}).get("namespace") == town.namespace
    )
    return {each["metadata"]["name"]: each for each in mine}


def _told(town: Town, reason: str, count: int) -> bool:
    return len(events(town, reason)) >= count


def report(town: Town, **expected: int) -> None:
    """Put what can be seen of the town's volumes, and as many events of each reason, where it is compared."""
    told = sorted(
        " ".join(
            (
                each["metadata"].get("labels", {}).get("disk", "made"),
                each["status"]["phase"],
                (each["spec"].get("claimRef") or {}).get("name", "-"),
                "by-controller" if "pv.kubernetes.io/bound-by-controller" in notes_of(each) else "by-hand",
                each["spec"]["persistentVolumeReclaimPolicy"],
                each["spec"]["capacity"]["storage"],
                ",".join(sorted(each["metadata"].get("finalizers", ()))),
                each["status"].get("message", ""),
            )
        )
        for each in volumes_of(town).values()
    )
    data = {f"volume-{number}": text for number, text in enumerate(told)}
    for reason, count in expected.items():
        town.until(partial(_told, town, reason, count), f"{count} events {reason}")
        data[reason] = " | ".join(sorted(events(town, reason)))
    path = f"{town.path('ConfigMap')}/{REPORT}"
    if town.get("ConfigMap", REPORT):
        assert town.api.delete(path).code == 200
    town.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": REPORT}, "data": data})


def notes_of(obj: Object) -> Object:
    return obj["metadata"].get("annotations") or {}


def events(town: Town, reason: str) -> set[str]:
    """Who said what about which object; those about volumes are in the default namespace."""
    found = [
        *town.api.get(f"/api/v1/namespaces/{town.namespace}/events").body["items"],
        *town.api.get("/api/v1/namespaces/default/events").body["items"],
    ]
    return {
        f"{each['source'].get('component') or each.get('reportingComponent')}: {each['message']}"
        for each in found
        if each["reason"] == reason and (town.namespace in str(each["involvedObject"]))
    }


def has_phase(town: Town, name: str, phase: str) -> bool:
    return bool(town.status("PersistentVolumeClaim", name).get("phase") == phase)


def wait_for_phase(town: Town, phase: str, *names: str) -> None:
    town.until(lambda: all(has_phase(town, name, phase) for name in names), f"{', '.join(names)}: {phase}")


def wait_for_volumes(town: Town, *phases: str) -> None:
    def are_so() -> bool:
        return sorted(each["status"]["phase"] for each in volumes_of(town).values()) == sorted(phases)

    town.until(are_so, f"volumes that are {', '.join(phases)}")


def claims_get_volumes_that_are_there(town: Town) -> Scenes:
    """The smallest that suits, by modes, selector, reservation and name; what is retained is given to nobody."""
    own = town.namespace
    volume(town, "small", "1Gi")
    volume(town, "big", "5Gi")
    volume(town, "many", "2Gi", ("ReadWriteOnce", "ReadWriteMany"))
    volume(town, "kept-for", "9Gi", claimRef={"namespace": own, "name": "reserved"})
    volume(town, "named", "9Gi")
    wait_for_volumes(town, *["Available"] * 5)
    town.create(claim("reserved", own), claim("by-name", own, volumeName=f"{own}-named"))
    wait_for_phase(town, "Bound", "reserved", "by-name")
    town.create(claim("many", own, accessModes=["ReadWriteMany"]))
    town.create(claim("big", own, selector={"matchLabels": {"disk": "big"}}))
    wait_for_phase(town, "Bound", "many", "big")
    town.create(claim("small", own))
    wait_for_phase(town, "Bound", "small")
    town.create(claim("taken", own, volumeName=f"{own}-named"), claim("more", own))
    report(town, FailedBinding=1, ProvisioningFailed=1)
    yield None
    town.delete("PersistentVolumeClaim", "small")
    wait_for_volumes(town, *["Bound"] * 4, "Released")
    report(town)
    yield None


def a_claim_waits_for_its_class_or_its_pod_or_for_a_volume(town: Town) -> Scenes:
    later = storage_class(town, "later", "example.com/nobody", "WaitForFirstConsumer")
    none = storage_class(town, "none", "kubernetes.io/no-provisioner", "Immediate")
    town.create(claim("missing", f"{town.namespace}-missing"), claim("none", none), claim("plain", ""))
    town.create(claim("later", later))
    wait_for_phase(town, "Pending", "missing", "none", "plain", "later")
    report(town, ProvisioningFailed=2, FailedBinding=1, WaitForFirstConsumer=1)
    yield None
    made = pod("waits", namespace=town.namespace, automountServiceAccountToken=False)
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "nowhere"}}]
    town.create(made)
    text = 'persistentvolumeclaim "nowhere" not found'
    town.until(lambda: text in str(town.status("Pod", "waits").get("conditions")), text)
    yield None


def a_set_with_claims_of_the_default_class(town: Town) -> Scenes:
    """Volumes are made where the pods go, grow with their claims, and stay while a pod has them."""
    town.create(stateful_set("db", 1, volumeClaimTemplates=[claim_template("data")]))
    wait_for(town, "db", ready=1)
    report(town, ProvisioningSucceeded=1, ExternalProvisioning=1)
    yield None
    town.patch("PersistentVolumeClaim", "data-db-0", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    grown = {"storage": "2Gi"}
    town.until(lambda: town.status("PersistentVolumeClaim", "data-db-0").get("capacity") == grown, "it has grown")
    report(town)
    yield None
    town.delete("PersistentVolumeClaim", "data-db-0")
    town.until(lambda: "deletionTimestamp" in town.get("PersistentVolumeClaim", "data-db-0")["metadata"], "it leaves")
    report(town)
    yield None
    town.delete("StatefulSet", "db")
    town.until(lambda: not volumes_of(town), "no volumes")
    report(town)
    yield None


def a_claim_stays_while_a_pod_has_it(town: Town) -> Scenes:
    at_once = storage_class(town, "at-once", SIMULATED, "Immediate")
    town.create(claim("data", at_once))
    made = template("ends", duration="1s")
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    spec = {**made["spec"], "restartPolicy": "Never", "volumes": volumes}
    town.create({"kind": "Pod", "metadata": {**made["metadata"], "name": "ends"}, "spec": spec})
    town.until(lambda: town.status("Pod", "ends").get("phase") == "Succeeded", "the pod has ended")
    town.delete("PersistentVolumeClaim", "data")
    town.until(lambda: "deletionTimestamp" in town.get("PersistentVolumeClaim", "data")["metadata"], "it leaves")
    report(town)
    yield None
    town.delete("Pod", "ends")
    town.until(lambda: not volumes_of(town), "no volumes")
    yield None


def a_volume_goes_or_stays_as_its_class_says(town: Town) -> Scenes:
    goes = storage_class(town, "goes", SIMULATED, "Immediate")
    stays = storage_class(town, "stays", SIMULATED, "Immediate", reclaimPolicy="Retain")
    volume(town, "by-hand", persistentVolumeReclaimPolicy="Delete")
    town.create(claim("goes", goes), claim("stays", stays), claim("by-hand", town.namespace))
    wait_for_phase(town, "Bound", "goes", "stays", "by-hand")
    for each in volumes_of(town).values():
        assert town.api.delete(f"/api/v1/persistentvolumes/{each['metadata']['name']}").code == 200
    report(town)
    yield None
    for name in ("goes", "stays", "by-hand"):
        town.delete("PersistentVolumeClaim", name)
    town.until(lambda: not volumes_of(town), "no volumes")
    report(town)
    yield None
    volume(town, "fails", persistentVolumeReclaimPolicy="Delete")
    town.create(claim("fails", town.namespace), claim("kept", stays))
    wait_for_phase(town, "Bound", "fails", "kept")
    for name in ("fails", "kept"):
        town.delete("PersistentVolumeClaim", name)
    wait_for_volumes(town, "Failed", "Released")
    report(town, VolumeFailedDelete=1)
    yield None


STORIES = (
    claims_get_volumes_that_are_there,
    a_claim_waits_for_its_class_or_its_pod_or_for_a_volume,
    a_set_with_claims_of_the_default_class,
    a_claim_stays_while_a_pod_has_it,
    a_volume_goes_or_stays_as_its_class_says,
)
