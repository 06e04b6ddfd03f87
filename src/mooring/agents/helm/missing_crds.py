"""Makes the custom resource definitions of a chart that the cluster lacks, and leaves all others as they are.

Helm itself makes them at the first installation only, and fails where another product has brought some of them.
"""

from __future__ import annotations

import asyncio
from typing import Final

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.conditions import conditions_of, find_condition
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, NotFoundError
from mooring.manifests.loader import load_all

__all__ = ["make_missing_crds"]

_API_VERSION: Final = "apiextensions.k8s.io/v1"
_KIND: Final = "CustomResourceDefinition"
_ESTABLISHED_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.2


async def make_missing_crds(transport: AsyncTransport, text: str) -> list[str]:
    """`text` is what `helm show crds` printed. A line for each definition says what became of it."""
    lines = []
    for wanted in definitions_in(text):
        name = wanted["metadata"]["name"]
        try:
            await transport.get(_API_VERSION, _KIND, "", name)
            lines.append(f"{name} is there and left as it is")
            continue
        except NotFoundError:
            pass
        try:
            await transport.write(Request("create", _API_VERSION, _KIND, "", name, wanted, manager="mooring-helm"))
            lines.append(f"{name} created")
        except AlreadyExistsError:
            lines.append(f"{name} is there and left as it is")
        await _established(transport, name)
    return lines or ["the chart has no custom resource definitions"]


def definitions_in(text: str) -> list[Object]:
    found = [each for each, _ in load_all(text) if isinstance(each, dict) and each.get("kind") == _KIND]
    return list({each["metadata"]["name"]: each for each in found}.values())


async def _established(transport: AsyncTransport, name: str) -> None:
    """Wait until its objects can be written: what comes next may do that."""
    try:
        async with asyncio.timeout(_ESTABLISHED_SECONDS):
            while True:
                found = await transport.get(_API_VERSION, _KIND, "", name)
                condition = find_condition(conditions_of(found), "Established")
                if condition is not None and condition["status"] == "True":
                    return
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise MooringError(
            f"CustomResourceDefinition {name} is not served after {_ESTABLISHED_SECONDS:.0f} s"
        ) from None
