"""Tells what came of a task, in numbers and, where somebody should know, in words."""

from __future__ import annotations

import logging
from datetime import datetime

from mooring.runtime.dispatcher import Task
from mooring.runtime.logs import say
from mooring.runtime.metrics import RuntimeMetrics
from mooring.runtime.outcome import Outcome


def account(metrics: RuntimeMetrics, task: Task, outcome: Outcome, now: datetime) -> None:
    name = task.request.controller.name
    result = "unavailable" if task.unavailable else outcome.result
    metrics.reconciles.add(name, result)
    for stage in task.stages:
        for request in stage:
            metrics.writes.add(name, request.verb)
    if result not in ("done", "conflict"):
        why = task.unavailable or outcome.terminal or outcome.failed
        # A kind that cannot be read concerns every key that asks for it, and is told once by whoever follows it.
        level = logging.DEBUG if task.unavailable else logging.WARNING
        say(level, why, controller=name, key=str(task.request.key), result=result, time=now)
