"""Executes the steps of installations by running Helm, without a shell.

Helm reaches the API server with the credentials of this process and the rights of the user who asked: it impersonates
them, and so do the two steps that need no Helm. No two runs of an Installation are under way at once, so that a new one
waits until a cancelled one has ended.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from mooring.agents.child_process import TERMINATION_SECONDS, EffectCommand, EffectOutput, run_child
from mooring.agents.helm.debug_output import DEBUG, DebugOutput
from mooring.agents.helm.empty_namespace import delete_if_empty
from mooring.agents.helm.missing_crds import make_missing_crds
from mooring.agents.helm.private_folder import kubeconfig_for, private_folder, write_private
from mooring.agents.helm.progress import show_progress
from mooring.agents.process_executor import ProcessExecutor, system_clock
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.transport import AsyncTransport, UnknownOutcome, Unreachable
from mooring.features.installation.api.installation import HelmRelease, as_object
from mooring.features.installation.effects import (
    CHECK,
    CRDS,
    HELM_MISSING_EXIT_CODE,
    NAMESPACE_REMOVAL,
    OBSERVE,
    HelmCommand,
    HelmTask,
)
from mooring.features.installation.helm.commands import history
from mooring.features.installation.helm.release_history import NOT_FOUND, release_of
from mooring.features.installation.helm.value_flags import values_text
from mooring.kube.errors import MooringError
from mooring.kube.status import ApiError
from mooring.nodes.process.containers.proc import kill_marked
from mooring.runtime.effects import Report, Run

__all__ = ["HelmExecutor"]

# Marks all processes of Helm that are run for one Installation.
_OBJECT_VARIABLE: Final = "MOORING_INSTALLATION"
# How much longer than it was told Helm may take to end by itself.
_GRACE_SECONDS: Final = 30
_HISTORY_SECONDS: Final = 60
# The definitions of a large chart take a few megabytes.
_MAX_OUTPUT_BYTES: Final = 64 << 20


class HelmExecutor(ProcessExecutor):
    """`access` is what Helm is given to reach the API server."""

    def __init__(
        self,
        transport: AsyncTransport,
        access: Access,
        *,
        clock: Callable[[], datetime] = system_clock,
        termination: float = TERMINATION_SECONDS,
    ) -> None:
        super().__init__(transport, clock=clock, termination=termination)
        self._transport = transport
        self._access = access
        # By the uid of the Installation.
        self._turns: dict[str, asyncio.Lock] = {}

    async def result(self, run: Run, cancelled: asyncio.Event) -> Report:
        task: HelmTask = run.arguments
        async with self._turns.setdefault(run.uid, asyncio.Lock()):
            if cancelled.is_set():
                return Report("Cancelled", message="it is not wanted any more")
            # A process that was killed may have left a Helm of any step behind.
            await asyncio.to_thread(kill_marked, run.uid, _OBJECT_VARIABLE)
            program = shutil.which(task.helm)
            if program is None:
                message = f"there is no program {task.helm} on the machine that runs the controller"
                return Report("Failed", HELM_MISSING_EXIT_CODE, message=message)
            try:
                with private_folder(run.uid) as folder:
                    write_private(folder / "kubeconfig", kubeconfig_for(self._access, task.requester))
                    return await _HelmRun(run, program, folder, self._access, cancelled, self._termination).result(
                        self._transport
                    )
            except (ApiError, MooringError, OSError, UnknownOutcome, Unreachable) as error:
                return Report("Failed", 1, output=str(error))


class _HelmRun:
    """One run, with its folder."""

    def __init__(
        self,
        run: Run,
        program: str,
        folder: Path,
        access: Access,
        cancelled: asyncio.Event,
        termination: float,
    ) -> None:
        self._run = run
        self._task: HelmTask = run.arguments
        self._program, self._folder, self._access = program, folder, access
        self._cancelled, self._termination = cancelled, termination
        self._output = DebugOutput()

    async def result(self, transport: AsyncTransport) -> Report:
        showing = asyncio.create_task(show_progress(transport, self._run, lambda: self._output.text))
        try:
            report = await self._carried_out()
        finally:
            showing.cancel()
            with suppress(asyncio.CancelledError):
                await showing
        return await self._observed(report) if self._task.releases else report

    async def _carried_out(self) -> Report:
        match self._run.effect:
            case effect if effect is CRDS:
                return await self._made_crds()
            case effect if effect is NAMESPACE_REMOVAL:
                return await self._removed_namespace()
        report = Report("Succeeded", 0)
        for command in self._task.commands:
            seconds = self._task.seconds + _GRACE_SECONDS
            if self._run.effect is CHECK:
                report = await self._helm(command, self._output, self._cancelled, seconds)
            else:
                verbose = HelmCommand((*command.arguments, DEBUG), command.values)
                report = await self._helm(verbose, EffectOutput(), self._cancelled, seconds, self._output)
            if report.phase != "Succeeded":
                break
        return report._replace(output=self._output.text)

    async def _made_crds(self) -> Report:
        (command,) = self._task.commands
        printed, errors = EffectOutput(_MAX_OUTPUT_BYTES), self._output
        report = await self._helm(command, printed, self._cancelled, self._task.seconds, errors)
        if report.phase != "Succeeded":
            return report._replace(output=errors.text)
        transport = self._impersonating()
        try:
            lines = await make_missing_crds(transport, printed.text)
        finally:
            await transport.close()
        return report._replace(output="\n".join(lines))

    async def _removed_namespace(self) -> Report:
        transport = self._impersonating()
        try:
            stays = await delete_if_empty(transport, self._task.namespace)
        finally:
            await transport.close()
        return Report("Succeeded", 0, stays or f"namespace {self._task.namespace} deleted", stays)

    async def _observed(self, report: Report) -> Report:
        """With the releases as they are now, however the run ended."""
        found = []
        for release in self._task.releases:
            printed, errors = EffectOutput(_MAX_OUTPUT_BYTES), EffectOutput()
            asked = HelmCommand(history(release.name, release.namespace))
            # What was cancelled is looked at too.
            answer = await self._helm(asked, printed, asyncio.Event(), _HISTORY_SECONDS, errors)
            if answer.phase == "Succeeded":
                found.append(release_of(release.name, release.namespace, printed.text))
            elif NOT_FOUND not in errors.text:
                failed = answer._replace(output=errors.text)
                return failed if self._run.effect is OBSERVE else report
        if self._run.effect is OBSERVE:
            report = report._replace(output="\n".join(_line(each) for each in found if each) or "no releases")
        return report._replace(status={"releases": [as_object(each) for each in found if each is not None]})

    async def _helm(
        self,
        command: HelmCommand,
        output: EffectOutput,
        cancelled: asyncio.Event,
        seconds: float,
        errors: EffectOutput | None = None,
    ) -> Report:
        values: tuple[str, ...] = ()
        if command.values is not None:
            values = ("-f", str(write_private(self._folder / "values.yaml", values_text(command.values))))
        folders = {name: str(self._folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
        environment = {
            **{f"HELM_{name}_HOME": path for name, path in folders.items()},
            "KUBECONFIG": str(self._folder / "kubeconfig"),
            _OBJECT_VARIABLE: self._run.uid,
        }
        started = EffectCommand((self._program, *command.arguments, *values), environment, without="HELM_")
        return await run_child(
            self._run, started, output, cancelled, seconds=seconds, termination=self._termination, errors=errors
        )

    def _impersonating(self) -> HttpTransport:
        requester = self._task.requester
        return HttpTransport(self._access.impersonating(requester.username, requester.groups), connections=4)


def _line(release: HelmRelease) -> str:
    return f"{release.name}: {release.chart} {release.version}, revision {release.revision}, {release.status}"
