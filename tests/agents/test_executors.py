"""Who carries out the effects of controllers: only those that some controller needs, with what they need themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from mooring.agents.executors import executors_for
from mooring.client.access import Access
from mooring.features.installation.controller import CONTROLLER as INSTALLATIONS
from mooring.features.workspaces.controller import CONTROLLER as WORKSPACES
from mooring.kube.errors import MooringError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from tests.runtime.living import transport_in
from tests.runtime.sample import COPIER

ACCESS = Access("https://10.0.0.1")


def found(controllers: Sequence[Controller], access: Access | None = ACCESS) -> list[str]:
    async def names() -> list[str]:
        transport: Any = transport_in(Registry())
        async with executors_for(controllers, transport, access=access) as made:
            return sorted(made)

    return asyncio.run(names())


@pytest.mark.parametrize(
    ("controllers", "names"),
    [
        ([COPIER], []),
        ([WORKSPACES], ["pod-log"]),
        ([INSTALLATIONS], ["helm"]),
        ([COPIER, WORKSPACES, INSTALLATIONS], ["helm", "pod-log"]),
    ],
)
def test_only_those_that_are_needed_are_there(controllers: list[Controller], names: list[str]) -> None:
    assert found(controllers) == names


def test_helm_without_access_to_the_api_is_refused_before_anything_starts() -> None:
    with pytest.raises(MooringError, match="needs access to the API server for Helm, and there is none here"):
        found([INSTALLATIONS], access=None)
