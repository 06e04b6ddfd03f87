"""Updates of a DaemonSet: which outdated pods go next, and which nodes get a second pod first.

Without surge, outdated pods are deleted while no more than `maxUnavailable` nodes are without an available pod. With
surge, a new pod comes first and the old one goes when the new one is available. A pod that is on its way out counts
as gone, so that a node that does not answer does not stop an update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mooring.api.apps.daemonsets import DaemonSet
from mooring.api.core.views import Pod
from mooring.api.kinds import key_of
from mooring.builtin.apps.daemonset.nodes import NodeVerdict
from mooring.builtin.apps.daemonset.pods import is_updated
from mooring.builtin.apps.daemonset.pods_on_nodes import Moves, surge_count
from mooring.kube.intorpercent import resolve

Available = Callable[[Pod], bool]


class Pair(NamedTuple):
    """The pods that stay on a node: of today's revision and of an earlier one. `crowded` where there are more."""

    new: Pod | None = None
    old: Pod | None = None
    crowded: bool = False


def roll(
    daemon_set: DaemonSet,
    revision: str,
    verdicts: Mapping[str, NodeVerdict],
    pods: Mapping[str, Sequence[Pod]],
    available: Available,
) -> Moves:
    if all(is_updated(daemon_set, pod, revision) for here in pods.values() for pod in here):
        return Moves((), ())
    desired = sum(verdict.run for verdict in verdicts.values())
    nodes = {*pods, *(node for node, verdict in verdicts.items() if verdict.run)}
    pairs = {node: _pair(daemon_set, pods.get(node, ()), revision) for node in sorted(nodes)}
    surge = surge_count(daemon_set, desired)
    if surge > 0:
        return _surge(surge, desired, verdicts, pairs, available)
    rolling = daemon_set.spec.update_strategy.rolling_update
    limit = 0 if rolling is None else resolve(rolling.max_unavailable, desired, up=True)
    # Neither surge nor absence would mean no update at all.
    return _replace(limit or 1, pairs, available)


def _pair(daemon_set: DaemonSet, pods: Sequence[Pod], revision: str) -> Pair:
    staying = [pod for pod in pods if not pod.metadata.deleting]
    new = [pod for pod in staying if is_updated(daemon_set, pod, revision)]
    old = [pod for pod in staying if pod not in new]
    if len(new) > 1 or len(old) > 1:
        return Pair(crowded=True)
    return Pair(new[0] if new else None, old[0] if old else None)


def _replace(limit: int, pairs: Mapping[str, Pair], available: Available) -> Moves:
    away = 0
    broken: list[Pod] = []
    candidates: list[Pod] = []
    for pair in pairs.values():
        if pair.old is None or pair.new is not None:
            away += pair.new is None or pair.old is not None or not available(pair.new)
        elif available(pair.old):
            candidates.append(pair.old)
        else:
            # Nothing is lost by replacing it.
            broken.append(pair.old)
            away += 1
    return Moves((), sorted([*broken, *candidates[: max(0, limit - away)]], key=key_of))


def _surge(
    limit: int, desired: int, verdicts: Mapping[str, NodeVerdict], pairs: Mapping[str, Pair], available: Available
) -> Moves:
    surging = present = 0
    replaced: list[Pod] = []
    unwanted: list[Pod] = []
    broken: list[str] = []
    candidates: list[str] = []
    for node, pair in pairs.items():
        if pair.crowded:
            surging += 1
            continue
        serving = pair.old or pair.new
        serves = serving is not None and available(serving)
        present += serves
        if pair.old is None:
            continue
        if pair.new is not None:
            if available(pair.new):
                replaced.append(pair.old)
            else:
                surging += 1
        elif node not in verdicts or not verdicts[node].run:
            (unwanted if serves else replaced).append(pair.old)
        else:
            (candidates if serves else broken).append(node)
    # A pod on a node that is wanted no more goes when as many as are wanted serve elsewhere.
    spare = unwanted[: max(0, present - desired)]
    return Moves(sorted([*broken, *candidates[: max(0, limit - surging)]]), sorted([*replaced, *spare], key=key_of))
