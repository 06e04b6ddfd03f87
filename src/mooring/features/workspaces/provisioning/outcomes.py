"""What becomes of NodeClaims on the embedded cluster where it is not simply a node: for trying what goes wrong.

The ConfigMap `simulated-instance-types` in kube-system, which a fleet can bring, says it for every claim of an instance
type; the annotation `mooring.dev/outcome` of a claim says it for that one. Either is a number, of how many nodes of the
type there are; `unregistered`, for nodes that are launched and never join; or the sentence with which launching fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from mooring.features.workspaces.provisioning.api import NodeClaim

__all__ = ["CONFIG_NAME", "CONFIG_NAMESPACE", "LaunchOutcome", "outcome_of"]

CONFIG_NAMESPACE: Final = "kube-system"
CONFIG_NAME: Final = "simulated-instance-types"
_ANNOTATION: Final = "mooring.dev/outcome"
_UNREGISTERED: Final = "unregistered"


class LaunchOutcome(NamedTuple):
    """`available`: how many nodes of the type there are, without a limit where None."""

    available: int | None = None
    registers: bool = True
    failure: str = ""


def outcome_of(claim: NodeClaim, instance_type: str, configured: Mapping[str, str]) -> LaunchOutcome:
    text = claim.metadata.annotations.get(_ANNOTATION) or configured.get(instance_type, "")
    if text.isascii() and text.isdecimal():
        return LaunchOutcome(available=int(text))
    return LaunchOutcome(registers=False) if text == _UNREGISTERED else LaunchOutcome(failure=text)
