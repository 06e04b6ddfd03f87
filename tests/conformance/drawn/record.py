"""Writes recorded/*.jsonl.xz anew from a real API server: python -m tests.conformance.drawn.record [SEED]

Far more is asked than is kept; `exploring` says what.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from mooring.testing.controlplane import ControlPlane
from tests.conformance.drawn.exploring import Explorer
from tests.conformance.drawn.extras import extras
from tests.conformance.drawn.recordings import Recorded, write
from tests.conformance.drawn.servers import ADMINISTRATOR, USERS, RealServer
from tests.conformance.drawn.stage import files, set_up

SEED = 7
# Requests that are kept; of those that only show that a wrong type is one, and of plain successes, a part.
MOST = 20_000
_PARTS = {400: 0.06, 200: 0.4, 201: 0.5}
_THREADS = 2
# As the embedded server has it.
_FLAGS = ("--service-cluster-ip-range=10.96.0.0/12",)


def explored(servers: list[RealServer], seed: int) -> dict[str, list[Recorded]]:
    """All that is worth keeping, by the name of the object."""
    live = set_up(servers[0])
    free: SimpleQueue[RealServer] = SimpleQueue()
    for server in servers:
        free.put(server)

    def explore(name: str) -> list[Recorded]:
        server = free.get()
        try:
            explorer = Explorer(server, live, seed, name)
            found = list(explorer.explore())
            return [*found, *explorer.ask_all(extras(name, random.Random(f"{seed} {name}")))]
        finally:
            free.put(server)

    with ThreadPoolExecutor(len(servers)) as pool:
        return dict(zip(live, pool.map(explore, live), strict=True))


def chosen(found: dict[str, list[Recorded]], seed: int) -> Iterator[tuple[str, list[Recorded]]]:
    """As many as may be kept; of every object the same part, and what others are told by always."""
    draw = random.Random(seed)
    kept = {
        name: [each for each in recorded if _is_needed(each) or draw.random() < _part(each)]
        for name, recorded in found.items()
    }
    share = min(1.0, MOST / sum(map(len, kept.values())))
    for name, recorded in kept.items():
        yield name, [each for each in recorded if _is_needed(each) or draw.random() < share]


def _is_needed(each: Recorded) -> bool:
    return "object" in each.answer


def _part(each: Recorded) -> float:
    answer = each.answer
    if not answer["code"]:
        return 0.0
    if answer["code"] < 300 and (len(answer.get("differs", ())) > 1 or answer.get("warnings")):
        return 1.0
    return _PARTS.get(answer["code"], 1.0)


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else SEED
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder), users=USERS, flags=_FLAGS) as plane:
        tokens = {ADMINISTRATOR: plane.token, **plane.tokens}
        kept = dict(chosen(explored([RealServer(plane.url, plane.ca, tokens) for _ in range(_THREADS)], seed), seed))
    for file, names in files().items():
        write(file, [each for name in names for each in kept[name]])


if __name__ == "__main__":
    main()
