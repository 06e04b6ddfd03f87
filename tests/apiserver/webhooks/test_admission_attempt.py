"""A write that needs an answer is attempted until it has all of them, and is the same write each time."""

from __future__ import annotations

import asyncio

import pytest

from mooring.apiserver.webhooks.admission_attempt import SameNames
from mooring.apiserver.webhooks.pending import Pending, settled
from mooring.kube.status import InternalError
from mooring.registry.objects import Identity


def test_an_attempt_is_repeated_until_its_questions_are_answered() -> None:
    known: list[int] = []

    def attempt() -> int:
        if len(known) < 3:

            async def settle(_: bool) -> None:
                known.append(1)

            raise Pending(settle)
        return len(known)

    assert asyncio.run(settled(attempt)) == 3


def test_an_attempt_that_never_ends_is_given_up() -> None:
    async def settle(_: bool) -> None:
        return

    def attempt() -> int:
        raise Pending(settle)

    with pytest.raises(InternalError, match="kept changing"):
        asyncio.run(settled(attempt))


def test_every_attempt_gets_the_names_of_the_first() -> None:
    names = SameNames(Identity(1))
    first = (names.uid(), names.name("a-"))
    names.start_over()
    assert (names.uid(), names.name("a-")) == first
    assert names.generated == first[1]
    assert names.name("a-") != first[1]
