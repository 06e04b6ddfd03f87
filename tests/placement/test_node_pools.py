"""Pods that no node suits, and the pools that would bring nodes for them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Pod, Taint
from mooring.placement.node_pools import NodePool, pool_notes
from mooring.testing.builders import pod, toleration

GPU = Taint("nvidia.com/gpu", "present", "NoSchedule")
POOL = NodePool("MachineDeployment default/gpu-pool", {"purpose": "gpu"}, (), "0 of 1 Machines are ready")


def in_zone(value: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "purpose", "operator": "In", "values": [value]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("spec", "pool", "told"),
    [
        pytest.param({"nodeSelector": {"purpose": "gpu"}}, POOL, True, id="a selector that the labels match"),
        pytest.param({"nodeSelector": {"purpose": "worker"}}, POOL, False, id="a selector that they do not match"),
        pytest.param({"affinity": in_zone("gpu")}, POOL, True, id="an affinity that they match"),
        pytest.param({"affinity": in_zone("cpu")}, POOL, False, id="an affinity that they do not match"),
        pytest.param({}, POOL._replace(taints=(GPU,)), False, id="a taint that is not tolerated"),
        pytest.param(
            {"tolerations": [toleration("nvidia.com/gpu:NoSchedule")]},
            POOL._replace(taints=(GPU,)),
            True,
            id="a taint that is tolerated",
        ),
        pytest.param({}, POOL._replace(waiting=""), False, id="a pool that has all of its nodes"),
    ],
)
def test_a_pod_is_told_of_pools_that_would_bring_nodes_for_it(spec: dict[str, Any], pool: NodePool, told: bool) -> None:
    obj = pod("p")
    obj["spec"] |= spec
    notes = pool_notes(msgspec.convert(obj, Pod), [pool])
    wanted = "MachineDeployment default/gpu-pool brings nodes that p suits, and waits: 0 of 1 Machines are ready"
    assert notes == ([wanted] if told else [])
