"""Which node a user is: kubelets are users named `system:node:NAME` in the group `system:nodes`."""

from collections.abc import Sequence
from typing import Final

__all__ = ["NODES", "node_of", "node_user"]

NODES: Final = "system:nodes"
_PREFIX: Final = "system:node:"


def node_user(node: str) -> str:
    """The user name of a node."""
    return _PREFIX + node


def node_of(user: str, groups: Sequence[str]) -> str | None:
    """The name of the node that a user is, None for other users. It is empty for a user that names no node."""
    return user.removeprefix(_PREFIX) if user.startswith(_PREFIX) and NODES in groups else None
