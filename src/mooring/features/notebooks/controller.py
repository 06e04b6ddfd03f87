"""The controller of NotebookValidationJobs."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.view import View

__all__ = ["CONTROLLER"]


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    view.get(NOTEBOOK_VALIDATION_JOB, *key)
    return Decision()


CONTROLLER: Final = Controller("notebook-validation", reconcile, of=NOTEBOOK_VALIDATION_JOB)
