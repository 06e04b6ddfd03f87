"""The supervisor of one running container: runs its hooks and probes, enforces its memory limit, reports its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.containers.limits import LimitRefused
from mooring.nodes.process.containers.prober import run_handler
from mooring.nodes.process.containers.probes import ProbeTiming, ProbeVerdict
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.containers.start import limit_of
from mooring.nodes.process.containers.termination_message import termination_message
from mooring.nodes.process.logs import last_words
from mooring.nodes.process.node_context import NodeContext
from mooring.nodes.process.pods.model import End, Ended, PodEvent, Probed, ProbeKind, RecordEvent
from mooring.nodes.process.pods.specs import probe_of

__all__ = ["ContainerSupervisor"]


_MEMORY_SECONDS: Final = 0.5
_START_ERROR_EXIT_CODE: Final = 128
_KILLED_EXIT_CODE: Final = 137


class ContainerSupervisor:
    """`post` takes pod events and `record` events for people.

    `probe_failed` is called with the kind of a startup or liveness probe that has failed often enough for a restart.
    """

    def __init__(
        self,
        context: NodeContext,
        pod: Callable[[], Object],
        container: Object,
        process: ContainerProcess,
        *,
        post: Callable[[PodEvent], None],
        record: Callable[[RecordEvent], None],
        probe_failed: Callable[[str], None],
    ) -> None:
        self.process = process
        self._context = context
        self._pod = pod
        self._container = container
        self._name: str = container["name"]
        self._post, self._record, self._probe_failed = post, record, probe_failed
        self._started = context.clock()
        self._hook = (container.get("lifecycle") or {}).get("postStart")
        self._others: list[asyncio.Task[None]] = []
        self._holds_to_memory = False

    @property
    def settles_at_once(self) -> bool:
        """Whether nothing has to be waited for before the container counts as started."""
        return self._hook is None and probe_of(self._container, "startup") is None

    @property
    def ready_at_once(self) -> bool:
        return probe_of(self._container, "readiness") is None

    async def run(self) -> None:
        """Run until the container has ended. `Ended` is the last event that is posted."""
        self._others.append(asyncio.create_task(self._accompany()))
        self._hold_to_memory()
        try:
            code = await self.process.wait()
        finally:
            for task in self._others:
                task.cancel()
            await asyncio.gather(*self._others, return_exceptions=True)
        self._post(Ended(self._name, await asyncio.to_thread(self._end_and_release, code)))

    async def change_limits(self, resources: Object) -> str:
        """Hold the container to the limits of these resources; why that cannot be done now, or nothing."""
        container = {"resources": resources}
        memory, cpu = limit_of(container, "memory"), limit_of(container, "cpu")
        groups = self._context.isolation.control_groups
        try:
            await asyncio.to_thread(self.process.change_limits, groups, self._name, memory=memory, cpu=cpu)
        except LimitRefused as refused:
            return str(refused)
        except OSError as error:
            return f"the limits of container {self._name} cannot be changed: {error.strerror}: {error.filename}"
        self._hold_to_memory()
        return ""

    async def stop(self, seconds: float) -> None:
        """Run the preStop hook, then send the stop signal. The pod worker kills it at the deadline."""
        lifecycle = self._container.get("lifecycle") or {}
        if hook := lifecycle.get("preStop"):
            answer = await run_handler(
                hook, self._container, self.process, self._context.node_fields.address, max(seconds, 1.0)
            )
            if not answer.good:
                self._record(
                    RecordEvent("Warning", "FailedPreStopHook", f"PreStopHook failed: {answer.output}", self._name)
                )
        wanted = getattr(signal, lifecycle.get("stopSignal") or "SIGTERM", signal.SIGTERM)
        self.process.signal(wanted)

    # While it runs

    async def _accompany(self) -> None:
        if self._hook is not None and not await self._run_hook():
            return
        if probe_of(self._container, "startup") is not None:
            await self._probe("startup")
        if not self.settles_at_once:
            self._post(Probed(self._name, "startup", True))
            if self.ready_at_once:
                self._post(Probed(self._name, "readiness", True))
        kinds: tuple[ProbeKind, ProbeKind] = ("readiness", "liveness")
        await asyncio.gather(*(self._probe(kind) for kind in kinds if probe_of(self._container, kind)))

    async def _run_hook(self) -> bool:
        assert self._hook is not None
        # There is no limit to it but the pod's own end.
        answer = await run_handler(self._hook, self._container, self.process, self._context.node_fields.address, 3600.0)
        if not answer.good:
            self._record(
                RecordEvent("Warning", "FailedPostStartHook", f"PostStartHook failed: {answer.output}", self._name)
            )
            self.process.kill()
        return answer.good

    async def _probe(self, kind: ProbeKind) -> None:
        """Probe until cancelled; a startup probe until it succeeds."""
        probe = probe_of(self._container, kind)
        assert probe is not None
        timing = ProbeTiming.of(probe)
        verdict = ProbeVerdict(kind == "liveness")
        await asyncio.sleep(timing.delay)
        while True:
            answer = await run_handler(
                probe, self._container, self.process, self._context.node_fields.address, timing.timeout
            )
            if not answer.good:
                text = f"{kind.capitalize()} probe failed: {answer.output}"
                self._record(RecordEvent("Warning", "Unhealthy", text, self._name))
            before, verdict = verdict, verdict.after(answer.good, timing)
            if kind == "startup" and verdict.good:
                return
            if kind == "readiness" and verdict.good != before.good:
                self._post(Probed(self._name, kind, verdict.good))
            if kind != "readiness" and answer.good is False and verdict.streak == timing.failures:
                self._probe_failed(kind)
            await asyncio.sleep(timing.period)

    def _hold_to_memory(self) -> None:
        """Watch its memory from now on, once it has a limit."""
        if self.process.order.memory is not None and not self._holds_to_memory:
            self._holds_to_memory = True
            self._others.append(asyncio.create_task(self._watch_memory()))

    async def _watch_memory(self) -> None:
        while True:
            await asyncio.sleep(_MEMORY_SECONDS)
            if self.process.over_limit():
                self.process.kill()

    # The end

    def _end_and_release(self, code: int) -> End:
        end = self._end(code)
        self.process.order.release()
        return end

    def _end(self, code: int) -> End:
        now = self._context.clock()
        order = self.process.order
        if not self.process.started:
            text = last_words(order.log.path, lines=3) or "the sandbox could not be made"
            return End(_START_ERROR_EXIT_CODE, "StartError", text, None, now, order.id)
        reason = "Completed" if code == 0 else "Error"
        group = order.group
        if self.process.out_of_memory or (
            code == _KILLED_EXIT_CODE and group is not None and group.killed_for_memory()
        ):
            reason, code = "OOMKilled", _KILLED_EXIT_CODE
        return End(code, reason, self._message(code), self._started, now, order.id)

    def _message(self, code: int) -> str:
        text = termination_message(self._context.disk.message(self._pod()["metadata"]["uid"], self._name))
        if text or not code or self._container.get("terminationMessagePolicy") != "FallbackToLogsOnError":
            return text
        return last_words(self.process.order.log.path)
