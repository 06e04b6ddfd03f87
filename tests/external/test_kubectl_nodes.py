"""What people see of simulated nodes and their pods with kubectl: life as it is, and life as Stages write it down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.external.kubectl import Kubectl

STAGES = Path(__file__).parents[2] / "examples" / "stages"


@pytest.fixture
def stages(newest: Kubectl) -> Iterator[Kubectl]:
    """kubectl beside the Stages for images that cannot be pulled and for programs that crash."""
    files = [str(STAGES / f"{name}.yaml") for name in ("image-pull-back-off", "crash-loop")]
    for file in files:
        newest("apply", "-f", file)
    newest("wait", "stages", "--all", "--for=condition=Used", "--timeout=20s")
    yield newest
    for file in files:
        newest("delete", "-f", file)


def shown(kubectl: Kubectl, name: str) -> list[str]:
    """The columns of a pod: its name, how many containers are ready, its status and its restarts."""
    return kubectl("get", "pod", name, "--no-headers").split()


def watched(kubectl: Kubectl, name: str, last: str) -> list[str]:
    """The statuses that a watch shows of a pod, up to one that is waited for."""
    watch = kubectl.start("get", "pods", "--watch", "--no-headers", "--field-selector", f"metadata.name={name}")
    found: list[str] = []
    try:
        assert watch.stdout is not None
        kubectl("run", name, "--image=app:1", "--restart=Never", "--annotations=mooring.dev/duration=1s")
        for line in watch.stdout:
            status = line.split()[2]
            if not found or found[-1] != status:
                found.append(status)
            if status == last:
                return found
        raise AssertionError(f"the watch ended with {found}")
    finally:
        watch.kill()
        watch.communicate()


def test_a_watch_shows_a_pod_on_its_way(newest: Kubectl) -> None:
    seen = watched(newest, "task", "Completed")
    assert [status for status in seen if status != "Pending"] == ["ContainerCreating", "Running", "Completed"]
    told = newest("describe", "pod", "task")
    for words in ("Scheduled", "Pulled", 'Container image "app:1" already present', "Container started", "kubelet"):
        assert words in told, words


def test_a_pod_that_is_deleted_goes_at_once_and_is_told_of(newest: Kubectl) -> None:
    newest("run", "web", "--image=app:1")
    newest("wait", "pod", "web", "--for=condition=Ready", "--timeout=30s")
    newest("delete", "pod", "web", "--timeout=10s")
    assert "Stopping container web" in newest("get", "events", "--field-selector", "reason=Killing")


def test_an_image_that_cannot_be_pulled(stages: Kubectl) -> None:
    stages("run", "app", "--image=missing:1", "--labels=stage=image-pull-back-off")
    reason = "jsonpath={.status.containerStatuses[0].state.waiting.reason}"
    stages("wait", "pod", "app", f"--for={reason}=ErrImagePull", "--timeout=30s")
    assert shown(stages, "app")[1:3] == ["0/1", "ErrImagePull"]
    stages("wait", "pod", "app", f"--for={reason}=ImagePullBackOff", "--timeout=30s")
    stages("annotate", "pod", "app", "example.com/image=present")
    stages("wait", "pod", "app", "--for=condition=Ready", "--timeout=30s")


def test_a_program_that_crashes(stages: Kubectl) -> None:
    stages("run", "app", "--image=broken:1", "--labels=stage=crash-loop")
    stages("wait", "pod", "app", "--for=jsonpath={.status.containerStatuses[0].restartCount}=1", "--timeout=50s")
    assert shown(stages, "app")[1:4] == ["1/1", "Running", "1"]
    assert "Back-off restarting failed container" in stages("describe", "pod", "app")


def test_a_stage_that_is_not_understood_says_why(newest: Kubectl) -> None:
    body: dict[str, Any] = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": "wrong"},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {},
            "next": {"statusTemplate": "a: {{ frobnicate }}"},
        },
    }
    newest.apply(body)
    try:
        newest("wait", "stage", "wrong", "--for=condition=Used=False", "--timeout=20s")
        assert 'line 1: the function "frobnicate" is not known here' in newest("describe", "stage", "wrong")
    finally:
        newest("delete", "stage", "wrong")


def test_a_pod_is_resized_in_place_and_waits_where_it_is_too_large(newest: Kubectl) -> None:
    resources = {"requests": {"cpu": "100m"}}
    main = {"name": "main", "image": "app:1", "resources": resources}
    newest.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [main]}})
    newest("wait", "pod", "p", "--for=condition=Ready", "--timeout=20s")
    newest("patch", "pod", "p", "--subresource=resize", "-p", resize("200m"))
    newest("wait", "pod", "p", "--for=jsonpath={.status.containerStatuses[0].resources.requests.cpu}=200m")
    newest("patch", "pod", "p", "--subresource=resize", "-p", resize("5000"))
    newest("wait", "pod", "p", "--for=condition=PodResizePending", "--timeout=20s")
    told = newest("describe", "pod", "p")
    for words in ("ResizeStarted", "ResizeCompleted", "ResizeInfeasible", "Node didn't have enough capacity: cpu"):
        assert words in told, words
    refused = newest.fails("patch", "pod", "p", "--subresource=resize", "-p", resize(None))
    assert "resource requests cannot be removed" in refused


def test_a_container_is_added_to_debug_a_pod(newest: Kubectl) -> None:
    newest("run", "p", "--image=app:1")
    newest("wait", "pod", "p", "--for=condition=Ready", "--timeout=20s")
    newest("debug", "p", "--image=busybox", "--target=p", "--profile=general", "-c", "debugger", "--", "sleep", "100")
    newest("wait", "pod", "p", "--for=jsonpath={.status.ephemeralContainerStatuses[0].state.running}")
    told = newest("describe", "pod", "p")
    assert "Ephemeral Containers:\n  debugger:" in told
    assert shown(newest, "p")[1:3] == ["1/1", "Running"]


def resize(cpu: str | None) -> str:
    return json.dumps({"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}})
