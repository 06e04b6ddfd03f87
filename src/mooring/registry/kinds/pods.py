"""The binding and eviction subresources of pods.

A binding sets the node once; a second binding gets a conflict. An eviction is a deletion that a disruption budget
may refuse, and that takes one disruption from the budget so that two evictions cannot spend the same one.
"""

from typing import Final

from mooring.kube.conditions import conditions_of, is_true, set_conditions
from mooring.kube.errors import FieldError, SelectorError, aggregate, not_supported, required
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict
from mooring.kube.status import (
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    TooManyRequestsError,
    UnknownError,
)
from mooring.registry.changes import wrong_uid
from mooring.registry.core import Core
from mooring.registry.resources import Resource
from mooring.registry.write_options import Options

__all__ = ["bind", "check_eviction", "disrupted", "topology"]


_TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_REFUSED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_MAX_DISRUPTED_PODS: Final = 2000


def bind(core: Core, pods: Resource, nodes: Resource, binding: Object, options: Options) -> Object:
    """Assign a pod to a node; returns the pod."""
    metadata, target = binding.get("metadata") or {}, binding.get("target") or {}
    errors: list[FieldError] = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name", ""))
    if errors:
        raise UnknownError(aggregate(errors))
    name, node_name = metadata.get("name"), target["name"]
    if not name:
        raise BadRequestError("Name parameter required.")
    old = core.read(pods, metadata.get("namespace") or "default", name)
    was, spec, status = old["metadata"], old["spec"], old.get("status", {})
    if metadata.get("uid", was["uid"]) != was["uid"]:
        raise wrong_uid(pods, was, metadata["uid"])
    if metadata.get("resourceVersion", was["resourceVersion"]) != was["resourceVersion"]:
        raise ConflictError.stale(pods.plural, pods.group, name)
    if why := _unbindable(old):
        raise ConflictError.of("pods/binding", "", name, why)
    new_metadata = dict(was)
    if annotations := metadata.get("annotations"):
        new_metadata["annotations"] = was.get("annotations", {}) | annotations
    if labels := topology(core.find(nodes, "", node_name)) | (metadata.get("labels") or {}):
        new_metadata["labels"] = was.get("labels", {}) | labels
    new_status = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    new_status["conditions"] = _scheduled(status.get("conditions", []), options.stamp)
    new = {**old, "metadata": new_metadata, "spec": {**spec, "nodeName": node_name}, "status": new_status}
    return new if options.dry_run else core.commit(pods, new, old)


def _unbindable(pod: Object) -> str:
    name, spec = pod["metadata"]["name"], pod["spec"]
    if "deletionTimestamp" in pod["metadata"]:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def topology(node: Object | None) -> dict[str, str]:
    """Where the node stands: a pod can read its own labels, but not its node's."""
    labels = {} if node is None else node["metadata"].get("labels", {})
    return {key: labels[key] for key in _TOPOLOGY if key in labels}


def _scheduled(conditions: list[Object], stamp: str) -> list[Object]:
    condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
    return set_conditions(conditions, (condition,), stamp) or conditions


def check_eviction(core: Core, budgets: Resource, pod: Object, options: Options) -> None:
    """Take the disruption from the pod's budget, or say why it has none to give."""
    phase = pod.get("status", {}).get("phase")
    if phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]:
        return
    found = _budgets_of(core, budgets, pod)
    if len(found) > 1:
        raise UnknownError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    if not found:
        return
    budget = found[0]
    status = budget.get("status") or {}
    if not _ready(pod):
        if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return
        if status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0:
            return
    _check_budget(budget, status)
    if options.dry_run:
        return
    disrupted = status.get("disruptedPods", {}) | {pod["metadata"]["name"]: options.stamp}
    spent = {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
    if not spent["disruptionsAllowed"]:
        spent["conditions"] = _exhausted(status, options.stamp)
    core.commit(budgets, {**budget, "metadata": dict(budget["metadata"]), "status": spent}, budget)


def _exhausted(status: Object, stamp: str) -> list[Object]:
    """The budget's conditions, with the one that says that it has nothing more to give."""
    known = status.get("conditions", [])
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": status.get("observedGeneration", 0),
        "reason": "InsufficientPods",
        "message": "",
    }
    return set_conditions(known, (condition,), stamp) or known


def disrupted(pod: Object, options: Options) -> Object:
    """The pod with the condition that tells its controllers it was evicted, not failed."""
    status = pod.get("status") or {}
    known = status.get("conditions", [])
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    return {**pod, "status": {**status, "conditions": set_conditions(known, (condition,), options.stamp) or known}}


def _budgets_of(core: Core, budgets: Resource, pod: Object) -> list[Object]:
    labels = pod["metadata"].get("labels", {})
    found = []
    for budget in core.storage.items(budgets.store, pod["metadata"]["namespace"]):
        try:
            selector = selector_from_dict(budget.get("spec", {}).get("selector"))
        except SelectorError:
            continue
        if selector.matches(labels):
            found.append(budget)
    return found


def _ready(pod: Object) -> bool:
    return is_true(conditions_of(pod), "Ready")


def _refusal(message: str, retry_after: int = 0) -> ApiError:
    details: Object = {"causes": [{"reason": "DisruptionBudget", "message": message}]}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    return TooManyRequestsError(_REFUSED, details)


def _check_budget(budget: Object, status: Object) -> None:
    name = budget["metadata"]["name"]
    allowed = status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refusal(f"The disruption budget {name} is still being processed by the server.", 10)
    if allowed < 0:
        raise ForbiddenError.of("poddisruptionbudget", "policy", name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods", {})) > _MAX_DISRUPTED_PODS:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise ForbiddenError.of("poddisruptionbudget", "policy", name, why)
    if allowed:
        return
    healthy, wanted = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if healthy <= wanted:
        raise _refusal(f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently")
    raise _refusal(f"The disruption budget {name} does not allow evicting pods currently")
