"""Services and owners: the objects whose selectors decide which pods default spreading keeps apart."""

from __future__ import annotations

from mooring.api.apps.owners import ReplicaSet, StatefulSet
from mooring.api.core.types import Labels, ReplicationController, Service
from mooring.kube.selectors import Requirement, Selector, selector_from_labels
from mooring.placement.pods import PodInfo, view_selector

_OWNERS = {
    ("ReplicationController", "v1"),
    ("ReplicaSet", "apps/v1"),
    ("StatefulSet", "apps/v1"),
}

# Answers are remembered for this many kinds of pods.
MAX_ANSWERS = 50_000


class DefaultSelectors:
    def __init__(self) -> None:
        self._services: dict[str, dict[str, Labels]] = {}
        self._owners: dict[tuple[str, str, str], Selector] = {}
        # By the identity of the labels, which the entry keeps alive.
        self._default_selectors: dict[tuple[str, int, object], tuple[Labels, Selector]] = {}

    def set_service(self, service: Service) -> None:
        meta = service.metadata
        in_namespace = self._services.setdefault(meta.namespace, {})
        if service.spec.selector is None:
            in_namespace.pop(meta.name, None)
        else:
            in_namespace[meta.name] = service.spec.selector
        self._default_selectors.clear()

    def remove_service(self, namespace: str, name: str) -> None:
        self._services.get(namespace, {}).pop(name, None)
        self._default_selectors.clear()

    def set_owner(self, kind: str, owner: ReplicaSet | StatefulSet | ReplicationController) -> None:
        meta = owner.metadata
        if isinstance(owner, ReplicationController):
            found = selector_from_labels(owner.spec.selector)
        else:
            found = view_selector(owner.spec.selector)
        self._owners[kind, meta.namespace, meta.name] = found
        self._default_selectors.clear()

    def remove_owner(self, kind: str, namespace: str, name: str) -> None:
        self._owners.pop((kind, namespace, name), None)
        self._default_selectors.clear()

    def default_selector(self, pod: PodInfo) -> Selector:
        """What default spreading counts: the pods of the Services and of the owner that select this one."""
        key = (pod.namespace, id(pod.labels), pod.owner)
        found = self._default_selectors.get(key)
        if found is None or found[0] is not pod.labels:
            if len(self._default_selectors) > MAX_ANSWERS:
                self._default_selectors.clear()
            found = self._default_selectors[key] = (pod.labels, self._find_default_selector(pod))
        return found[1]

    def _find_default_selector(self, pod: PodInfo) -> Selector:
        merged: Labels = {}
        for wanted in self._services.get(pod.namespace, {}).values():
            if wanted.items() <= pod.labels.items():
                merged.update(wanted)
        found = Selector(Requirement(key, "In", (value,)) for key, value in merged.items())
        if pod.owner is not None and (pod.owner.kind, pod.owner.api_version) in _OWNERS:
            owned = self._owners.get((pod.owner.kind, pod.namespace, pod.owner.name))
            if owned is not None:
                found = found.with_requirements(owned.requirements)
        return found
