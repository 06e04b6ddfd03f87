"""Model servers as a feature: this declaration and one line in the catalog are all that the product needs."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts
from tests.features.sample.api import GROUP, MODEL_IMAGES, MODEL_SERVERS
from tests.features.sample.controller import CONTROLLER
from tests.features.sample.webhook import WEBHOOK
from tests.features.sample.workload import MODEL_SERVER_PODS


def _progress(obj: Object) -> str:
    wanted, ready = obj["spec"].get("replicas", 1), obj.get("status", {}).get("readyReplicas", 0)
    return f"{ready} of {wanted} pods are ready" if ready < wanted else ""


MODEL_SERVING = Feature(
    "model-serving",
    resources=lambda: (MODEL_IMAGES, MODEL_SERVERS),
    controllers=Parts(("model-server",), lambda: (CONTROLLER,)),
    webhooks=Parts(("model-server-webhook",), lambda: (WEBHOOK,)),
    workloads=Parts(("ModelServer",), lambda: (MODEL_SERVER_PODS,)),
    progress={(f"{GROUP}/v1", "ModelServer"): _progress},
)
