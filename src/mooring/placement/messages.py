"""The words of the FailedScheduling event, as the scheduler of 1.35 puts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mooring.placement.verdicts import ERROR, Rejection

NO_NODES = "no nodes available to schedule pods"
GATED = "Scheduling is blocked due to non-empty scheduling gates"
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_CLAIMS = "no new claims to deallocate"
NEVER_PREEMPTS = "not eligible due to preemptionPolicy=Never."
VICTIM_LEAVING = "not eligible due to a terminating pod on the nominated node."

# An event's note is cut to this many bytes.
MAX_NOTE = 1024


def unavailable(nodes: int, histogram: Mapping[str, int]) -> str:
    """`0/N nodes are available: ...`; entries are sorted as text, so "10 x" comes before "2 y"."""
    entries = sorted(f"{count} {reason}" for reason, count in histogram.items())
    head = f"0/{nodes} nodes are available:"
    return f"{head} {', '.join(entries)}." if entries else head


def rejected(nodes: int, rejection: Rejection) -> str:
    """A pod that is turned away before any node is looked at."""
    return rejection.text if rejection.code == ERROR else f"0/{nodes} nodes are available: {rejection.text}."


def histogram(reasons: Counter[str], nodes: int, counted: int, others: str) -> Counter[str]:
    """Adds the reason of all nodes that were not looked at one by one."""
    total = Counter(reasons)
    if counted < nodes:
        total[others] += nodes - counted
    return total


def note(message: str) -> str:
    """The message as it appears in an event."""
    encoded = message.encode()
    if len(encoded) <= MAX_NOTE:
        return message
    return encoded[: MAX_NOTE - len(" ...")].decode(errors="ignore") + " ..."
