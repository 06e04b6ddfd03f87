"""The connection of one command of runway: what it asks, it asks over one transport, in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mooring.cli.cluster_access import connect
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.placement.snapshot import Snapshot
    from mooring.runway.providers.provider import Provider

__all__ = ["Session", "open_session", "snapshot_of_files"]

T = TypeVar("T")


class Session:
    """`namespace` is the one of the kubeconfig's context."""

    def __init__(self, transport: HttpTransport, namespace: str, runner: asyncio.Runner) -> None:
        self.transport = transport
        self.namespace = namespace
        self._runner = runner

    def run(self, work: Coroutine[Any, Any, T], doing: str) -> T:
        """The answer to a question. A refusal for want of rights says what was tried."""
        from mooring.kube.status import ForbiddenError, UnauthorizedError
        from mooring.runway.sources.refusal import refusal

        try:
            return self._runner.run(work)
        except (ForbiddenError, UnauthorizedError) as error:
            raise refusal(self.transport.server, doing, error) from None

    def is_embedded(self) -> bool:
        from mooring.runway.operations.provider_facts import is_embedded

        return is_embedded(self.run(self.transport.version(), "read its version"))

    def provider(self, name: str = "") -> Provider:
        """The provider of this name, or the usual one of the cluster."""
        from mooring.runway.providers.registry import default_provider, find_provider

        return find_provider(name) if name else default_provider(embedded=self.is_embedded())

    def snapshot(self) -> Snapshot:
        """Everything that placement depends on."""
        return self.run(_snapshot(self.transport), "list nodes and pods")


@contextmanager
def open_session(kubeconfig: Path | None, context: str | None) -> Iterator[Session]:
    from mooring.runway.sources.live_source import PAGE

    transport, namespace = connect(kubeconfig, context, page=PAGE)
    with asyncio.Runner() as runner:
        try:
            yield Session(transport, namespace, runner)
        finally:
            runner.run(transport.close())


def snapshot_of_files(files: tuple[str, ...], kubeconfig: Path | None, context: str | None) -> Snapshot:
    from mooring.cli.sources.snapshot_source import load_snapshot

    if kubeconfig is not None or context is not None:
        raise InputError("--snapshot takes the place of a cluster: give it, or --kubeconfig and --context")
    return load_snapshot(files)


async def _snapshot(transport: HttpTransport) -> Snapshot:
    from mooring.placement.snapshot import VIEWS, Snapshot
    from mooring.runway.sources.live_source import DEVICES, read_kinds

    snapshot = Snapshot()
    gaps = await read_kinds(transport, VIEWS, lambda kind, view: snapshot.add(view), DEVICES)
    snapshot.unread_kinds &= {gap.kind for gap in gaps}
    return snapshot
