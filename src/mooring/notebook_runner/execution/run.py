"""One run of a notebook: a kernel is started, cells are executed in order, and the first failure ends it.

Each wait has three ends: the work is done, a limit of time has passed, or the runner was told to stop. What was found
up to then is kept in all three.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
import time
from collections.abc import Callable, Coroutine
from typing import IO, Any, Final

import nbclient
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient.exceptions import CellExecutionError, DeadKernelError

from mooring.notebook_runner.durations import go_duration
from mooring.notebook_runner.execution.cell_run import FAILURE, SUCCESS, CellRun, EarlyEnd, Execution
from mooring.notebook_runner.execution.client import CappedClient
from mooring.notebook_runner.execution.dead_kernel import how_it_died, oom_kills
from mooring.notebook_runner.execution.local_sockets import use_local_sockets
from mooring.notebook_runner.execution.parameters import assignments, place_of
from mooring.notebook_runner.execution.value_probe import METADATA_KEY, PROBE, answer_of
from mooring.notebook_runner.result import ERROR, FAILED
from mooring.notebook_runner.settings import RunnerSettings

__all__ = ["NotebookRun"]

KERNEL_START_SECONDS: Final = 60
_LOG_BYTES: Final = 4000


class _Ended(Exception):
    """Stops the run; its argument says why."""

    def __init__(self, end: EarlyEnd) -> None:
        super().__init__(end.message)
        self.end = end


class NotebookRun:
    """Runs once. `progress` is told of every cell when it starts and when it is done."""

    def __init__(
        self,
        notebook: dict[str, Any],
        settings: RunnerSettings,
        folder: str,
        *,
        deadline: float,
        progress: Callable[[int, CellRun | None], None],
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._deadline = deadline
        self._progress = progress
        self._probed = {each.cell for each in settings.validation.expected_outputs}
        cells = notebook["cells"]
        self.execution = Execution(notebook, [CellRun() for _ in cells])
        for cell in cells:
            # Outputs of an earlier run are none of this one. A cell that is not to be executed keeps what it shows.
            if cell["cell_type"] == "code" and not _left_out(cell):
                cell["outputs"], cell["execution_count"] = [], None
        self._client = CappedClient(
            notebook,  # type: ignore[arg-type]
            resources={"metadata": {"path": folder}},
            startup_timeout=KERNEL_START_SECONDS,
            record_timing=False,
        )
        self._stop: asyncio.Future[None] | None = None

    async def run(self) -> Execution:
        loop = asyncio.get_running_loop()
        self._stop = loop.create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)
        with tempfile.TemporaryFile() as log, tempfile.TemporaryDirectory(prefix="kernel-") as sockets:
            try:
                await self._started(log, sockets)
                await self._cells()
            except _Ended as ended:
                self.execution.end = ended.end
            finally:
                await self._kill_kernel()
                self.execution.kernel_log = _tail(log)
        return self.execution

    def _on_signal(self) -> None:
        if self._stop is not None and not self._stop.done():
            self._stop.set_result(None)

    # The kernel

    async def _started(self, log: IO[bytes], sockets: str) -> None:
        client, notebook = self._client, self.execution.notebook
        wanted = notebook["metadata"].get("kernelspec", {}).get("name") or "python3"
        self.execution.environment = {"nbclient": nbclient.__version__, "kernel": wanted}
        self._oom_kills = oom_kills()
        self._log = log
        manager = client.create_kernel_manager()
        try:
            use_local_sockets(manager, sockets)
            await self._within(client.async_start_new_kernel(stdout=log, stderr=log))
            await self._within(client.async_start_new_kernel_client())
            info = await self._within(self._reply(client.kc.kernel_info()))  # type: ignore[union-attr]
        except NoSuchKernel:
            installed = ", ".join(sorted(KernelSpecManager().find_kernel_specs())) or "none"
            message = f'the notebook asks for the kernel "{wanted}", which is not installed; installed: {installed}'
            raise _Ended(EarlyEnd(ERROR, "KernelNotInstalled", message)) from None
        except (DeadKernelError, RuntimeError, OSError) as error:
            why = await self._death() if not isinstance(error, OSError) else str(error)
            raise _Ended(EarlyEnd(ERROR, "KernelDied", f'the kernel "{wanted}" did not start: {why}')) from None
        language = ((info or {}).get("content") or {}).get("language_info") or {}
        notebook["metadata"]["language_info"] = language
        self._python = language.get("name") == "python"
        self.execution.environment["language"] = f"{language.get('name', '?')} {language.get('version', '')}".strip()

    async def _reply(self, message_id: Any) -> Any:
        if asyncio.iscoroutine(message_id):
            message_id = await message_id
        return await self._client.async_wait_for_reply(message_id)

    async def _death(self) -> str:
        provisioner = getattr(self._client.km, "provisioner", None)
        code = await provisioner.poll() if provisioner is not None else None
        return how_it_died(code, oom_kills() > self._oom_kills, _tail(self._log))

    async def _kill_kernel(self) -> None:
        client = self._client
        if client.km is not None and client.km.has_kernel:
            await client.km.shutdown_kernel(now=True)  # type: ignore[misc]
        if client.kc is not None:
            client.kc.stop_channels()
        client.kc = client.km = None

    # The cells

    async def _cells(self) -> None:
        cells = self.execution.notebook["cells"]
        place = place_of(cells) if self._settings.parameters else -1
        for index, cell in enumerate(cells):
            if index == place:
                await self._set_parameters()
            self.execution.reached = index
            if cell["cell_type"] == "code" and cell["source"].strip() and not _left_out(cell):
                await self._cell(index, cell)
            if self.execution.exited_at is not None:
                return
        if place == len(cells):
            await self._set_parameters()
        self.execution.reached = len(cells)

    async def _set_parameters(self) -> None:
        values = self._settings.parameters
        if not self._python:
            message = f"parameters are set in Python only, and the kernel runs {self.execution.environment['language']}"
            raise _Ended(EarlyEnd(ERROR, "ParametersNotSupported", message))
        code = assignments(values)
        self.execution.notebook["metadata"][METADATA_KEY] = {"parameters": values}
        kernel = self._client.kc
        await self._within(self._reply(kernel.execute(code, silent=True, store_history=False)))  # type: ignore[union-attr]

    async def _cell(self, index: int, cell: Any) -> None:
        found = self.execution.cells[index]
        self._progress(index, None)
        started = time.monotonic()
        found.status = FAILURE
        limit = self._settings.cell_timeout_seconds
        try:
            await self._within(self._client.async_execute_cell(cell, index), limit)
            found.status = SUCCESS
        except CellExecutionError as error:
            if _exits_well(error):
                found.status, self.execution.exited_at = SUCCESS, index
                return
            found.error = _error_line(error)
            message = f"cell {index} raised {found.error.splitlines()[0]}"
            raise _Ended(EarlyEnd(FAILED, "NotebookExecutionFailed", message)) from None
        except DeadKernelError:
            found.error = f"the kernel died: {await self._death()}"
            raise _Ended(EarlyEnd(FAILED, "KernelDied", f"in cell {index} {found.error}")) from None
        except _Ended as ended:
            found.error = ended.end.message
            raise _Ended(
                EarlyEnd(ended.end.outcome, ended.end.reason, f"in cell {index}: {ended.end.message}")
            ) from None
        finally:
            found.seconds = time.monotonic() - started
            self._client.mark_dropped(cell, index)
            self._progress(index, found)
        if index in self._probed and self._python:
            await self._probe(cell)

    async def _probe(self, cell: Any) -> None:
        count = cell["execution_count"] or 0
        ask = self._client.kc.execute(  # type: ignore[union-attr]
            "", silent=True, store_history=False, user_expressions={"value": PROBE % (count, count)}
        )
        answer = answer_of(await self._within(self._reply(ask)))
        if answer is not None:
            cell["metadata"][METADATA_KEY] = {"value": answer}

    # Limits

    async def _within(self, work: Coroutine[Any, Any, Any], seconds: float | None = None) -> Any:
        """Ends with the work, with the limit, with the deadline of the run, or with a signal."""
        assert self._stop is not None
        task = asyncio.ensure_future(work)
        left = max(0.0, self._deadline - time.monotonic())
        limit = left if seconds is None else min(seconds, left)
        await asyncio.wait({task, self._stop}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        # The client takes a cancelled wait for a dead kernel, which it is by then.
        if self._client.km is not None and self._client.km.has_kernel:
            await self._client.km.shutdown_kernel(now=True)  # type: ignore[misc]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if self._stop.done():
            raise _Ended(EarlyEnd(ERROR, "Terminated", "the runner was told to stop before the notebook was done"))
        if seconds is not None and seconds < left:
            message = f"the cell was not done within {go_duration(seconds)}, its limit (cellTimeout)"
            raise _Ended(EarlyEnd(FAILED, "CellTimeout", message))
        message = f"the notebook was not done within {go_duration(self._settings.timeout_seconds)}, its limit (timeout)"
        raise _Ended(EarlyEnd(FAILED, "ValidationTimeout", message))


def _left_out(cell: dict[str, Any]) -> bool:
    return "skip-execution" in cell["metadata"].get("tags", ())


def _exits_well(error: CellExecutionError) -> bool:
    return error.ename == "SystemExit" and str(error.evalue).strip() in ("", "None", "0", "False")


def _error_line(error: CellExecutionError) -> str:
    return f"{error.ename}: {error.evalue}" if str(error.evalue).strip() else str(error.ename)


def _tail(log: IO[bytes]) -> str:
    log.seek(0, 2)
    log.seek(max(0, log.tell() - _LOG_BYTES))
    return log.read().decode("utf-8", "replace")
