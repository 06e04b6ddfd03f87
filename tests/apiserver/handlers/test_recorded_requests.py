"""Requests of every form, one after another on one server: what each is answered with, headers and all.

Where a real server was asked the same (`tests/conformance`), its words count; these hold what they leave open, too.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator, Sequence

from mooring.apiserver.authentication.users import User
from tests.apiserver.alone import Alone, play
from tests.apiserver.handlers import objects, others
from tests.apiserver.handlers.asked import Asked, get
from tests.support.golden import same_as_recorded


def everything() -> Iterator[Asked]:
    yield from objects.paths()
    yield from objects.creations()
    yield from objects.reads()
    yield from objects.updates()
    yield from others.subresources()
    yield from others.accounts()
    yield from others.reviews()
    yield from others.custom()
    yield from others.rights()
    yield from objects.deletions()
    yield get("/metrics")


# What differs from one run to the next, from one machine to another, or from release to release.
MOVES: Sequence[tuple[str, str]] = (
    (r'"token":"[^"]+"', '"token":"..."'),
    (r'"(x|y|kid)":"[^"]*"', r'"\1":"..."'),
    (r"([?&]hash=|etag: \")[0-9A-F]+", r"\1..."),
    (f"{sys.platform}/[a-z0-9]+", "PLATFORM"),
    (f'"compiler":"{platform.python_implementation().lower()}"', '"compiler":"..."'),
    (r"made-[a-z0-9]{5}", "made-....."),
)


UNSTEADY = re.compile(r"_seconds_(bucket|sum)|^mooring_storage_commits_total")


def test_requests_are_answered_as_they_were() -> None:
    async def all_of_them(server: Alone) -> dict[str, str]:
        everybody = ("system:authenticated",)
        server.users |= {"ann": User("ann", everybody, uid="u-ann", extra=(("k", ("v",)),))}
        server.users |= {"node": User("system:node:n", ("system:nodes", *everybody))}
        await server.make("/api/v1/nodes", {"metadata": {"name": "n"}})
        found: dict[str, str] = {}
        for number, each in enumerate(everything()):
            body = await each.ask(server)
            told = server.notes.taken()
            if each.path == "/metrics":
                told = "\n".join(line for line in body.decode().split("\n") if not UNSTEADY.search(line))
            for pattern, instead in MOVES:
                told = re.sub(pattern, instead, told)
            if "hash=..." in told or "content-encoding: gzip" in told or "openapi" in each.path:
                told = re.sub(r"content-length: \d+|\d+ bytes, [0-9a-f]{8}", "...", told)
            found[f"{number} {each.name}"] = told
        return found

    same_as_recorded("server-requests", play(all_of_them))
