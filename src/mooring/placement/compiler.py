"""Pods compiled once, with everything that pods of one template share held once.

A `Compiler` turns a typed view into a `PodInfo`. All that placement derives from the spec sits in a
`CompiledTemplate`, interned by the bytes of that spec, so fifty thousand pods of a few hundred workloads
cost a few hundred templates.
"""

from __future__ import annotations

import msgspec

from mooring.api.core.types import ContainerStatus, Pod
from mooring.kube.interning import intern
from mooring.placement.pods import CompiledTemplate, PodInfo

MAX_INTERNED = 200_000
MAX_UNSHARED = 2_000


class Compiler:
    """Compiles pods and keeps one `CompiledTemplate` and one labels dict for all pods that share them."""

    def __init__(self) -> None:
        self._templates: dict[bytes, CompiledTemplate] = {}
        # Templates by the identity of the views that a pod is made of, which the entry keeps alive: a reader that
        # shares equal views spares the encoding. It is given up, not started over, where views are never shared.
        self._shared: dict[tuple[object, ...], tuple[CompiledTemplate, tuple[object, ...]]] = {}
        self._sharing = True
        self._labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._encoder = msgspec.msgpack.Encoder()

    def compile(self, pod: Pod) -> PodInfo:
        info = PodInfo(pod, self._template(pod))
        if info.labels:
            key = tuple(info.labels.items())
            known = self._labels.get(key)
            info.labels = intern(self._labels, key, info.labels, MAX_INTERNED) if known is None else known
        return info

    def _template(self, pod: Pod) -> CompiledTemplate:
        spec, status = pod.spec, pod.status
        views = (
            spec.containers,
            spec.init_containers,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.topology_spread_constraints,
            spec.overhead,
            spec.resources,
        )
        rest: tuple[object, ...] = (pod.metadata.namespace if spec.affinity else "",)
        if any(c.match_label_keys for c in spec.topology_spread_constraints or ()):
            rest += (pod.metadata.labels,)
        elif _reports_resources(status.container_statuses) or _reports_resources(status.init_container_statuses):
            rest += (status.container_statuses, status.init_container_statuses, status.conditions)
        else:
            if self._sharing:
                return self._by_identity(pod, views, rest)
        return self._encoded(pod, views, rest)

    def _by_identity(self, pod: Pod, views: tuple[object, ...], rest: tuple[object, ...]) -> CompiledTemplate:
        key = (*map(id, views), *rest)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = self._encoded(pod, views, rest), views
            if len(self._shared) - len(self._templates) > MAX_UNSHARED:
                # The caller makes every view anew, so remembering views by identity is of no use.
                self._sharing = False
                self._shared.clear()
        return shared[0]

    def _encoded(self, pod: Pod, views: tuple[object, ...], rest: tuple[object, ...]) -> CompiledTemplate:
        key = self._encoder.encode((views, rest))
        template = self._templates.get(key)
        return intern(self._templates, key, CompiledTemplate(pod), MAX_INTERNED) if template is None else template


def _reports_resources(statuses: tuple[ContainerStatus, ...] | None) -> bool:
    return any(status.resources is not None for status in statuses) if statuses else False
