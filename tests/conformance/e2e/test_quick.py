"""A part of Kubernetes' conformance tests, of every area, passes on `mooring up`; `make conformance` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED
from mooring.testing.tools import ToolMissing
from tests.conformance.e2e import lists
from tests.conformance.e2e.batches import PASSED
from tests.conformance.e2e.cluster import running

AT_ONCE = 4


@pytest.mark.slow
def test_kubernetes_own_tests_pass_on_the_embedded_cluster(tmp_path: Path) -> None:
    names = lists.quick()
    # A process takes a second or more to begin, so each gets as many tests as it can.
    size = -(-len(names) // AT_ONCE)
    try:
        with running(EMBEDDED, tmp_path, seconds=120) as runner:
            outcomes = runner.run(names, at_once=AT_ONCE, size=size)
    except ToolMissing as error:
        missing(error)
    failed = [f"{each.name} {each.state}:\n{each.message}" for each in outcomes if each.state != PASSED]
    assert not failed, "\n\n".join(failed)
    assert len(outcomes) == len(names)
