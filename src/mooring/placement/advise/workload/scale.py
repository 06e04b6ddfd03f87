"""Ask for fewer: as many replicas as have a place now."""

from __future__ import annotations

from mooring.placement.advise import commands
from mooring.placement.advise.model import Advice, AdviceKind, CommandTarget, Edit
from mooring.placement.advise.pointers import pointer


def scaled(workload: CommandTarget, before: int, after: int, brings: frozenset[str]) -> Advice:
    """A Job has pods at a time, and does the rest after them; everything else has replicas."""
    field = "parallelism" if workload.kind == "Job" else "replicas"
    waves = ", so that it runs in waves" if workload.kind == "Job" else ""
    edit = Edit("workload", "scale", pointer("spec", field), before, after)
    title = f"Lower {field} from {before} to {after}{waves}"
    return Advice(AdviceKind.SCALE, title, (edit,), commands.scale(workload, field, before, after), brings=brings)
