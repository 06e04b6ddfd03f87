"""What to know of a cluster's GPU nodes before a model is deployed: which have GPUs, which say so, and what is missing.

The default selector asks for a label that the GPU Operator, clouds or people write. GPU feature discovery does not
write it, so there are clusters with GPUs in which no node matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from mooring.api.core.types import Node
from mooring.kube.words import and_more
from mooring.runway.deployments.config import GPU_LABEL, GPU_RESOURCE
from mooring.runway.node_facts import COUNT_LABEL, MEMORY_LABEL, PRODUCT_LABEL, gpus_of, labels_of

__all__ = ["Preflight", "PreflightWarning", "preflight", "selector_warnings"]

_DISCOVERED: Final = (PRODUCT_LABEL, COUNT_LABEL, MEMORY_LABEL)
_MOST_NAMES: Final = 10


class PreflightWarning(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sentence, the nodes that it is about, and the command that mends it."""

    message: str
    nodes: tuple[str, ...] = ()
    command: str = ""


class Preflight(msgspec.Struct, frozen=True, rename="camel"):
    """Nodes by name: with the GPU label, with GPUs that pods can get, and with all labels of feature discovery."""

    labelled: tuple[str, ...]
    with_gpus: tuple[str, ...] = msgspec.field(name="withGPUs")
    discovered: tuple[str, ...]
    warnings: tuple[PreflightWarning, ...]


def preflight(nodes: Iterable[Node]) -> Preflight:
    known = sorted(nodes, key=lambda node: node.metadata.name)
    labelled = _names(node for node in known if labels_of(node).get(GPU_LABEL) == "true")
    with_gpus = _names(node for node in known if gpus_of(node))
    discovered = _names(node for node in known if all(labels_of(node).get(key) for key in _DISCOVERED))
    unlabelled = tuple(name for name in with_gpus if name not in set(labelled))
    empty = tuple(name for name in labelled if name not in set(with_gpus))
    unknown = tuple(name for name in with_gpus if name not in set(discovered))
    warnings = []
    if unlabelled:
        text = (
            f"{_listed(unlabelled)} with GPUs without the label {GPU_LABEL}=true, so that deployments pass "
            f"{'it' if len(unlabelled) == 1 else 'them'} over; install the GPU Operator, or label by hand"
        )
        warnings.append(
            PreflightWarning(text, unlabelled, f"kubectl label node {' '.join(unlabelled)} {GPU_LABEL}=true")
        )
    if empty:
        text = f"{_listed(empty)} with the label {GPU_LABEL}=true and no {GPU_RESOURCE}; start the device plugin there"
        warnings.append(PreflightWarning(text, empty))
    if unknown:
        text = (
            f"{_listed(unknown)} with GPUs whose product and memory no label tells; presets need these labels: "
            "start GPU feature discovery there"
        )
        warnings.append(PreflightWarning(text, unknown))
    return Preflight(labelled, with_gpus, discovered, tuple(warnings))


def selector_warnings(nodes: Iterable[Node], selector: Mapping[str, str]) -> tuple[PreflightWarning, ...]:
    """What is wrong with the labels that a deployment which needs GPUs selects its nodes by."""
    wanted = selector.items()
    matching = [node for node in nodes if wanted <= labels_of(node).items()]
    if any(gpus_of(node) for node in matching):
        return ()
    text = ", ".join(f"{key}={value}" for key, value in sorted(wanted))
    if not matching:
        return (PreflightWarning(f"no node has the labels {text} that the deployment selects its nodes by"),)
    names = _names(matching)
    return (PreflightWarning(f"{_listed(names)} selected by {text}, without a GPU that a pod could get", names),)


def _names(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(sorted(node.metadata.name for node in nodes))


def _listed(names: tuple[str, ...]) -> str:
    """The nodes by name, as far as they can be read: "there are nodes a, b and 3 more"."""
    return f"there is node {names[0]}" if len(names) == 1 else f"there are nodes {and_more(names, _MOST_NAMES)}"
