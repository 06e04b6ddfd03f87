"""What the API refuses in a LeaderWorkerSet beyond its schema, with the field paths and sentences that users know.

Expects objects with their defaults in. Names are checked with the groups that a surge adds, because the API refuses
pods whose names do not fit a label, and it does so long after the set was accepted.
"""

from __future__ import annotations

from typing import Final

from mooring.api.apps.validation import check_percent_limit, check_positive_or_percent
from mooring.api.core.validation.meta import check_nonnegative, check_texts
from mooring.features.groups.api import EFFECTS, LEADER_EXCLUDED, MAX_PODS, MAX_REPLICAS, SUBGROUP_EXCLUSIVE_TOPOLOGY
from mooring.kube.errors import Enum, FieldError, invalid, not_supported, required
from mooring.kube.intorpercent import IntOrPercentError, resolve
from mooring.kube.names import is_dns1035_label, is_qualified_name
from mooring.kube.objects import Object

__all__ = [
    "leader_worker_set_warnings",
    "validate_leader_worker_set",
    "validate_leader_worker_set_update",
]

Errors = list[FieldError]

_TEMPLATE: Final = "spec.leaderWorkerTemplate"
_ROLLING: Final = "spec.rolloutStrategy.rollingUpdateConfiguration"
# Upstream spells the field so in its errors.
_SUBGROUP: Final = f"{_TEMPLATE}.SubGroupPolicy.subGroupSize"
_SCHEDULING: Final = f"{_TEMPLATE}.schedulingPolicy"
_MAX_LABEL_CHARS: Final = 63
# A dash and the longest hash that a StatefulSet puts behind its name in a label of its pods.
_HASH_SUFFIX_CHARS: Final = 11
_RESERVED: Final = ("kubernetes.io/", "k8s.io/")


def validate_leader_worker_set(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    template = spec["leaderWorkerTemplate"]
    check_texts(errors, "metadata.name", name := obj["metadata"].get("name", ""), is_dns1035_label(name))
    _check_amounts(errors, spec["replicas"], template["size"])
    _check_rollout(errors, spec["rolloutStrategy"]["rollingUpdateConfiguration"], spec["replicas"])
    _check_subgroups(errors, obj, template)
    _check_templates(errors, template)
    _check_scheduling(errors, template)
    longest = _longest_leader(obj)
    if len(longest) > _MAX_LABEL_CHARS >= len(name):
        detail = (
            f"the leader pod {longest} would have a name of {len(longest)} characters; the limit is {_MAX_LABEL_CHARS}"
        )
        errors.append(invalid("metadata.name", name, detail))
    return errors


def validate_leader_worker_set_update(new: Object, old: Object) -> list[FieldError]:
    """The rules for the new object, and what must not change. What was wrong before and stays as it was is let be."""
    errors = validate_leader_worker_set(new)
    before = set(map(str, _lasting_errors(validate_leader_worker_set(old))))
    errors = [error for error in errors if str(error) not in before]
    now, then = (each["spec"]["leaderWorkerTemplate"].get("subGroupPolicy") for each in (new, old))
    if now is not None and then is not None and now.get("subGroupSize") != then.get("subGroupSize"):
        errors.append(invalid(_SUBGROUP, now.get("subGroupSize"), "field is immutable"))
    elif now is not None and then is None:
        detail = "cannot enable subGroupSize after the lws is already created"
        errors.append(invalid(_SUBGROUP, now.get("subGroupSize"), detail))
    elif now is None and then is not None:
        errors.append(invalid(_SUBGROUP, then.get("subGroupSize"), "cannot remove subGroupSize after enabled"))
    return errors


def leader_worker_set_warnings(obj: Object) -> tuple[str, ...]:
    """What is accepted and will probably not do what its author wants."""
    warnings = []
    spec = obj["spec"]
    longest = _longest_leader(obj)
    owner = longest if spec["leaderWorkerTemplate"]["size"] > 1 else obj["metadata"].get("name", "")
    if longest and len(owner) + _HASH_SUFFIX_CHARS > _MAX_LABEL_CHARS >= len(longest):
        warnings.append(
            f"metadata.name: the pods of StatefulSet {owner} may be refused, because its name and a hash of up to "
            f"{_HASH_SUFFIX_CHARS - 1} characters must fit a label of {_MAX_LABEL_CHARS}; use a shorter name"
        )
    for path, key in _unique_keys(spec["leaderWorkerTemplate"]):
        domain = key.partition("/")[0]
        if "/" in key and any(f"{domain}/".endswith(reserved) for reserved in _RESERVED):
            warnings.append(f"{path}: {key} is a label of Kubernetes itself; nodes do not carry names of pods in it")
    return tuple(warnings)


def _lasting_errors(errors: Errors) -> Errors:
    """What was accepted once, and must not keep people from changing anything else."""
    return [error for error in errors if error.path == "metadata.name" or error.path.endswith(".spec.containers")]


def _check_amounts(errors: Errors, replicas: int, size: int) -> None:
    if replicas < 0:
        errors.append(invalid("spec.replicas", replicas, "replicas must be equal or greater than 0"))
    if replicas > MAX_REPLICAS:
        errors.append(invalid("spec.replicas", replicas, f"replicas must be equal or less than {MAX_REPLICAS}"))
    if size < 1:
        errors.append(invalid(f"{_TEMPLATE}.size", size, "size must be equal or greater than 1"))
    if replicas * size > MAX_PODS:
        detail = f"the product of replicas and worker replicas must not exceed {MAX_PODS}"
        errors.append(invalid("spec.replicas", replicas, detail))


def _check_rollout(errors: Errors, rolling: Object, replicas: int) -> None:
    before = len(errors)
    for name in ("maxUnavailable", "maxSurge"):
        check_positive_or_percent(errors, rolling[name], f"{_ROLLING}.{name}")
        check_percent_limit(errors, rolling[name], f"{_ROLLING}.{name}")
    readable = len(errors) == before
    check_nonnegative(errors, rolling["partition"], f"{_ROLLING}.partition")
    if not readable or replicas <= 0:
        return
    away = resolve(rolling["maxUnavailable"], replicas, up=False)
    if away == 0 and resolve(rolling["maxSurge"], replicas, up=True) == 0:
        path = f"{_ROLLING}.maxUnavailable"
        errors.append(invalid(path, rolling["maxUnavailable"], "must not be 0 when `maxSurge` is 0"))


def _check_subgroups(errors: Errors, obj: Object, template: Object) -> None:
    policy = template.get("subGroupPolicy")
    if policy is None:
        exclusive = (obj["metadata"].get("annotations") or {}).get(SUBGROUP_EXCLUSIVE_TOPOLOGY)
        if exclusive is not None:
            path = f"metadata.annotations.{SUBGROUP_EXCLUSIVE_TOPOLOGY}"
            detail = "cannot have subgroup-exclusive-topology without subGroupSize set"
            errors.append(invalid(path, exclusive, detail))
        return
    size, part = template["size"], policy.get("subGroupSize")
    if part is None:
        errors.append(required(_SUBGROUP, "subGroupPolicy needs a subGroupSize"))
        return
    if part < 1:
        errors.append(invalid(_SUBGROUP, part, "subGroupSize must be equal or greater than 1"))
        return
    if size % part and (size - 1) % part:
        errors.append(invalid(_SUBGROUP, part, "size or size - 1 must be divisible by subGroupSize"))
    if size < part:
        errors.append(invalid(_SUBGROUP, part, "subGroupSize cannot be larger than size"))
    if policy.get("subGroupPolicyType") == LEADER_EXCLUDED and (size - 1) % part:
        errors.append(invalid(_SUBGROUP, part, "size-1 must be divisible by subGroupSize when using LeaderExcluded"))


def _check_templates(errors: Errors, template: Object) -> None:
    """No StatefulSet takes a template without containers. An empty leader template is one: only none is none."""
    for name in ("leaderTemplate", "workerTemplate"):
        pods = template.get(name)
        if pods is not None and not (pods.get("spec") or {}).get("containers"):
            detail = "a pod has at least one container"
            if name == "leaderTemplate":
                detail += "; leave out leaderTemplate to make leaders from workerTemplate"
            errors.append(required(f"{_TEMPLATE}.{name}.spec.containers", detail))


def _check_scheduling(errors: Errors, template: Object) -> None:
    policy = template.get("schedulingPolicy") or {}
    toleration = policy.get("replicaUniqueToleration")
    if toleration is not None:
        path = f"{_SCHEDULING}.replicaUniqueToleration"
        if not toleration.get("key"):
            errors.append(required(f"{path}.key", "a toleration without a key would tolerate every taint"))
        if (effect := toleration.get("effect")) not in EFFECTS:
            errors.append(not_supported(f"{path}.effect", Enum(effect or ""), EFFECTS))
    for path, key in _unique_keys(template):
        check_texts(errors, path, key, is_qualified_name(key))
    selector = policy.get("replicaUniqueNodeSelector")
    for name in ("leaderTemplate", "workerTemplate"):
        selected = ((template.get(name) or {}).get("spec") or {}).get("nodeSelector") or {}
        if selector and selector in selected:
            detail = f"replicaUniqueNodeSelector sets {selector} to the name of the leader; remove it here"
            errors.append(invalid(f"{_TEMPLATE}.{name}.spec.nodeSelector", selected[selector], detail))


def _unique_keys(template: Object) -> list[tuple[str, str]]:
    """The keys that a scheduling policy names, with their paths; empty ones name nothing."""
    policy = template.get("schedulingPolicy") or {}
    toleration = policy.get("replicaUniqueToleration") or {}
    found = (
        (f"{_SCHEDULING}.replicaUniqueNodeSelector", policy.get("replicaUniqueNodeSelector") or ""),
        (f"{_SCHEDULING}.replicaUniqueToleration.key", toleration.get("key") or ""),
    )
    return [(path, key) for path, key in found if key]


def _longest_leader(obj: Object) -> str:
    """The name of the last leader that there may be, in an update with a surge; empty where there is none."""
    replicas, surge = obj["spec"]["replicas"], obj["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]["maxSurge"]
    if replicas <= 0:
        return ""
    try:
        more = resolve(surge, replicas, up=True)
    except IntOrPercentError:
        more = 0
    return f"{obj['metadata'].get('name', '')}-{replicas + min(max(0, more), replicas) - 1}"
