"""Sends the same random objects to both servers and shows where their answers differ; what is learnt becomes a case.

python -m tests.conformance.compare SECONDS [SEED]

Nothing is stored. Of what succeeds only the code is compared: names and addresses are handed out by chance.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mooring.testing.homes import HOMES, api_only
from tests.conformance.playing import Player
from tests.conformance.users import Clients
from tests.registry.fuzz import Fuzz


def objects(seed: int) -> Iterator[tuple[str, str]]:
    """Paths and bodies, without end."""
    fuzz = Fuzz(seed)
    while True:
        resource, body = fuzz.new_object()
        base = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.api_version}"
        where = f"{base}/namespaces/$NS" if resource.namespaced else base
        # As short as a Go program writes it: refusals show the beginning.
        yield f"{where}/{resource.plural}", json.dumps(body, separators=(",", ":"))


def compare(players: list[Player], path: str, body: str) -> str:
    """What differs; empty where nothing does."""
    step = {"do": f"POST {path}?dryRun=All&fieldValidation=Ignore", "body": body}
    answers: list[Any] = [player.answer(step) for player in players]
    told = [answer["code"] if answer["code"] < 300 else answer for answer in answers]
    return "" if told[0] == told[1] else "\n".join(f"  {name}: {each}" for name, each in zip(HOMES, told, strict=True))


def main() -> None:
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        homes = [stack.enter_context(api_only(name, folder / name)) for name in HOMES]
        players = [Player(stack.enter_context(Clients(home))) for home in homes]
        end, sent, differ = time.monotonic() + seconds, 0, 0
        for path, body in objects(seed):
            if time.monotonic() > end:
                break
            sent += 1
            difference = compare(players, path, body)
            if difference:
                differ += 1
                print(f"{path} {body}\n{difference}\n")
    print(f"{sent} objects, {differ} answers differ")


if __name__ == "__main__":
    main()
