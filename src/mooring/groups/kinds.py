"""The kind LeaderWorkerSet as controllers and webhooks read it."""

from __future__ import annotations

from mooring.api.leaderworkerset import API_VERSION, KIND, LeaderWorkerSet
from mooring.runtime.kinds import Kind

LEADER_WORKER_SET = Kind(API_VERSION, KIND, LeaderWorkerSet, optional=True)
