"""The filters of the default profile over all nodes at once, each rejection kept as a bit.

Plugins that look at nodes one by one (`node_checks.py`) stand where the scheduler asks them. `feasible` asks them only
about nodes that no filter before them rejects.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mooring.placement.labels import Mask
from mooring.placement.plugins.interpod import InterPodFilter
from mooring.placement.plugins.node_checks import NodeCheck
from mooring.placement.plugins.node_matching import NodeMatching
from mooring.placement.plugins.spread import SpreadFilter
from mooring.placement.pods import CompiledTemplate, HostPort, PodInfo
from mooring.placement.prefilters import node_checks
from mooring.placement.scheduler_cache import Amounts, SchedulerCache
from mooring.placement.verdicts import ERROR, UNRESOLVABLE, UNSCHEDULABLE, Reason, Rejection, Verdicts, failed

FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "PodTopologySpread",
    "InterPodAffinity",
)


class Need(NamedTuple):
    """One resource the pod asks for: how much, and the columns that say what nodes have and use of it."""

    name: str
    amount: int
    allocatable: Amounts
    used: Amounts


OUTSIDE = Reason("", UNRESOLVABLE, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
CORDONED = Reason("NodeUnschedulable", UNRESOLVABLE, "node(s) were unschedulable")
OTHER_NAME = Reason("NodeName", UNRESOLVABLE, "node(s) didn't match the requested node name")
TAINTED = Reason("TaintToleration", UNRESOLVABLE, "node(s) had untolerated taint(s)")
UNSELECTED = Reason("NodeAffinity", UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector")
PORT_TAKEN = Reason("NodePorts", UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports")
TOO_MANY_PODS = Reason("NodeResourcesFit", UNSCHEDULABLE, "Too many pods", "pods")
NO_TOPOLOGY = Reason(
    "PodTopologySpread", UNRESOLVABLE, "node(s) didn't match pod topology spread constraints (missing required label)"
)
CROWDED = Reason("PodTopologySpread", UNSCHEDULABLE, "node(s) didn't match pod topology spread constraints")
ALONE = Reason("InterPodAffinity", UNRESOLVABLE, "node(s) didn't match pod affinity rules")
REPELLED = Reason("InterPodAffinity", UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules")
UNWELCOME = Reason("InterPodAffinity", UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules")


def insufficient(name: str, unresolvable: bool) -> Reason:
    return Reason("NodeResourcesFit", UNRESOLVABLE if unresolvable else UNSCHEDULABLE, f"Insufficient {name}", name)


class Filters:
    """One incoming pod against every node, with the facts that the filters share computed once."""

    def __init__(self, matching: NodeMatching, pod: PodInfo) -> None:
        self.matching = matching
        self.cluster = matching.cluster
        self.pod = pod
        self.narrowed = pod.template.node_terms.named if pod.template.node_terms else None
        self.spread = SpreadFilter(matching, pod) if pod.template.spread_hard else None
        self.interpod = InterPodFilter.of(matching, pod)
        self.checks = node_checks(self.cluster, pod)
        # What ended the attempt on a node that `feasible` came to.
        self.errors: dict[int, str] = {}

    @property
    def rejection(self) -> Rejection | None:
        """Why the pod is turned away before any node is looked at."""
        return self.checks.rejection

    def needs(self) -> list[Need]:
        return needs(self.cluster, self.pod.template)

    def feasible(self) -> Mask:
        """Nodes that no filter rejects; quicker than `verdicts` because it keeps no reasons."""
        cluster = self.cluster
        mask = self.matching.admitted(self.pod.template, self.pod.node_name) & (cluster.pod_count < cluster.alloc_pods)
        for need in self.needs():
            mask &= need.allocatable - need.used >= need.amount
        if self.pod.template.ports:
            mask &= ~taken_ports(cluster, self.pod.template.ports)
        if self.narrowed is not None:
            mask &= self.inside()
        self._check(self.checks.volumes, mask)
        if self.spread is not None:
            missing, crowded = self.spread.verdicts()
            mask &= ~(missing | crowded)
        if self.interpod is not None:
            for rejected in self.interpod.verdicts():
                mask &= ~rejected
        self._check(self.checks.all[len(self.checks.volumes) :], mask)
        return mask

    def _check(self, checks: tuple[NodeCheck, ...], mask: Mask) -> None:
        """Leave out the nodes of a mask that one of the checks rejects; an error is kept."""
        for check in checks:
            self.errors.update({slot: failed(error) for slot, error in check.narrow(mask).items()})

    def inside(self) -> Mask:
        """Nodes that the pod's affinity names, where it names nodes."""
        mask = np.zeros(self.cluster.size, dtype=np.bool_)
        for name in self.narrowed or ():
            mask |= self.matching.named(name)
        return mask

    def verdicts(self) -> Verdicts:
        cluster, matching, template = self.cluster, self.matching, self.pod.template
        verdicts = Verdicts(cluster.size)
        if self.narrowed is not None:
            verdicts.reject(OUTSIDE, ~self.inside())
        verdicts.reject(CORDONED, matching.cordoned(template.tolerations))
        if self.pod.node_name:
            verdicts.reject(OTHER_NAME, ~matching.named(self.pod.node_name))
        verdicts.reject(TAINTED, matching.tainted(template.tolerations))
        if template.node_terms is not None:
            verdicts.reject(UNSELECTED, ~matching.selected(template.node_terms))
        if template.ports:
            verdicts.reject(PORT_TAKEN, taken_ports(cluster, template.ports))
        verdicts.reject(TOO_MANY_PODS, cluster.pod_count >= cluster.alloc_pods)
        for need in self.needs():
            short = need.amount > need.allocatable - need.used
            never = need.amount > need.allocatable
            verdicts.reject(insufficient(need.name, False), short & ~never)
            verdicts.reject(insufficient(need.name, True), short & never)
        self._judge(self.checks.volumes, verdicts)
        if self.spread is not None:
            missing, crowded = self.spread.verdicts()
            verdicts.reject(NO_TOPOLOGY, missing)
            verdicts.reject(CROWDED, crowded)
        if self.interpod is not None:
            for reason, mask in zip((ALONE, REPELLED, UNWELCOME), self.interpod.verdicts(), strict=True):
                verdicts.reject(reason, mask)
        self._judge(self.checks.all[len(self.checks.volumes) :], verdicts)
        return verdicts

    def _judge(self, checks: tuple[NodeCheck, ...], verdicts: Verdicts) -> None:
        slots = self.cluster.order.tolist() if checks else ()
        for check in checks:
            start = verdicts.add(check.reasons)
            for slot in slots:
                for reason in check.at(slot):
                    if reason.code == ERROR:
                        verdicts.fail(slot, reason)
                    else:
                        verdicts.bits[slot] |= 1 << (start + check.reasons.index(reason))


def needs(cluster: SchedulerCache, template: CompiledTemplate) -> list[Need]:
    """What the pod asks for, zero requests left out: they are never checked."""
    requests = template.resources.fit
    found = []
    if requests.cpu:
        found.append(Need("cpu", requests.cpu, cluster.alloc_cpu, cluster.used_cpu))
    if requests.memory:
        found.append(Need("memory", requests.memory, cluster.alloc_memory, cluster.used_memory))
    if requests.ephemeral:
        found.append(Need("ephemeral-storage", requests.ephemeral, cluster.alloc_ephemeral, cluster.used_ephemeral))
    found.extend(Need(name, amount, *cluster.scalar(name)) for name, amount in requests.scalars if amount)
    return found


def has_room(cluster: SchedulerCache, template: CompiledTemplate, needs: list[Need], slot: int) -> bool:
    """Whether one node has a place, the resources and the ports for a pod."""
    if cluster.pod_count.item(slot) >= cluster.alloc_pods.item(slot):
        return False
    for need in needs:
        if need.allocatable.item(slot) - need.used.item(slot) < need.amount:
            return False
    for wanted in template.ports:
        taken = cluster.ports.get((wanted.protocol, wanted.port), {}).get(slot, {})
        if any(port_conflict(wanted, ip) for ip in taken):
            return False
    return True


def port_conflict(wanted: HostPort, taken_ip: str) -> bool:
    """Whether a port is taken for `wanted` by the same port on an address; 0.0.0.0 stands for all of them."""
    return wanted.ip == taken_ip or "0.0.0.0" in (wanted.ip, taken_ip)


def taken_ports(cluster: SchedulerCache, ports: tuple[HostPort, ...]) -> Mask:
    mask = np.zeros(cluster.size, dtype=np.bool_)
    for wanted in ports:
        for slot, ips in cluster.ports.get((wanted.protocol, wanted.port), {}).items():
            mask[slot] |= any(port_conflict(wanted, ip) for ip in ips)
    return mask
