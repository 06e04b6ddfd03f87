"""What the API server adds to core objects other than pods, in place."""

import base64
from typing import Final

from mooring.api.core.pod_templates import default_template
from mooring.kube.objects import Object

__all__ = [
    "default_config_map",
    "default_namespace",
    "default_namespace_status",
    "default_replication_controller",
    "default_secret",
    "default_service_account",
    "prepare_namespace",
    "prepare_namespace_update",
]


_NAME: Final = "kubernetes.io/metadata.name"


def default_config_map(obj: Object) -> None:
    if obj.get("data") == {}:
        del obj["data"]


def default_secret(obj: Object) -> None:
    # Text is encoded for people who cannot, and is never stored as text.
    obj["type"] = obj.get("type") or "Opaque"
    texts = obj.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in texts.items()}
        obj["data"] = obj.get("data", {}) | encoded


def default_service_account(obj: Object) -> None:
    """Of a secret only the name is kept."""
    if "secrets" in obj:
        obj["secrets"] = [{key: each[key] for key in ("name",) if key in each} for each in obj["secrets"]]


def default_namespace(obj: Object) -> None:
    name = obj["metadata"].get("name")
    if name:
        labels = obj["metadata"].get("labels", {})
        if labels.get(_NAME) != name:
            obj["metadata"] = {**obj["metadata"], "labels": {**labels, _NAME: name}}


def default_namespace_status(obj: Object) -> None:
    obj["status"]["phase"] = obj["status"].get("phase") or "Active"


def prepare_namespace_update(new: Object, old: Object) -> None:
    """Finalizers are for the sub-resource, and the label with the name is the server's."""
    default_namespace(new)
    if new["spec"].get("finalizers") != old["spec"].get("finalizers"):
        new["spec"] = old["spec"]


def prepare_namespace(obj: Object, now: str) -> None:
    """A namespace is held by its content until the namespace controller says that there is none."""
    finalizers = (obj.get("spec") or {}).get("finalizers", [])
    obj["spec"] = {"finalizers": finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]}
    obj["status"] = {"phase": "Active"}


def default_replication_controller(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    if "template" in spec:
        default_template(spec)
        labels = spec["template"]["metadata"].get("labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            obj["metadata"]["labels"] = obj["metadata"].get("labels") or dict(labels)
