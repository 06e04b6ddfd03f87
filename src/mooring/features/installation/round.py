"""One pass over the steps of an installation: takes results in, begins the next step, and says how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from mooring.api.kinds import key_of
from mooring.features.installation.api.installation import Installation, Phase, StepStatus
from mooring.features.installation.api.kinds import INSTALLATION
from mooring.features.installation.api.names import FINALIZER
from mooring.features.installation.effects import CHECK, INSTALL, OBSERVE, ROLLBACK
from mooring.features.installation.failures import HELM_MISSING, HelmFailure, failure_of
from mooring.features.installation.pending import interrupted, waited_for
from mooring.features.installation.steps import RECOVER_STEP, PlannedStep
from mooring.features.installation.told import told
from mooring.kube.times import moment, timestamp
from mooring.runtime.decision import Decision, Event
from mooring.runtime.effects import EffectRecord, Run
from mooring.runtime.view import View
from mooring.workloads.finalizers import remove_finalizer
from mooring.workloads.kinds import NAMESPACE

__all__ = ["Round", "warning"]

# How soon a step is tried again that failed for a reason which nobody mends in the object: there is no Helm here, or an
# object that is being deleted cannot be.
_RETRY_INTERVAL: Final = timedelta(seconds=30)
# How often a step is begun again after its process was killed, before a person must look.
_MOST_RUNS: Final = 5


def warning(found: Installation, failure: HelmFailure) -> Event:
    return Event(INSTALLATION, key_of(found), "Warning", failure.reason, failure.message)


@dataclass(frozen=True)
class Round:
    """One pass over the steps of an installation."""

    found: Installation
    view: View
    now: datetime
    planned: tuple[PlannedStep, ...]

    def decision(self) -> Decision:
        steps = list(self.found.status.steps)
        events: tuple[Event, ...] = ()
        for index, (plan, step) in enumerate(zip(self.planned, steps, strict=True)):
            if step.state in ("Done", "Skipped"):
                continue
            if step.state in ("Failed", "Cancelled"):
                return self._failed(plan, steps, index)
            if step.state == "Running":
                record = self._record(plan, step)
                if record is None or not record.is_finished:
                    return self._running(plan, steps, index, events)
                if record.phase != "Succeeded":
                    return self._ended_badly(plan, steps, index, record)
                steps[index] = _ended(step, record, "Done")
                events += self._said(plan, record)
            elif plan.name == RECOVER_STEP and not interrupted(self.found):
                until = waited_for(self.found)
                if until is not None and not self.view.reached(until):
                    return self._somebody_else(steps, index)
                if until is not None:
                    return self._begin(plan, steps, index, events)
                steps[index] = replace(step, state="Skipped")
            else:
                return self._begin(plan, steps, index, events)
        return self._all_done(steps, events)

    def _record(self, plan: PlannedStep, step: StepStatus) -> EffectRecord | None:
        record = self.found.status.effects.get(plan.effect.name)
        return record if record is not None and record.id == step.run else None

    # Rungs

    def _begin(self, plan: PlannedStep, steps: list[StepStatus], index: int, events: tuple[Event, ...]) -> Decision:
        """The id of the run is on record with the step; the runtime adds the run's own record."""
        count = _runs(steps[index]) + 1
        run = f"{self.found.metadata.generation}-{plan.name}-{count}"
        begun = replace(plan.waiting, state="Running", started_at=timestamp(self.now), run=run)
        steps[index] = begun
        return self._running(plan, steps, index, events)

    def _running(self, plan: PlannedStep, steps: list[StepStatus], index: int, events: tuple[Event, ...]) -> Decision:
        phase, fields = self._phase(plan), self._new_namespaces(plan)
        written = told(self.found, self.now, phase, *self._words(plan), steps=steps, fields=fields)
        run = Run(plan.effect, INSTALLATION, key_of(self.found), steps[index].run, plan.task)
        return Decision(status=written, effects=(run,), events=events)

    def _new_namespaces(self, plan: PlannedStep) -> dict[str, list[str]]:
        """A namespace that is not there before Helm makes it is ours to delete."""
        chart, known = plan.chart, self.found.status.created_namespaces
        if plan.effect is not INSTALL or chart is None or not chart.create_namespace or chart.namespace in known:
            return {}
        if self.view.get(NAMESPACE, "", chart.namespace) is not None:
            return {}
        return {"createdNamespaces": [*known, chart.namespace]}

    def _ended_badly(self, plan: PlannedStep, steps: list[StepStatus], index: int, record: EffectRecord) -> Decision:
        step = steps[index]
        changes = plan.effect in (INSTALL, ROLLBACK)
        if changes and record.phase == "Failed" and interrupted(self.found) and _runs(step) < _MOST_RUNS:
            # A run that was killed left the release pending, and the next one was refused for that.
            recover = next(number for number, each in enumerate(self.planned) if each.name == RECOVER_STEP)
            steps[recover] = replace(steps[recover], state="Waiting")
            steps[index] = replace(_ended(step, record, "Waiting"), finished_at=None)
            text = f"{step.name} was interrupted; what it left is brought in order, then it is done again"
            return Decision(status=told(self.found, self.now, self._phase(plan), "Recovering", text, steps=steps))
        failure = failure_of(self.found, plan, record)
        steps[index] = _ended(step, record, "Cancelled" if record.phase == "Cancelled" else "Failed")
        phase: Phase = "Cancelled" if record.phase == "Cancelled" else "Failed"
        written = told(self.found, self.now, phase, *failure, steps=steps)
        return Decision(status=written, events=(warning(self.found, failure),))

    def _failed(self, plan: PlannedStep, steps: list[StepStatus], index: int) -> Decision:
        """What failed stays so until the spec changes, unless time alone may mend it."""
        record = self._record(plan, steps[index])
        if record is None or record.finished_at is None:
            return Decision()
        mends = self.found.metadata.deleting or failure_of(self.found, plan, record).reason == HELM_MISSING
        if not mends:
            return Decision()
        if not self.view.reached(moment(record.finished_at) + _RETRY_INTERVAL):
            return Decision()
        return self._begin(plan, steps, index, ())

    def _somebody_else(self, steps: list[StepStatus], recover: int) -> Decision:
        """Another process of Helm is at work, or was: the releases are looked at again, which is the step before."""
        look = recover - 1
        looked = steps[look].finished_at
        if looked is not None and not self.view.reached(moment(looked) + _RETRY_INTERVAL):
            reason, message = self._words(self.planned[look])
            return Decision(status=told(self.found, self.now, self.found.status.phase, reason, message, steps=steps))
        return self._begin(self.planned[look], steps, look, ())

    def _all_done(self, steps: list[StepStatus], events: tuple[Event, ...]) -> Decision:
        if self.found.metadata.deleting:
            release = remove_finalizer(INSTALLATION, self.found, FINALIZER)
            written = told(self.found, self.now, "Uninstalling", "Uninstalled", "it is uninstalled", steps=steps)
            return Decision(status=written, release=release, events=events)
        charts = ", ".join(f"{each.name} {each.version}" for each in self.found.status.releases)
        back = self.found.spec.rollback_to
        reason = "Installed" if back is None else "RolledBack"
        message = f"installed: {charts}" if back is None else f"rolled back to revision {back}: {charts}"
        written = told(self.found, self.now, "Installed", reason, message, steps=steps)
        if self.found.status.phase != "Installed":
            events += (Event(INSTALLATION, key_of(self.found), "Normal", reason, message),)
        return Decision(status=written, events=events)

    # Words

    def _phase(self, plan: PlannedStep) -> Phase:
        if self.found.metadata.deleting:
            return "Uninstalling"
        if plan.effect is CHECK:
            return "Checking"
        if self.found.spec.rollback_to is not None:
            return "RollingBack"
        return "Upgrading" if any(each.good_revision for each in self.found.status.releases) else "Installing"

    def _words(self, plan: PlannedStep) -> tuple[str, str]:
        """Reason and sentence of a step that is under way."""
        until = waited_for(self.found)
        if plan.effect is not OBSERVE or until is None or interrupted(self.found):
            return "Running", plan.title
        pending = next(each for each in self.found.status.releases if each.is_pending)
        text = (
            f"release {pending.name} is {pending.status} by somebody else's Helm; it is waited for until "
            f"{timestamp(until)}, or run helm rollback or helm uninstall on it"
        )
        return "ReleasePending", text

    def _said(self, plan: PlannedStep, record: EffectRecord) -> tuple[Event, ...]:
        """What a step has to tell although it went well: a namespace that stays, and why."""
        if not record.message:
            return ()
        return (Event(INSTALLATION, key_of(self.found), "Normal", "NamespaceKept", record.message),)


def _runs(step: StepStatus) -> int:
    """How often a step has been begun."""
    return int(step.run.rpartition("-")[2]) if step.run else 0


def _ended(step: StepStatus, record: EffectRecord, state: str) -> StepStatus:
    return replace(step, state=state, finished_at=record.finished_at, output=record.output or step.output)
