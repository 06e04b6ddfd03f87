"""The autoscaler as a feature: what the product must know of it, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.autoscaler.flags import FLAGS
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.placement.node_pools import NodePoolKinds
    from mooring.runtime.controller import Controller
    from mooring.runtime.pool_report import PoolReport


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.autoscaler import controller
    from mooring.features.autoscaler.replica_pools import controller as replica_pools

    return (controller.CONTROLLER, replica_pools.CONTROLLER)


def _plan_controllers() -> tuple[Controller, ...]:
    from mooring.features.autoscaler.controller import GROWING
    from mooring.features.autoscaler.replica_pools.controller import CONTROLLER

    return (GROWING, CONTROLLER)


def _pool_report() -> PoolReport:
    from mooring.features.autoscaler.pool_report import REPORT

    return REPORT


def _node_pools() -> tuple[NodePoolKinds, ...]:
    from mooring.features.autoscaler.node_pools import MACHINE_DEPLOYMENTS

    return (MACHINE_DEPLOYMENTS,)


AUTOSCALER: Final = Feature(
    "autoscaler",
    controllers=Parts(("cluster-autoscaler", "replica-pools"), _controllers),
    node_pools=Parts(("MachineDeployment",), _node_pools),
    pool_report=_pool_report,
    settings=FLAGS,
    # A plan shows what comes of a workload: what stands idle beside it does not matter to it.
    joins=frozenset({"machines"}),
    plan_controllers=_plan_controllers,
    # A cluster may have the other one, and two of them would undo each other's work.
    on_request=frozenset({"cluster-autoscaler", "replica-pools"}),
    # The one that upstream's takes too.
    leases={"cluster-autoscaler": ("kube-system", "cluster-autoscaler")},
)
