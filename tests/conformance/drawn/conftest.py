"""One embedded server for all tests of drawn requests: none of them leaves a trace in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.drawn.comparing import compared, identity, known
from tests.conformance.drawn.recordings import read
from tests.conformance.drawn.servers import EmbeddedServer, embedded
from tests.conformance.drawn.stage import set_up

Check = Callable[[str, str], None]


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[EmbeddedServer, dict[str, Any]]]:
    with embedded() as server:
        yield server, set_up(server)


@pytest.fixture(scope="session")
def check(stage: tuple[EmbeddedServer, dict[str, Any]]) -> Check:
    """All requests of a file that are about one object get the recorded answer, except those that are known not to."""

    def checked(file: str, name: str) -> None:
        wrong, right = [], []
        for each, lines in compared(*stage, [each for each in read(file) if each.request.of == name]):
            is_known = identity(each) in known()
            if lines and not is_known:
                wrong.append("\n  ".join((f"{identity(each)}: {each.request.about}", *lines)))
            elif is_known and not lines:
                right.append(f"{identity(each)} is answered as recorded: take it out of known.yaml")
        assert not wrong + right, "\n".join([f"{len(wrong)} answers differ", *right, *wrong[:20]])

    return checked
