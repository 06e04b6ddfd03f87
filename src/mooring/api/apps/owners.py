"""Typed views of apps/v1: the owners whose selectors decide default spreading."""

from __future__ import annotations

from mooring.api.core.types import LabelSelector, ObjectMeta, View


class SelectorSpec(View, frozen=True):
    selector: LabelSelector | None = None


class ReplicaSet(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: SelectorSpec = SelectorSpec()


class StatefulSet(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: SelectorSpec = SelectorSpec()
