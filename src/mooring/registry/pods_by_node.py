"""Which pods are bound to which node, kept from the first question on: what a node may read hangs on its pods."""

from mooring.kube.objects import Object
from mooring.registry.core import Core

__all__ = ["PodsByNode"]


class PodsByNode:
    """The pods of every node. Invariant: each stored pod with a nodeName stands under that node, and nothing else."""

    def __init__(self, core: Core) -> None:
        self._pods: dict[str, dict[tuple[str, str], Object]] = {}
        for pod in core.storage.items("pods"):
            self._changed(pod, None)
        core.hooks["pods"] = self._changed

    def on(self, node: str) -> list[Object]:
        return list(self._pods.get(node, {}).values())

    def _changed(self, new: Object | None, old: Object | None) -> None:
        before, after = _node_of(old), _node_of(new)
        if old is not None and before and before != after:
            pods = self._pods[before]
            del pods[_key(old)]
            if not pods:
                del self._pods[before]
        if new is not None and after:
            self._pods.setdefault(after, {})[_key(new)] = new


def _node_of(pod: Object | None) -> str:
    name: str = "" if pod is None else pod["spec"].get("nodeName", "")
    return name


def _key(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]
