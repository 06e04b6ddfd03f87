"""Which labels of a Machine its Node has, for those who make the Node and for those who keep it in step."""

from __future__ import annotations

from collections.abc import Mapping

from mooring.features.machines.api.names import GROUP, TEMPLATE_HASH

__all__ = ["node_labels"]


def node_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """All labels of a Machine but those by which Machines are found."""
    return {name: value for name, value in labels.items() if name != TEMPLATE_HASH and name.partition("/")[0] != GROUP}
