"""Every right that the controller of jobs declares is one that it uses."""

from __future__ import annotations

from mooring.features.notebooks.controller import CONTROLLER
from mooring.testing.notebooks import notebook_job
from mooring.testing.rights import recorded_rights
from tests.features.notebooks.world import NotebookWorld, PodRun


def jobs() -> None:
    """One passes, tells of its wave and goes; one takes too long, and its pod is deleted."""
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "cfg", "key": "a"}}}]
    wave = {"argocd.argoproj.io/sync-wave": "1"}
    world = NotebookWorld(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg"}},
        notebook_job("quick", secret="git", pod={"env": env}, annotations=wave, ttlSecondsAfterFinished=60),
        notebook_job("slow", timeout="1m"),
        script=lambda pod: PodRun(seconds=10 if "quick" in pod else 1000, stops=False),
    )
    assert world.pods() == []


def test_every_declared_right_of_notebook_validation_is_used() -> None:
    with recorded_rights() as used:
        jobs()
    # Logs are read by the executor of the effect; no write shows it.
    assert used.unused([CONTROLLER]) == {"notebook-validation": ["log v1/Pod"]}
