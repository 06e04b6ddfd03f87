"""The kinds that controllers and webhooks of groups read and no other feature does."""

from __future__ import annotations

from mooring.api.kinds import Kind
from mooring.features.groups.api import API_VERSION, KIND, NAME, LeaderWorkerSet
from mooring.runtime.reads import selected
from mooring.workloads.kinds import CONTROLLER_REVISION

LEADER_WORKER_SET = Kind(API_VERSION, KIND, LeaderWorkerSet, optional=True)
# Revisions of sets and of their StatefulSets: a cluster has many more, of every DaemonSet and StatefulSet. An orphan
# keeps its labels, so it is found too.
GROUP_REVISION = selected(CONTROLLER_REVISION, NAME)
