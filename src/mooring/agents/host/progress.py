"""How far the agent is with a claim: what the journal holds on disk, and what every step is decided from."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

__all__ = ["AgentProgress", "ClaimRecord", "MachineBaseline", "StepFailure", "due_now", "failed_again"]

FIRST_RETRY: Final = timedelta(seconds=10)
LONGEST_RETRY: Final = timedelta(minutes=10)


class ClaimRecord(msgspec.Struct, frozen=True):
    """The ByoMachine that has the host. A claim of another uid is another claim, whatever its name."""

    namespace: str
    name: str
    uid: str


class StepFailure(msgspec.Struct, frozen=True):
    """What went wrong last, and when the step is tried again."""

    message: str
    attempts: int
    retry_at: datetime


class MachineBaseline(msgspec.Struct, frozen=True):
    """What was on the machine before the claim: only what came later is removed, and settings are put back."""

    paths: tuple[str, ...] = ()
    chains: tuple[str, ...] = ()
    sysctls: dict[str, str] = {}


class AgentProgress(msgspec.Struct, frozen=True):
    """`joined` is set once the kubelet has its certificate."""

    claim: ClaimRecord | None = None
    baseline: MachineBaseline = MachineBaseline()
    install_begun: bool = False
    installed: bool = False
    install_failure: StepFailure | None = None
    joined: bool = False
    join_failure: StepFailure | None = None
    clean_failure: StepFailure | None = None
    kubelet_version: str = ""


def due_now(failure: StepFailure | None, now: datetime) -> StepFailure | None:
    """The failure with its next attempt brought forward: whoever starts the agent again has mended something."""
    return None if failure is None else replace(failure, retry_at=min(failure.retry_at, now))


def failed_again(before: StepFailure | None, message: str, now: datetime) -> StepFailure:
    """The failure of one more attempt; each waits twice as long as the one before."""
    attempts = (before.attempts if before is not None else 0) + 1
    pause = min(FIRST_RETRY * 2 ** min(attempts - 1, 16), LONGEST_RETRY)
    return StepFailure(message, attempts, now + pause)
