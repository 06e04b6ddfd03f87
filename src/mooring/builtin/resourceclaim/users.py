"""Whether a pod still uses its claims."""

from __future__ import annotations

from mooring.api.core.views import Pod


def is_done(pod: Pod) -> bool:
    """Whether it has ended, or goes without ever having had a node."""
    return pod.finished or (pod.metadata.deleting and not pod.spec.node_name)
