"""What keeps an object from going on: a reason in one word, and a sentence that names what is missing."""

from __future__ import annotations

from typing import NamedTuple

from mooring.api.meta import Condition
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.names import PAUSED

__all__ = ["Block", "missing_cluster", "pause_of", "paused_condition"]


class Block(NamedTuple):
    reason: str
    message: str


def missing_cluster(namespace: str, name: str) -> Block:
    text = f"there is no Cluster {name} in namespace {namespace}; create it or correct spec.clusterName"
    return Block(say.CLUSTER_NOT_FOUND, text)


def pause_of(cluster: Cluster | None, annotations: dict[str, str], *, paused: bool = False) -> str:
    """Who says that nothing is to be done; empty if nobody does."""
    if cluster is not None and cluster.spec.paused:
        return f"Cluster {cluster.metadata.name} has spec.paused"
    if paused:
        return "spec.paused is true"
    return f"it has the annotation {PAUSED}" if PAUSED in annotations else ""


def paused_condition(pause: str) -> Condition:
    if pause:
        return Condition(say.PAUSED_CONDITION, "True", say.IS_PAUSED, f"Nothing is changed, because {pause}")
    return Condition(say.PAUSED_CONDITION, "False", say.NOT_PAUSED)
