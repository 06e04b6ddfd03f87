"""ModelServer: fetches the model once, then keeps as many pods as the spec says."""

from __future__ import annotations

from datetime import datetime, timedelta

from mooring.api.conditions import changed_conditions
from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Patch, status
from mooring.runtime.effects import Effect, Report, Run
from mooring.runtime.view import View
from mooring.workloads.kinds import POD
from mooring.workloads.podcontrol import pod_from_template
from tests.features.sample.api import MODEL_IMAGE, MODEL_SERVER, ModelImage, ModelServer


class Fetch(Typed, frozen=True):
    image: str


def _model(arguments: Fetch) -> tuple[timedelta, Report]:
    """In a plan, weights take twenty seconds."""
    return timedelta(seconds=20), Report("Succeeded", 0)


def _command(arguments: Fetch) -> tuple[str, ...]:
    return ("sh", "-c", f"echo fetched {arguments.image}")


FETCH = Effect("fetch", "process", Fetch, timedelta(minutes=5), _model, _command)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    server = view.get(MODEL_SERVER, *key)
    if server is None or server.metadata.deleting:
        return Decision()
    pods = {pod.metadata.name: pod for pod in view.owned(POD, server)}
    ready = sum(pod.ready for pod in pods.values())
    # 1. The model exists.
    image = view.get(MODEL_IMAGE, key.namespace, server.spec.model)
    if image is None:
        text = f"there is no ModelImage {server.spec.model}; create it or correct spec.model"
        return Decision(status=_told(server, now, ready, "ModelNotFound", text))
    # 2. Its weights are here.
    run = Run(FETCH, MODEL_SERVER, key, f"{server.spec.model}-{server.metadata.generation}", Fetch(image.spec.image))
    record = server.status.effects.get(FETCH.name)
    if record is None or record.phase != "Succeeded":
        text = f"the weights of {server.spec.model} are on their way"
        return Decision(status=_told(server, now, ready, "Fetching", text), effects=(run,))
    # 3. There are as many pods as the spec says.
    wanted = [f"{key.name}-{slot}" for slot in range(server.spec.replicas)]
    missing = [Create(POD, pod_of(server, image, name)) for name in wanted if name not in pods]
    surplus = [Delete(POD, key_of(pod)) for name, pod in pods.items() if name not in wanted]
    # 4. They are ready.
    reason = "AllReady" if ready == server.spec.replicas else "PodsNotReady"
    text = f"{ready} of {server.spec.replicas} pods are ready"
    return Decision(children=(*missing, *surplus), status=_told(server, now, ready, reason, text))


def pod_of(server: ModelServer, image: ModelImage, name: str) -> Object:
    container: Object = {"name": "server", "image": image.spec.image}
    if server.spec.gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(server.spec.gpus)}}
    template = {"metadata": {"labels": {"model": server.spec.model}}, "spec": {"containers": [container]}}
    return pod_from_template(MODEL_SERVER, server, template, name)


def _told(server: ModelServer, now: datetime, ready: int, reason: str, message: str) -> tuple[Patch, ...]:
    """Status, if it says something new."""
    wanted = Condition("Ready", "True" if reason == "AllReady" else "False", reason, message)
    conditions = changed_conditions(server.status.conditions, (wanted,), now)
    if conditions is None:
        return ()
    return (status(MODEL_SERVER, server, {"readyReplicas": ready, "conditions": conditions}),)


CONTROLLER = Controller(
    "model-server",
    reconcile,
    of=MODEL_SERVER,
    reads=(MODEL_IMAGE, POD),
    writes={MODEL_SERVER: ("status", "finalizers"), POD: ("create",)},
    effects=(FETCH,),
)
