"""Has Helm release what an Installation asks for, step by step, and says at any moment how far it is.

A step is Running with the id of a run before the run starts, and Done only when the record of that run says so. So a
process that is killed anywhere leaves a status from which the next one goes on: the run that is on record is run again,
and a release that was left pending by it is brought back to its last good revision first.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from mooring.api.kinds import Key
from mooring.features.installation.api.installation import Installation, Phase
from mooring.features.installation.api.kinds import INSTALLATION
from mooring.features.installation.api.names import CONTROLLER_NAME, FINALIZER, WEBHOOK_SWITCH
from mooring.features.installation.effects import EFFECTS, INSTALL, ROLLBACK
from mooring.features.installation.failures import HelmFailure
from mooring.features.installation.impersonated import GROUP, SERVICE_ACCOUNT, USER
from mooring.features.installation.round import Round, warning
from mooring.features.installation.settings import HELM
from mooring.features.installation.steps import steps_of
from mooring.features.installation.told import told
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer, remove_finalizer
from mooring.workloads.kinds import NAMESPACE


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    found = view.get(INSTALLATION, *key)
    if found is None:
        return Decision()
    deleting = found.metadata.deleting
    # 1. What is installed is uninstalled before the object goes.
    if not deleting and (intent := add_finalizer(INSTALLATION, found, FINALIZER)):
        return Decision(intent=intent)
    if deleting and not _was_begun(found):
        return Decision(release=remove_finalizer(INSTALLATION, found, FINALIZER))
    if not deleting:
        # 2. Somebody wants it.
        if found.spec.suspend:
            return _suspended(found, now)
        # 3. Nothing speaks against it.
        if (failure := _obstacle(found, view)) is not None:
            written = told(found, now, "Failed", *failure)
            return Decision(status=written, events=(warning(found, failure),) if written else ())
    # 4. The steps of this spec are on record.
    planned = steps_of(found, view.settings[HELM])
    names = [each.name for each in planned]
    if found.status.observed_generation != found.metadata.generation or names != [s.name for s in found.status.steps]:
        steps = [each.waiting for each in planned]
        fields = {"observedGeneration": found.metadata.generation}
        phase: Phase = "Uninstalling" if deleting else "Checking"
        return Decision(status=told(found, now, phase, "Started", "it begins", steps=steps, fields=fields))
    # 5. They are done one after the other.
    return Round(found, view, now, planned).decision()


def _was_begun(found: Installation) -> bool:
    """Whether Helm may have released anything."""
    return bool(found.status.releases) or any(each.name in found.status.effects for each in (INSTALL, ROLLBACK))


def _suspended(found: Installation, now: datetime) -> Decision:
    if found.status.phase == "Installed":
        # Nothing runs that could be cancelled.
        return Decision(status=told(found, now, "Installed", "Installed", found.status.message))
    steps = [replace(each, state="Cancelled") if each.state == "Running" else each for each in found.status.steps]
    message = "it is cancelled; set spec.suspend to false to go on"
    return Decision(status=told(found, now, "Cancelled", "Cancelled", message, steps=steps))


def _obstacle(found: Installation, view: View) -> HelmFailure | None:
    """What keeps it from being installed at all."""
    if found.spec.requested_by is None or WEBHOOK_SWITCH not in view.running:
        text = (
            f"nobody says who asked for Installation {found.metadata.name}; run {WEBHOOK_SWITCH} (mooring run "
            "--webhook-url), then raise spec.attempt"
        )
        return HelmFailure("RequesterUnknown", text)
    for name in found.spec.conflicts_with:
        if name in view.running:
            text = (
                f"controller {name} does the same work; start Mooring with --controllers -{name}, which switches it off"
            )
            return HelmFailure("ConflictsWithController", text)
    return None


CONTROLLER: Final = Controller(
    CONTROLLER_NAME,
    reconcile,
    of=INSTALLATION,
    reads=(NAMESPACE,),
    writes={
        INSTALLATION: ("patch", "status"),
        USER: ("impersonate",),
        GROUP: ("impersonate",),
        SERVICE_ACCOUNT: ("impersonate",),
    },
    effects=EFFECTS,
    settings=(HELM,),
)
