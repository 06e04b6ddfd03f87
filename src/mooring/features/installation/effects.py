"""What is done with Helm, as effects. The executor `helm` carries them out, with the rights of who asked.

Each is one step of an installation, and each looks at the releases when it ends, however it ended: so the status never
says more than was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from mooring.api.core.types import View as Typed
from mooring.features.installation.api.installation import HelmRelease, Requester, as_object
from mooring.runtime.effects import Effect, Report

__all__ = [
    "CHECK",
    "CRDS",
    "EFFECTS",
    "EXECUTOR",
    "HELM_MISSING_EXIT_CODE",
    "INSTALL",
    "NAMESPACE_REMOVAL",
    "OBSERVE",
    "RECOVER",
    "ROLLBACK",
    "UNINSTALL",
    "HelmCommand",
    "HelmTask",
]

EXECUTOR: Final = "helm"
# The exit code by which shells say that there is no such program.
HELM_MISSING_EXIT_CODE: Final = 127
# A task has a limit of its own, which the executor keeps; this one is beyond all of them.
_LIMIT: Final = timedelta(days=2)


class HelmCommand(Typed, frozen=True):
    """One run of Helm. `values` are put into a private file that Helm is pointed to."""

    arguments: tuple[str, ...]
    values: dict[str, Any] | None = None


class HelmTask(Typed, frozen=True):
    """One step: commands that follow each other while they go well.

    `releases` are looked at afterwards; they are as a simulation finds them then. `namespace` is one that is deleted.
    """

    step: str
    helm: str
    requester: Requester
    seconds: int
    commands: tuple[HelmCommand, ...] = ()
    releases: tuple[HelmRelease, ...] = ()
    namespace: str = ""


def _model(duration: timedelta) -> Callable[[HelmTask], tuple[timedelta, Report]]:
    def model(task: HelmTask) -> tuple[timedelta, Report]:
        found = [as_object(each) for each in task.releases if each.status]
        return duration, Report("Succeeded", 0, status={"releases": found})

    return model


def _quiet_model(task: HelmTask) -> tuple[timedelta, Report]:
    return timedelta(seconds=1), Report("Succeeded", 0)


CHECK: Final = Effect("helm-check", EXECUTOR, HelmTask, _LIMIT, _quiet_model)
OBSERVE: Final = Effect("helm-observe", EXECUTOR, HelmTask, _LIMIT, _model(timedelta(seconds=1)))
RECOVER: Final = Effect("helm-recover", EXECUTOR, HelmTask, _LIMIT, _model(timedelta(seconds=10)))
CRDS: Final = Effect("helm-crds", EXECUTOR, HelmTask, _LIMIT, _quiet_model)
INSTALL: Final = Effect("helm-install", EXECUTOR, HelmTask, _LIMIT, _model(timedelta(seconds=30)))
ROLLBACK: Final = Effect("helm-rollback", EXECUTOR, HelmTask, _LIMIT, _model(timedelta(seconds=30)))
UNINSTALL: Final = Effect("helm-uninstall", EXECUTOR, HelmTask, _LIMIT, _model(timedelta(seconds=15)))
NAMESPACE_REMOVAL: Final = Effect("helm-namespace", EXECUTOR, HelmTask, _LIMIT, _quiet_model)
EFFECTS: Final = (CHECK, OBSERVE, RECOVER, CRDS, INSTALL, ROLLBACK, UNINSTALL, NAMESPACE_REMOVAL)
