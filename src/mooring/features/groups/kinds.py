"""The kind LeaderWorkerSet as controllers and webhooks read it."""

from __future__ import annotations

from mooring.api.kinds import Kind
from mooring.features.groups.api import API_VERSION, KIND, LeaderWorkerSet

LEADER_WORKER_SET = Kind(API_VERSION, KIND, LeaderWorkerSet, optional=True)
