"""The Node object: created, kept ready, and never taken from a simulated node."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.nodes.process.registration import RegistrationRefused
from mooring.testing.conditions import has_condition
from tests.nodes.process.home import LINUX, NODE, Home

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


def test_a_simulated_node_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        node = {"metadata": {"name": NODE, "annotations": {"kwok.x-k8s.io/node": "fake"}}}
        at.registry.create(at.registry.resource("v1", "Node"), node, now=datetime.now(UTC))
        with pytest.raises(RegistrationRefused, match="node here is a simulated one"):
            await at.registration.ensure()

    asyncio.run(main())


def test_a_node_that_was_taken_for_dead_says_that_it_lives(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        resource = at.registry.resource("v1", "Node")
        first = await at.registration.ensure()
        assert (await at.registration.ensure())["metadata"] == first["metadata"]
        lost = [{"type": "Ready", "status": "Unknown"}]
        body = {"status": {"conditions": lost}}
        at.registry.patch(resource, "", NODE, "merge", body, now=datetime.now(UTC), subresource="status")
        again = await at.registration.ensure()
        assert has_condition(again, "Ready")
        at.registry.delete(resource, "", NODE, now=datetime.now(UTC))
        assert (await at.registration.ensure())["metadata"]["uid"] != first["metadata"]["uid"]
        lease = at.registry.get(at.registry.resource("coordination.k8s.io/v1", "Lease"), "kube-node-lease", NODE)
        assert lease["spec"]["holderIdentity"] == NODE

    asyncio.run(main())
