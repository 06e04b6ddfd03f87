"""What is decided for charts in a cluster in which something is otherwise than it came to be, as recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.features.installation.controller import CONTROLLER
from mooring.features.installation.effects import INSTALL, OBSERVE, UNINSTALL
from mooring.testing.installations import helm_chart, installation
from tests.features.altered import Change, decided_as_recorded
from tests.features.installation.world import InstallationWorld, ends, modelled

RELEASE = {"name": "kaito-workspace", "namespace": "kaito-workspace", "revision": 2, "version": "0.8.0"}
STATUSES = (
    "deployed",
    "failed",
    "pending-install",
    "pending-upgrade",
    "pending-rollback",
    "uninstalling",
    "superseded",
)
ALSO = {
    "Installation": [
        *(
            Change(("status", "releases"), [{**RELEASE, "status": status, "goodRevision": good}])
            for status in STATUSES
            for good in (0, 1)
        ),
        *(Change(("spec", "rollbackTo"), number) for number in (1, 2)),
        Change(("spec", "suspend"), True),
        Change(("spec", "attempt"), 7),
        Change(("spec", "crds"), "Chart"),
        Change(("spec", "timeoutSeconds"), 60),
        Change(("spec", "charts"), [helm_chart(version="0.9.0", values={"a": 1})]),
        Change(("spec", "charts"), [helm_chart("second", namespace="b", createNamespace=False, skipCRDs=True)]),
        *(
            Change(("status", "effects", name), {"id": "other", "phase": phase, "exitCode": code, "output": output})
            for name in ("helm-install", "helm-check", "helm-observe", "helm-recover")
            for phase, code, output in (
                ("Failed", 1, "Error: UPGRADE FAILED: context deadline exceeded"),
                ("Failed", 127, ""),
                ("TimedOut", None, ""),
                ("Succeeded", 0, ""),
                ("Cancelled", None, ""),
            )
        ),
    ]
}
CHARTS = [helm_chart("first", namespace="a"), helm_chart("second", namespace="b", values={"a": {"b": 1}})]


def started() -> InstallationWorld:
    world = InstallationWorld()
    world.put(installation("kaito", *CHARTS))
    world.run(20)
    return world


def installed() -> InstallationWorld:
    world = InstallationWorld()
    world.put(installation("kaito", *CHARTS))
    world.put(installation("old"))
    world.run()
    world.change("old", suspend=True)
    world.run(60)
    return world


def failed() -> InstallationWorld:
    """One chart could not be installed, and one does not go."""
    world = InstallationWorld()
    world.put(installation("kaito"))
    world.run()
    release = {**RELEASE, "status": "pending-upgrade", "goodRevision": 1}
    seen = ends("Succeeded", status={"releases": [release]})
    with modelled(INSTALL, ends(output="Error: UPGRADE FAILED: context deadline exceeded")), modelled(OBSERVE, seen):
        world.put(installation("new", helm_chart("new", namespace="n")))
        world.run(60)
        with modelled(UNINSTALL, ends(output="Error: uninstallation completed with 1 error(s)")):
            world.delete()
            world.run(60)
    return world


@pytest.mark.parametrize("story", [started, installed, failed])
def test_charts_are_decided_on_as_recorded_whatever_is_otherwise(story: Callable[[], InstallationWorld]) -> None:
    decided_as_recorded("installation", story, [CONTROLLER], cases=150, also=ALSO)
