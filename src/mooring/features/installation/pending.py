"""Releases on which an operation of Helm is pending: left so by a run of ours, or under way at somebody's terminal.

Helm refuses to work on a pending release, and only a person or this controller can end that state. What our own run
left is ended at once. Somebody else's is given as long as a chart may take.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from mooring.features.installation.api.installation import HelmRelease, Installation
from mooring.features.installation.effects import INSTALL, RECOVER, ROLLBACK
from mooring.kube.times import moment

__all__ = ["interrupted", "waited_for"]


def interrupted(found: Installation) -> bool:
    """Whether a release is pending that nobody works on any more, as far as can be known."""
    return any(each.is_pending and _is_ours(found, each) for each in found.status.releases)


def waited_for(found: Installation) -> datetime | None:
    """Until when somebody else's pending operation is waited for; None where there is none."""
    pending = [each for each in found.status.releases if each.is_pending]
    moments = [moment(each.updated) for each in pending if each.updated is not None]
    return max(moments) + timedelta(seconds=found.spec.timeout_seconds) if moments else None


def _is_ours(found: Installation, release: HelmRelease) -> bool:
    """Helm dates a revision when it begins: one that began after a run of ours, which did not end well, is of that run.

    No two runs of an Installation are under way at once.
    """
    if release.updated is None:
        return True
    runs = [found.status.effects.get(each.name) for each in (INSTALL, ROLLBACK, RECOVER)]
    return any(
        run is not None
        and run.phase != "Succeeded"
        and run.started_at is not None
        and moment(run.started_at) <= moment(release.updated)
        for run in runs
    )
