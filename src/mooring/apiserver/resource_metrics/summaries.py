"""What kubelets measure: their summaries, each asked for at most once in a few seconds, and only when somebody asks."""

import asyncio
import logging
import time
from collections.abc import Iterable
from typing import Final

import msgspec

from mooring.apiserver.nodes.kubelets import DIAL_SECONDS, Kubelets, kubelet_failure
from mooring.kube.errors import MooringError
from mooring.net.client_connection import ConnectionCut, request_bytes
from mooring.net.destination import Destination

__all__ = ["ContainerStats", "PodStats", "Stats", "Summaries", "Summary", "UsageReading"]

_PATH: Final = "/stats/summary?only_cpu_and_memory=true"
_SENT: Final = {"User-Agent": "mooring-apiserver", "Connection": "close", "Accept": "application/json"}
_ANSWER_SECONDS: Final = 10.0
_MAX_BYTES: Final = 32 * 1024 * 1024
# A kubelet measures every ten seconds or so; people and autoscalers ask at the same time.
_FRESH_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


class UsageReading(msgspec.Struct, rename="camel"):
    time: str = ""
    usage_nano_cores: int | None = None
    working_set_bytes: int | None = None


class Stats(msgspec.Struct, rename="camel"):
    """What a node uses, or one container."""

    cpu: UsageReading | None = None
    memory: UsageReading | None = None


class ContainerStats(Stats, rename="camel"):
    name: str = ""


class PodReference(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""


class PodStats(msgspec.Struct, rename="camel"):
    pod_ref: PodReference = msgspec.field(default_factory=PodReference)
    containers: list[ContainerStats] | None = None


class Summary(msgspec.Struct, rename="camel"):
    node: Stats = msgspec.field(default_factory=Stats)
    pods: list[PodStats] | None = None


_decode: Final = msgspec.json.Decoder(Summary).decode


class Summaries:
    def __init__(self, kubelets: Kubelets) -> None:
        self._kubelets = kubelets
        # By node: when it was asked, and the answer, None where there was none.
        self._asked: dict[str, tuple[float, asyncio.Task[Summary | None]]] = {}

    async def of(self, nodes: Iterable[str]) -> dict[str, Summary]:
        """The summaries of these nodes, without those that do not answer."""
        now = time.monotonic()
        self._asked = {name: each for name, each in self._asked.items() if each[0] > now - _FRESH_SECONDS}
        wanted = list(nodes)
        for name in wanted:
            if name not in self._asked:
                self._asked[name] = now, asyncio.create_task(self._summary(name))
        tasks = [self._asked[name][1] for name in wanted]
        # Somebody else may wait for the same answer, so one who leaves does not end it.
        answers = await asyncio.gather(*map(asyncio.shield, tasks))
        return {name: answer for name, answer in zip(wanted, answers, strict=True) if answer is not None}

    def stop(self) -> None:
        for _, task in self._asked.values():
            task.cancel()

    async def _summary(self, name: str) -> Summary | None:
        try:
            return await self._ask(self._kubelets.of(name, f"node {name} is simulated"))
        except (MooringError, TimeoutError) as error:
            _log.info("node %s tells no usage: %s", name, str(error) or f"no answer in {_ANSWER_SECONDS:.0f} s")
            return None

    async def _ask(self, kubelet: Destination) -> Summary:
        headers = {"Host": kubelet.authority, **self._kubelets.credentials(kubelet), **_SENT}
        try:
            connection = await kubelet.dial(seconds=DIAL_SECONDS, most_bytes=_MAX_BYTES)
        except (OSError, ConnectionCut) as error:
            raise MooringError(kubelet_failure(error, kubelet)) from None
        try:
            answer = await connection.ask(request_bytes("GET", _PATH, headers), _ANSWER_SECONDS)
        except ConnectionCut as error:
            raise MooringError(f"its kubelet stopped in the middle of its answer: {error}") from None
        finally:
            connection.close()
        if answer.status != 200:
            raise MooringError(f"its kubelet answered {answer.status}")
        try:
            return _decode(answer.body)
        except msgspec.DecodeError as error:
            raise MooringError(f"its kubelet answered what is no summary: {error}") from None
