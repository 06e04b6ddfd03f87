"""The waves of Jobs that do not run all of their pods at once, as a line under each."""

from __future__ import annotations

from mooring.kube.words import counted, spell
from mooring.placement.workloads.job_waves import JobWaves

__all__ = ["waves_text"]


def waves_text(waves: JobWaves) -> str:
    why = "as pods that end make room" if waves.is_crowded else "as its parallelism has it"
    took = "" if waves.took is None else f", {spell(waves.took)} in all"
    return f"It runs {counted(waves.pods, 'pod')} in {counted(waves.number, 'wave')} of {waves.at_once:,}, {why}{took}."
