"""What the agent does next: a ladder from its ByoHost and its journal to one step. Nothing here acts.

The journal wins over the API in one respect: while it has a claim, something of that claim may be on the machine, and
no other claim begins before it is cleaned.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from mooring.agents.host.progress import AgentProgress, ClaimRecord, StepFailure
from mooring.api.conditions import find_condition
from mooring.features.hosts.api.conditions import (
    BOOTSTRAP_FAILED,
    BOOTSTRAP_SECRET_UNAVAILABLE,
    HOST_CLEAN,
    INSTALLATION_SECRET_UNAVAILABLE,
)
from mooring.features.hosts.api.hosts import TLS_BOOTSTRAP, ByoHost
from mooring.features.hosts.api.names import PAUSED, UNREGISTERING

__all__ = [
    "BeginStep",
    "CleanStep",
    "IdleStep",
    "InstallStep",
    "JoinStep",
    "ServeStep",
    "Step",
    "WaitStep",
    "next_step",
]

# What `downloadMode` says where Kubernetes is on the host already.
OFFLINE: Final = "offline"


class IdleStep(NamedTuple):
    """Nobody has claimed the host."""


class WaitStep(NamedTuple):
    """Something is missing, or a failed step is not due yet. An empty reason leaves the conditions as they are."""

    reason: str = ""
    message: str = ""
    until: datetime | None = None


class BeginStep(NamedTuple):
    """A claim is new: what the machine is like is put on record before anything of the claim is on it."""

    claim: ClaimRecord


class InstallStep(NamedTuple):
    """`script` is False where Kubernetes is on the host already, which is then only verified."""

    script: bool


class JoinStep(NamedTuple):
    """Write the configuration, start the services, wait for the kubelet's certificate."""


class ServeStep(NamedTuple):
    """The host is a node: its services run."""


class CleanStep(NamedTuple):
    """Remove everything of a claim. `release` tells the API afterwards that the host is free."""

    release: bool
    why: str


Step = IdleStep | WaitStep | BeginStep | InstallStep | JoinStep | ServeStep | CleanStep


def next_step(
    host: ByoHost | None,
    progress: AgentProgress,
    now: datetime,
    *,
    leftovers: bool = False,
    skip_installation: bool = False,
) -> Step:
    """`host` is None where the API has none of this name. `leftovers` are files of a claim that is on no record."""
    cleaning = _cleaning(host, progress, leftovers=leftovers)
    if cleaning is not None:
        return _retried(progress.clean_failure, now) or cleaning
    reference = None if host is None else host.status.machine_ref
    if host is None or reference is None or UNREGISTERING in host.metadata.annotations:
        return IdleStep()
    if PAUSED in host.metadata.annotations:
        return ServeStep() if progress.joined else WaitStep()
    if progress.joined:
        return ServeStep()
    if host.spec.bootstrap_secret is None:
        return WaitStep(BOOTSTRAP_SECRET_UNAVAILABLE, "the claim has not named a bootstrap Secret yet")
    if host.spec.join_mode != TLS_BOOTSTRAP:
        return WaitStep(BOOTSTRAP_FAILED, _unsupported(host))
    script = not skip_installation and host.spec.download_mode != OFFLINE
    if script and host.spec.installation_secret is None and not progress.installed:
        return WaitStep(
            INSTALLATION_SECRET_UNAVAILABLE,
            "the claim has not named an installation Secret yet; an agent with --skip-installation needs none",
        )
    if progress.claim is None:
        return BeginStep(ClaimRecord(reference.namespace or host.metadata.namespace, reference.name, reference.uid))
    if not progress.installed:
        return _retried(progress.install_failure, now) or InstallStep(script)
    return _retried(progress.join_failure, now) or JoinStep()


def _cleaning(host: ByoHost | None, progress: AgentProgress, *, leftovers: bool) -> CleanStep | None:
    """The step that cleans, where something must be cleaned before anything else."""
    has_claim = progress.claim is not None or leftovers
    if host is None:
        return CleanStep(release=False, why="its ByoHost is gone") if has_claim else None
    reference = host.status.machine_ref
    if UNREGISTERING in host.metadata.annotations or host.metadata.deleting:
        # Also where nothing is left here: only the agent's word ends the release.
        if has_claim or reference is not None or not _is_clean(host):
            return CleanStep(release=True, why="its claim is being released")
        return None
    if reference is None:
        if has_claim:
            return CleanStep(release=True, why="the claim that it has files of is gone")
        return None if _is_clean(host) else CleanStep(release=True, why="it was released without its agent")
    if leftovers:
        return CleanStep(release=False, why="it has files of a claim that is on no record")
    if progress.claim is not None and progress.claim.uid != reference.uid:
        return CleanStep(release=False, why=f"{progress.claim.name} has it no more and {reference.name} has")
    return None


def _is_clean(host: ByoHost) -> bool:
    known = find_condition(host.status.conditions, HOST_CLEAN)
    return known is None or known.status != "False"


def _retried(failure: StepFailure | None, now: datetime) -> WaitStep | None:
    return WaitStep(until=failure.retry_at) if failure is not None and now < failure.retry_at else None


def _unsupported(host: ByoHost) -> str:
    mode = host.spec.join_mode or "kubeadm"
    return f'joinMode "{mode}" is not supported by this agent; set joinMode: {TLS_BOOTSTRAP} in the ByoMachineTemplate'
