"""The steps of an installation, in order: what is run in each, and what a person would type to do the same.

Nothing is changed before the chart version was found in the repository and the releases were looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.installation import HelmRelease, Installation, Requester, StepStatus
from mooring.features.installation.effects import (
    CHECK,
    CRDS,
    INSTALL,
    NAMESPACE_REMOVAL,
    OBSERVE,
    RECOVER,
    ROLLBACK,
    UNINSTALL,
    HelmCommand,
    HelmTask,
)
from mooring.features.installation.helm import commands as helm_commands
from mooring.runtime.effects import Effect

__all__ = ["RECOVER_STEP", "PlannedStep", "steps_of"]

OBSERVE_STEP: Final = "observe"
RECOVER_STEP: Final = "recover"
# How long Helm may take to answer what needs no waiting, such as a look into a repository.
_QUERY_SECONDS: Final = 60


class PlannedStep(NamedTuple):
    """A step, the effect that carries it out, and the chart that it is about, if it is about one."""

    name: str
    title: str
    command: str
    effect: Effect[HelmTask]
    task: HelmTask
    chart: HelmChart | None = None

    @property
    def waiting(self) -> StepStatus:
        return StepStatus(self.name, self.title, self.command)


def steps_of(installation: Installation, helm: str) -> tuple[PlannedStep, ...]:
    """All steps of what the spec asks for now, or of the end of the installation."""
    if installation.metadata.deleting:
        return tuple(_removal(installation, helm))
    return tuple(_installation(installation, helm))


def _installation(installation: Installation, helm: str) -> Iterator[PlannedStep]:
    spec, found = installation.spec, installation.status.releases
    task = _task(installation, helm)
    if spec.rollback_to is None:
        for chart in spec.charts:
            yield _query(
                f"check-{chart.name}", f"Find {chart.chart} {chart.version}", CHECK, task, "chart", chart, spec
            )
    shown = " && ".join(_shown(helm_commands.history(each.name, each.namespace)) for each in spec.charts)
    yield PlannedStep(OBSERVE_STEP, "Look at the releases", shown, OBSERVE, replace(task, step=OBSERVE_STEP))
    yield _recovery(installation, task)
    if spec.rollback_to is not None:
        chart = spec.charts[0]
        arguments = helm_commands.rollback(chart.name, chart.namespace, spec.rollback_to, spec.timeout_seconds)
        title = f"Roll {chart.name} back to revision {spec.rollback_to}"
        after = tuple(replace(each, status="deployed", revision=each.revision + 1) for each in found)
        yield _changing(f"rollback-{chart.name}", title, ROLLBACK, task, arguments, after, chart)
        return
    after = found
    for chart in spec.charts:
        apart = spec.crds == "Missing" and not chart.skip_crds
        if apart:
            step = _query(f"crds-{chart.name}", f"Make missing CRDs of {chart.chart}", CRDS, task, "crds", chart, spec)
            yield step._replace(command=f"{step.command} | kubectl create -f -")
        after = _released(after, chart)
        seconds, skip = spec.timeout_seconds, apart or chart.skip_crds
        arguments = helm_commands.upgrade(chart, spec.repository, seconds, skip_crds=skip)
        title = f"Install {chart.chart} {chart.version} as {chart.name}"
        step = _changing(f"install-{chart.name}", title, INSTALL, task, arguments, after, chart)
        yield step._replace(command=helm_commands.shown_upgrade(chart, spec.repository, seconds, skip_crds=skip))


def _removal(installation: Installation, helm: str) -> Iterator[PlannedStep]:
    task = _task(installation, helm)
    after = installation.status.releases
    for chart in reversed(installation.spec.charts):
        arguments = helm_commands.uninstall(chart.name, chart.namespace, installation.spec.timeout_seconds)
        after = tuple(each for each in after if each.name != chart.name)
        yield _changing(f"uninstall-{chart.name}", f"Uninstall {chart.name}", UNINSTALL, task, arguments, after, chart)
    for namespace in reversed(installation.status.created_namespaces):
        name = f"namespace-{namespace}"
        removal = replace(task, step=name, namespace=namespace)
        shown = _shown(("delete", "namespace", namespace), program="kubectl")
        yield PlannedStep(name, f"Delete namespace {namespace} if it is empty", shown, NAMESPACE_REMOVAL, removal)


def _recovery(installation: Installation, task: HelmTask) -> PlannedStep:
    """What ends interrupted operations of Helm: back to the last good revision, or away where there is none."""
    lines = []
    for release in installation.status.releases:
        if release.is_pending and release.good_revision:
            lines.append(("rollback", release.name, str(release.good_revision), "-n", release.namespace))
        elif release.is_pending:
            lines.append(("uninstall", release.name, "-n", release.namespace, "--ignore-not-found"))
    after = tuple(
        replace(each, status="deployed" if each.good_revision else "") if each.is_pending else each
        for each in installation.status.releases
    )
    made = replace(task, step=RECOVER_STEP, releases=_all(installation, after), commands=tuple(map(HelmCommand, lines)))
    shown = " && ".join(map(_shown, lines))
    return PlannedStep(RECOVER_STEP, "End what was interrupted", shown, RECOVER, made)


def _query(
    name: str, title: str, effect: Effect[HelmTask], task: HelmTask, what: str, chart: HelmChart, spec: Any
) -> PlannedStep:
    arguments = helm_commands.show(what, chart, spec.repository)
    made = replace(task, step=name, releases=(), commands=(HelmCommand(arguments),), seconds=_QUERY_SECONDS)
    return PlannedStep(name, title, _shown(arguments), effect, made, chart)


def _changing(
    name: str,
    title: str,
    effect: Effect[HelmTask],
    task: HelmTask,
    arguments: tuple[str, ...],
    after: tuple[HelmRelease, ...],
    chart: HelmChart,
) -> PlannedStep:
    values = (chart.values or {}) if effect is INSTALL else None
    known = {each.name for each in after}
    # Those that are not there are looked for too.
    others = tuple(each for each in task.releases if each.name not in known)
    made = replace(task, step=name, releases=(*after, *(replace(each, status="") for each in others)))
    made = replace(made, commands=(HelmCommand(arguments, values),))
    return PlannedStep(name, title, _shown(arguments), effect, made, chart)


def _task(installation: Installation, helm: str) -> HelmTask:
    spec = installation.spec
    requester = spec.requested_by or Requester()
    releases = _all(installation, installation.status.releases)
    return HelmTask("", helm, requester, spec.timeout_seconds, releases=releases)


def _all(installation: Installation, known: tuple[HelmRelease, ...]) -> tuple[HelmRelease, ...]:
    """The releases of all charts, whether they were seen or not."""
    found = {each.name: each for each in known}
    return tuple(found.get(each.name, HelmRelease(each.name, each.namespace)) for each in installation.spec.charts)


def _released(known: tuple[HelmRelease, ...], chart: HelmChart) -> tuple[HelmRelease, ...]:
    """The releases once a chart is installed."""
    before = next((each for each in known if each.name == chart.name), HelmRelease(chart.name, chart.namespace))
    revision = before.revision + 1
    made = HelmRelease(
        chart.name,
        chart.namespace,
        chart.chart.rpartition("/")[2],
        chart.version,
        revision=revision,
        status="deployed",
        good_revision=revision,
    )
    return (*(each for each in known if each.name != chart.name), made)


def _shown(arguments: tuple[str, ...], program: str = "helm") -> str:
    return helm_commands.shown_command((program, *arguments))
