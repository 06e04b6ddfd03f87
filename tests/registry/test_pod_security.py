"""Pod Security admission where the recorded cases do not go: debuggers, and namespaces without labels."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from tests.registry.world import World, pod, refused

BASELINE = {"pod-security.kubernetes.io/enforce": "baseline"}


def debugged(image: str, **security: Any) -> Object:
    container = {"name": "debugger", "image": image, "securityContext": security}
    return {"spec": {"ephemeralContainers": [container]}}


def test_a_debugger_is_held_to_the_level_of_the_namespace(world: World) -> None:
    world.merge("namespace", "default", {"metadata": {"labels": BASELINE}})
    world.make("pod", pod("web"))
    with refused(403, 'violates PodSecurity "baseline:latest": privileged (container "debugger" must not set'):
        world.merge("pod", "web", debugged("sh", privileged=True), subresource="ephemeralcontainers")
    world.merge("pod", "web", debugged("sh"), subresource="ephemeralcontainers")


def test_a_pod_that_is_there_stays_when_its_namespace_gets_stricter(world: World) -> None:
    world.make("pod", pod("web", hostPID=True))
    world.merge("namespace", "default", {"metadata": {"labels": BASELINE}})
    world.merge("pod", "web", {"metadata": {"labels": {"a": "b"}}})
    world.merge("pod", "web", {"status": {"phase": "Running"}}, subresource="status")
    with refused(403, "host namespaces (hostPID=true)"):
        world.make("pod", pod("again", hostPID=True))


def test_a_namespace_without_labels_takes_every_pod(world: World) -> None:
    warnings: list[str] = []
    world.make("pod", pod("web", hostPID=True), warnings=warnings)
    assert warnings == []
