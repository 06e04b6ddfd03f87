"""The conditions that the agent keeps on its ByoHost, derived from its journal and its next step."""

from __future__ import annotations

import re
from typing import Final

from mooring.agents.host.progress import AgentProgress, StepFailure
from mooring.agents.host.steps import CleanStep, IdleStep, InstallStep, JoinStep, Step, WaitStep
from mooring.features.hosts.api.conditions import (
    BOOTSTRAP_FAILED,
    CLEANED,
    CLEANUP_FAILED,
    COMPONENTS_INSTALLED,
    COMPONENTS_INSTALLING,
    HOST_CLEAN,
    INSTALLATION_FAILED,
    INSTALLATION_SECRET_UNAVAILABLE,
    KUBELET_VERSION,
    NODE_BOOTSTRAPPED,
)
from mooring.features.hosts.api.hosts import ByoHost
from mooring.kube.conditions import set_conditions
from mooring.kube.objects import Object

__all__ = ["OWN_CONDITIONS", "agent_conditions", "dated_conditions", "same_version"]

OWN_CONDITIONS: Final = (HOST_CLEAN, COMPONENTS_INSTALLED, NODE_BOOTSTRAPPED, KUBELET_VERSION)
JOINING: Final = "WaitingForKubeletCertificate"
VERSION_DIFFERS: Final = "KubeletVersionDiffers"
_VERSION: Final = re.compile(r"v?(\d+\.\d+\.\d+)")


def agent_conditions(host: ByoHost, progress: AgentProgress, step: Step) -> list[Object]:
    """All conditions of the agent, undated. One that is not in the list is taken away."""
    if progress.clean_failure is not None:
        return [_false(HOST_CLEAN, CLEANUP_FAILED, _said(progress.clean_failure), "Error")]
    if isinstance(step, CleanStep):
        return []
    if isinstance(step, IdleStep):
        return [_true(HOST_CLEAN, CLEANED)]
    found = [_true(HOST_CLEAN, CLEANED)]
    reason = step.reason if isinstance(step, WaitStep) else ""
    if reason == INSTALLATION_SECRET_UNAVAILABLE and isinstance(step, WaitStep):
        return [*found, _false(COMPONENTS_INSTALLED, reason, step.message, "Info")]
    if progress.installed:
        found.append(_true(COMPONENTS_INSTALLED))
    elif progress.install_failure is not None:
        found.append(_false(COMPONENTS_INSTALLED, INSTALLATION_FAILED, _said(progress.install_failure), "Error"))
    elif isinstance(step, InstallStep):
        message = "the install script runs" if step.script else "kubelet and containerd are looked for"
        found.append(_false(COMPONENTS_INSTALLED, COMPONENTS_INSTALLING, message, "Info"))
    if progress.joined:
        found.append(_true(NODE_BOOTSTRAPPED))
    elif progress.join_failure is not None:
        found.append(_false(NODE_BOOTSTRAPPED, BOOTSTRAP_FAILED, _said(progress.join_failure), "Error"))
    elif reason and isinstance(step, WaitStep):
        severity = "Error" if reason == BOOTSTRAP_FAILED else "Info"
        found.append(_false(NODE_BOOTSTRAPPED, reason, step.message, severity))
    elif isinstance(step, JoinStep):
        found.append(_false(NODE_BOOTSTRAPPED, JOINING, "the kubelet has no certificate yet", "Info"))
    asked = host.spec.kubernetes_version
    if progress.kubelet_version and asked and not same_version(progress.kubelet_version, asked):
        message = (
            f"the kubelet of this host is {progress.kubelet_version} and the Machine asks for {asked}; "
            "install that version, or change the version of the MachineDeployment"
        )
        found.append(_false(KUBELET_VERSION, VERSION_DIFFERS, message, "Warning"))
    return found


def dated_conditions(host: ByoHost, wanted: list[Object], stamp: str) -> list[Object]:
    """The wanted conditions, each with the time since when it has its status."""
    known = [
        {"type": each.type, "status": each.status, "lastTransitionTime": each.last_transition_time}
        for each in host.status.conditions
    ]
    new = set_conditions(known, wanted, stamp) or known
    types = {condition["type"] for condition in wanted}
    return [condition for condition in new if condition["type"] in types]


def same_version(one: str, other: str) -> bool:
    """Whether two versions of Kubernetes are the same, with or without the v and what follows the number."""
    first, second = _VERSION.match(one), _VERSION.match(other)
    return first is not None and second is not None and first.group(1) == second.group(1)


def _said(failure: StepFailure) -> str:
    tries = "once" if failure.attempts == 1 else f"{failure.attempts} times"
    return f"{failure.message} (tried {tries}, next at {failure.retry_at:%H:%M:%S} UTC)"


def _true(kind: str, reason: str = "") -> Object:
    return {"type": kind, "status": "True", **({"reason": reason} if reason else {})}


def _false(kind: str, reason: str, message: str, severity: str) -> Object:
    return {"type": kind, "status": "False", "severity": severity, "reason": reason, "message": message}
