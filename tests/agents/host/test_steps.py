"""The ladder of the agent, as a table: a host, what the journal says, and the one step that follows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from mooring.agents.host.conditions import agent_conditions, dated_conditions, same_version
from mooring.agents.host.host_informer import typed_host
from mooring.agents.host.progress import AgentProgress, ClaimRecord, MachineBaseline, StepFailure, failed_again
from mooring.agents.host.steps import (
    BeginStep,
    CleanStep,
    IdleStep,
    InstallStep,
    JoinStep,
    ServeStep,
    Step,
    WaitStep,
    next_step,
)
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import PAUSED, UNREGISTERING
from mooring.kube.objects import Object

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
CLAIM = ClaimRecord("default", "worker-1", "uid-1")
CLAIMED = AgentProgress(CLAIM, MachineBaseline(sysctls={"kernel/panic": "0"}))
INSTALLED = replace(CLAIMED, installed=True, kubelet_version="v1.35.8")
JOINED = replace(INSTALLED, joined=True)
FAILURE = StepFailure("the install script ended with exit code 3: no disk", 1, NOW + timedelta(seconds=10))
INSTALL_FAILED = replace(CLAIMED, install_failure=FAILURE)
JOIN_FAILED = replace(INSTALLED, join_failure=FAILURE)
FORCED = {"type": "HostClean", "status": "False", "reason": "ForcedRelease"}


def host(
    *annotations: str,
    uid: str = "",
    deleting: bool = False,
    conditions: tuple[Object, ...] = (),
    **spec: object,
) -> ByoHost:
    found: Object = {
        "metadata": {"name": "node10", "namespace": "default", "annotations": dict.fromkeys(annotations, "")},
        "spec": {"joinMode": "tlsBootstrap", **spec},
        "status": {"conditions": list(conditions)},
    }
    if uid:
        found["status"]["machineRef"] = {"kind": "ByoMachine", "name": "worker-1", "uid": uid}
    if deleting:
        found["metadata"]["deletionTimestamp"] = "2026-11-16T12:00:00Z"
    return typed_host(found)


BOOT: dict[str, Any] = {"bootstrapSecret": {"name": "b"}}
BOTH: dict[str, Any] = {**BOOT, "installationSecret": {"name": "i"}}

STORIES: list[tuple[str, ByoHost | None, AgentProgress, type[Step]]] = [
    ("a free host waits", host(), AgentProgress(), IdleStep),
    ("a host that is not registered waits", None, AgentProgress(), IdleStep),
    ("a host whose object is gone is cleaned", None, JOINED, CleanStep),
    ("a claim without a bootstrap Secret is waited with", host(uid="uid-1"), AgentProgress(), WaitStep),
    ("a claim without an installation Secret is waited with", host(uid="uid-1", **BOOT), AgentProgress(), WaitStep),
    ("a whole claim is put on record first", host(uid="uid-1", **BOTH), AgentProgress(), BeginStep),
    ("then Kubernetes is installed", host(uid="uid-1", **BOTH), CLAIMED, InstallStep),
    ("a failed install is not tried again at once", host(uid="uid-1", **BOTH), INSTALL_FAILED, WaitStep),
    ("then the host joins", host(uid="uid-1", **BOTH), INSTALLED, JoinStep),
    ("a failed join is not tried again at once", host(uid="uid-1", **BOTH), JOIN_FAILED, WaitStep),
    ("a node is kept running", host(uid="uid-1", **BOTH), JOINED, ServeStep),
    ("also when its Secrets are gone", host(uid="uid-1"), JOINED, ServeStep),
    ("a paused host does not join", host(PAUSED, uid="uid-1", **BOTH), INSTALLED, WaitStep),
    ("a paused node goes on", host(PAUSED, uid="uid-1", **BOTH), JOINED, ServeStep),
    ("a paused host that is released is cleaned", host(PAUSED, UNREGISTERING, uid="uid-1"), JOINED, CleanStep),
    ("a released host is cleaned", host(UNREGISTERING, uid="uid-1", **BOTH), JOINED, CleanStep),
    ("in the middle of an install too", host(UNREGISTERING, uid="uid-1", **BOTH), CLAIMED, CleanStep),
    ("and where the agent had not begun", host(UNREGISTERING, uid="uid-1", **BOTH), AgentProgress(), CleanStep),
    ("a released host that is clean waits for the controller", host(UNREGISTERING), AgentProgress(), IdleStep),
    ("a deleted host is cleaned", host(uid="uid-1", deleting=True), JOINED, CleanStep),
    ("a host whose claim was taken away is cleaned", host(), JOINED, CleanStep),
    ("a host that was released by force is cleaned", host(conditions=(FORCED,)), AgentProgress(), CleanStep),
    ("another claim waits until the old one is cleaned", host(uid="uid-2", **BOTH), JOINED, CleanStep),
    ("a clean that failed is not tried again at once", host(), replace(JOINED, clean_failure=FAILURE), WaitStep),
    ("kubeadm is not supported", host(uid="uid-1", **{**BOTH, "joinMode": "kubeadm"}), AgentProgress(), WaitStep),
    ("nor what stands for it", host(uid="uid-1", **{**BOTH, "joinMode": ""}), AgentProgress(), WaitStep),
]  # fmt: skip


@pytest.mark.parametrize(("story", "seen", "progress", "expected"), STORIES, ids=[story[0] for story in STORIES])
def test_one_step_follows(story: str, seen: ByoHost | None, progress: AgentProgress, expected: type[Step]) -> None:
    assert type(next_step(seen, progress, NOW)) is expected
    # Deciding changes nothing.
    assert next_step(seen, progress, NOW) == next_step(seen, progress, NOW)


def test_a_failed_step_is_tried_again_when_it_is_due_and_waits_twice_as_long_each_time() -> None:
    failed = replace(CLAIMED, install_failure=FAILURE)
    assert next_step(host(uid="uid-1", **BOTH), failed, NOW) == WaitStep(until=FAILURE.retry_at)
    assert next_step(host(uid="uid-1", **BOTH), failed, FAILURE.retry_at) == InstallStep(script=True)
    pauses, failure = [], None
    for _ in range(9):
        failure = failed_again(failure, "no", NOW)
        pauses.append((failure.retry_at - NOW).total_seconds())
    assert pauses == [10, 20, 40, 80, 160, 320, 600, 600, 600]


@pytest.mark.parametrize("spec", [BOTH, BOOT])
def test_no_script_is_run_where_kubernetes_is_on_the_host(spec: dict[str, Any]) -> None:
    seen = host(uid="uid-1", **spec)
    assert next_step(seen, CLAIMED, NOW, skip_installation=True) == InstallStep(script=False)
    offline = host(uid="uid-1", downloadMode="offline", **spec)
    assert next_step(offline, CLAIMED, NOW) == InstallStep(script=False)


def test_files_of_a_claim_that_is_on_no_record_are_cleaned_before_anything_else() -> None:
    assert next_step(host(), AgentProgress(), NOW, leftovers=True) == CleanStep(
        release=True, why="the claim that it has files of is gone"
    )
    step = next_step(host(uid="uid-1", **BOTH), AgentProgress(), NOW, leftovers=True)
    assert isinstance(step, CleanStep)
    assert not step.release


def test_a_claim_is_released_only_by_its_own_cleaning() -> None:
    released = next_step(host(UNREGISTERING, uid="uid-1"), JOINED, NOW)
    assert released == CleanStep(release=True, why="its claim is being released")
    taken_over = next_step(host(uid="uid-2", **BOTH), JOINED, NOW)
    assert isinstance(taken_over, CleanStep)
    assert not taken_over.release


def said(seen: ByoHost, progress: AgentProgress, **options: bool) -> dict[str, tuple[str, str]]:
    step = next_step(seen, progress, NOW, **options)
    found = agent_conditions(seen, progress, step)
    return {each["type"]: (each["status"], each.get("reason", "")) for each in found}


def test_conditions_say_how_far_a_claim_is() -> None:
    assert said(host(), AgentProgress()) == {"HostClean": ("True", "Cleaned")}
    waiting = host(uid="uid-1")
    assert said(waiting, AgentProgress())["K8sNodeBootstrapSucceeded"] == ("False", "BootstrapDataSecretUnavailable")
    no_installer = host(uid="uid-1", **BOOT)
    assert said(no_installer, AgentProgress())["K8sComponentsInstallationSucceeded"] == (
        "False",
        "K8sInstallationSecretUnavailable",
    )
    whole = host(uid="uid-1", **BOTH)
    assert said(whole, CLAIMED)["K8sComponentsInstallationSucceeded"] == ("False", "K8sComponentsInstalling")
    failed = replace(CLAIMED, install_failure=FAILURE)
    assert said(whole, failed)["K8sComponentsInstallationSucceeded"] == ("False", "K8sComponentsInstallationFailed")
    assert said(whole, replace(INSTALLED, join_failure=FAILURE))["K8sNodeBootstrapSucceeded"] == (
        "False",
        "CloudInitExecutionFailed",
    )
    assert said(whole, JOINED) == {
        "HostClean": ("True", "Cleaned"),
        "K8sComponentsInstallationSucceeded": ("True", ""),
        "K8sNodeBootstrapSucceeded": ("True", ""),
    }
    assert said(host(UNREGISTERING, uid="uid-1"), JOINED) == {}
    assert said(host(), replace(JOINED, clean_failure=FAILURE)) == {"HostClean": ("False", "CleanupFailed")}


def test_a_failure_is_told_with_its_output_and_the_time_of_the_next_try() -> None:
    failed = replace(CLAIMED, install_failure=FAILURE)
    seen = host(uid="uid-1", **BOTH)
    message = agent_conditions(seen, failed, next_step(seen, failed, NOW))[1]["message"]
    assert message == "the install script ended with exit code 3: no disk (tried once, next at 12:00:10 UTC)"


def test_a_kubelet_of_another_version_is_told_and_joins_nevertheless() -> None:
    seen = host(uid="uid-1", kubernetesVersion="v1.34.1", **BOTH)
    step = next_step(seen, INSTALLED, NOW)
    assert step == JoinStep()
    (told,) = (each for each in agent_conditions(seen, INSTALLED, step) if each["type"] == "KubeletVersionMatches")
    assert told["reason"] == "KubeletVersionDiffers"
    assert "v1.35.8" in told["message"]
    assert "v1.34.1" in told["message"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("v1.35.8", "v1.35.8", True),
        ("v1.35.8", "1.35.8+build.1", True),
        ("v1.35.8", "v1.35.9", False),
        ("v1.35.8", "latest", False),
    ],
)
def test_versions_are_compared_by_their_numbers(one: str, other: str, same: bool) -> None:
    assert same_version(one, other) is same


def test_a_condition_keeps_the_time_since_when_it_has_its_status() -> None:
    since = "2026-11-16T10:00:00Z"
    seen = host(conditions=({"type": "HostClean", "status": "True", "lastTransitionTime": since},))
    kept, new = dated_conditions(
        seen, [{"type": "HostClean", "status": "True"}, {"type": "X", "status": "False"}], "2026-11-16T12:00:00Z"
    )
    assert kept["lastTransitionTime"] == since
    assert new["lastTransitionTime"] == "2026-11-16T12:00:00Z"


def test_progress_survives_on_disk_as_it_was() -> None:
    whole = replace(
        JOINED, install_failure=FAILURE, baseline=MachineBaseline(("/var/lib/cni",), ("a/b/c",), {"x": "1"})
    )
    assert msgspec.json.decode(msgspec.json.encode(whole), type=AgentProgress) == whole
