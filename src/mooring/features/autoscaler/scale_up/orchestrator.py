"""The decision to grow: which node groups could help, which of them is best, and by how many nodes it grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.features.autoscaler.observation import Look
from mooring.features.autoscaler.scale_up.balancing import balance
from mooring.features.autoscaler.scale_up.decision import ScaleUpDecision
from mooring.features.autoscaler.scale_up.estimator import estimate
from mooring.features.autoscaler.scale_up.expanders.chain import best_options
from mooring.features.autoscaler.scale_up.expanders.option import ScaleUpOption
from mooring.features.autoscaler.scale_up.host_room import HostRoom
from mooring.features.autoscaler.scale_up.pending_pods import all_are_new, old_enough, pods_without_room
from mooring.features.autoscaler.scale_up.pod_groups import PodGroup, pod_groups
from mooring.features.autoscaler.scale_up.quotas import ClusterQuota
from mooring.features.autoscaler.scale_up.similar_groups import are_similar
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.kube.errors import MooringError

__all__ = ["scale_up"]


def scale_up(look: Look, pending: Iterable[AutoscalerPod]) -> ScaleUpDecision:
    """What to do for pods that wait. Those that find room stay in the snapshot of the look."""
    settings = look.settings
    if not look.state.healthy:
        return ScaleUpDecision("NotTried")
    waiting = pods_without_room(pending, look.snapshot, settings)
    pods = old_enough(waiting, look.now)
    if not pods:
        return ScaleUpDecision("NotNeeded", waiting)
    groups = pod_groups(pods)
    if 0 < settings.max_nodes_total <= look.ready_count:
        return ScaleUpDecision("LimitedByMaxNodesTotal", waiting, groups)
    if all_are_new(pods, look.now, settings):
        return ScaleUpDecision("InCooldown", waiting, groups)
    try:
        decision = _Orchestration(look, groups).decide()
    except MooringError as error:
        return ScaleUpDecision("Error", waiting, groups, error=error.message)
    return msgspec.structs.replace(decision, waiting=waiting)


class _Orchestration:
    def __init__(self, look: Look, groups: Sequence[PodGroup]) -> None:
        self._look = look
        self._groups = groups
        self._settings = look.settings
        self._nodes = look.snapshot.nodes
        self._room = HostRoom(look.objects.groups)
        self._require_templates()
        self._quota = ClusterQuota(self._nodes, groups_by_node(look.objects.groups), look.settings)

    def decide(self) -> ScaleUpDecision:
        skipped: dict[str, str] = {}
        valid = []
        for group in self._look.objects.groups:
            reason = self._reason_to_skip(group)
            if reason:
                skipped[group.name] = reason
            else:
                valid.append(group)
        for group in valid:
            self._try_examples(group)
        options = [option for group in valid if (option := self._option(group, valid)) is not None]
        decision = ScaleUpDecision("NoOptionsAvailable", groups=self._groups, options=options, skipped=skipped)
        if not options:
            return decision
        best = best_options(options, self._settings)
        # Upstream takes any of the best; the first of them is one that people can foresee.
        option = best[0]
        count = self._capped(option.nodes)
        count = self._quota.check(option.group, option.template.node, count).allowed
        plan = balance((option.group, *option.similar), count, self._room.copy().take)
        return msgspec.structs.replace(decision, result="Successful", best=best, plan=plan)

    def _require_templates(self) -> None:
        """Nobody can tell what is on its way to a group that has no template: upstream does nothing at all then."""
        if self._settings.skip_malformed_pools:
            return
        for group in self._look.objects.groups:
            if self._look.state.upcoming(group.name) and group.name not in self._look.templates:
                raise MooringError(
                    f"could not get upcoming nodes: failed to find template node for node group {group.name}"
                )

    def _reason_to_skip(self, group: NodeGroup) -> str:
        look, state, most = self._look, self._look.state, self._settings.max_nodes_total
        if not state.group_healthy(group.name):
            return "not ready for scale-up"
        if state.backoff(group.name) is not None:
            return "in backoff after failed scale-up"
        if group.target >= group.max:
            return "max node group size reached"
        count = group.max - group.target if group.options.zero_or_max else 1
        if self._room.copy().take_up_to(group.name, count) < count:
            return "no free host for another node" if count == 1 else f"no free hosts for {count} more nodes"
        if group.options.zero_or_max and most and len(self._nodes) + count > most:
            return "atomic scale-up exceeds cluster node count limit"
        template = look.templates.get(group.name)
        if template is None:
            return "not ready for scale-up"
        check = self._quota.check(group, template.node, count)
        return check.reason if check.exceeded else ""

    def _try_examples(self, group: NodeGroup) -> None:
        """Whether a new node of the group would take the first pod of each group of pods."""
        snapshot = self._look.snapshot
        with snapshot.fork():
            slot = snapshot.add(self._look.templates[group.name])
            for pods in self._groups:
                info = pods.example.info
                reasons = None if snapshot.fits(info, slot) else snapshot.rejections(info, slot)
                if reasons is None:
                    pods.fits.add(group.name)
                else:
                    pods.rejected[group.name] = tuple(reason.text for reason in reasons)

    def _option(self, group: NodeGroup, valid: Sequence[NodeGroup]) -> ScaleUpOption | None:
        """None where the group can do nothing for any pod."""
        fitting = [pods for pods in self._groups if group.name in pods.fits]
        if not fitting:
            return None
        template = self._look.templates[group.name]
        similar = self._similar(group, fitting, valid)
        most_nodes = self._most_nodes((group, *similar))
        found = estimate(fitting, template, self._look.snapshot, most_nodes)
        if not found.pods or not found.nodes:
            return None
        nodes = group.max if group.options.zero_or_max else found.nodes
        return ScaleUpOption(group, template, nodes, found.pods, similar)

    def _similar(
        self, group: NodeGroup, fitting: Sequence[PodGroup], valid: Sequence[NodeGroup]
    ) -> tuple[NodeGroup, ...]:
        """Groups that make the same nodes and take the same pods."""
        if not self._settings.balance_similar_node_groups or group.options.zero_or_max:
            return ()
        templates, ignored = self._look.templates, self._settings.balancing_ignored_labels
        return tuple(
            other
            for other in valid
            if other.name != group.name
            and all(other.name in pods.fits for pods in fitting)
            and are_similar(templates[group.name], templates[other.name], ignored)
        )

    def _most_nodes(self, groups: Iterable[NodeGroup]) -> int:
        """How many nodes an estimate may add."""
        settings = self._settings
        room = self._room.copy()
        limits = [sum(room.take_up_to(group.name, group.max - group.target) for group in groups)]
        if settings.max_nodes_per_scale_up:
            limits.append(settings.max_nodes_per_scale_up)
        if settings.max_nodes_total:
            limits.append(max(0, settings.max_nodes_total - len(self._nodes)))
        return min(limits)

    def _capped(self, nodes: int) -> int:
        most = self._settings.max_nodes_total
        if 0 < most < nodes + len(self._nodes):
            nodes = most - len(self._nodes)
            if nodes < 1:
                raise MooringError("max node total count already reached")
        return nodes
