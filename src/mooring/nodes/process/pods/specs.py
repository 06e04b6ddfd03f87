"""Questions about a pod's spec that several modules ask."""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object

__all__ = [
    "all_containers",
    "container_named",
    "deletion_grace",
    "ephemeral_containers",
    "full_name",
    "init_containers",
    "is_ephemeral",
    "is_preparing",
    "is_sidecar",
    "main_containers",
    "probe_of",
    "restarts",
    "sidecars",
]


_DEFAULT_GRACE_SECONDS: Final = 30


def main_containers(pod: Object) -> list[Object]:
    return pod["spec"].get("containers") or []


def init_containers(pod: Object) -> list[Object]:
    """All of them, sidecars too, in their order."""
    return pod["spec"].get("initContainers") or []


def is_sidecar(container: Object, pod: Object) -> bool:
    """Whether it is an init container that accompanies the pod instead of preparing it."""
    return container.get("restartPolicy") == "Always" and any(container is each for each in init_containers(pod))


def sidecars(pod: Object) -> list[Object]:
    return [each for each in init_containers(pod) if each.get("restartPolicy") == "Always"]


def ephemeral_containers(pod: Object) -> list[Object]:
    """Containers that were added to debug the pod: started once, and no part of what the pod is for."""
    return pod["spec"].get("ephemeralContainers") or []


def is_ephemeral(container: Object, pod: Object) -> bool:
    return any(container is each for each in ephemeral_containers(pod))


def is_preparing(pod: Object, name: str) -> bool:
    """Whether a container has to end before the main ones start."""
    return any(each["name"] == name and each.get("restartPolicy") != "Always" for each in init_containers(pod))


def all_containers(pod: Object) -> list[Object]:
    return [*init_containers(pod), *main_containers(pod), *ephemeral_containers(pod)]


def container_named(pod: Object, name: str) -> Object:
    return next(each for each in all_containers(pod) if each["name"] == name)


def restarts(container: Object, pod: Object, code: int) -> bool:
    """Whether a container that ended with this exit code is started again."""
    if is_ephemeral(container, pod):
        return False
    for rule in container.get("restartPolicyRules") or ():
        exits = rule.get("exitCodes") or {}
        if rule.get("action") == "Restart" and (code in exits.get("values", ())) == (exits.get("operator") == "In"):
            return True
    policy = container.get("restartPolicy") or pod["spec"].get("restartPolicy") or "Always"
    if policy == "Always":
        # To an init container that only prepares, a restart after success would have no end.
        prepares = any(container is each for each in init_containers(pod)) and container.get("restartPolicy") is None
        return not prepares or code != 0
    return policy == "OnFailure" and code != 0


def deletion_grace(pod: Object) -> float:
    """How long the pod's processes may take to end: what its deletion says, else what its spec does."""
    grace = pod["metadata"].get("deletionGracePeriodSeconds")
    if grace is None:
        grace = pod["spec"].get("terminationGracePeriodSeconds")
    return float(_DEFAULT_GRACE_SECONDS if grace is None else max(grace, 0))


def probe_of(container: Object, kind: str) -> Object | None:
    return container.get(f"{kind}Probe")


def full_name(pod: Object) -> str:
    """How messages of a kubelet name a pod."""
    meta = pod["metadata"]
    return f"{meta['name']}_{meta['namespace']}({meta['uid']})"
