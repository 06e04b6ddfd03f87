"""Typed views of scheduling.k8s.io/v1."""

from __future__ import annotations

from mooring.api.core.types import ObjectMeta, View


class PriorityClass(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
