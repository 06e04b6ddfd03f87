"""What `helm history` says of a release, and what the effects of an installation come to in a simulation."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from mooring.features.installation.api.installation import HelmRelease, Requester
from mooring.features.installation.effects import EFFECTS, HelmTask
from mooring.features.installation.helm.release_history import release_of
from mooring.kube.errors import MooringError


def revision(number: int, status: str, chart: str = "workspace-0.8.0", **more: Any) -> dict[str, Any]:
    return {"revision": number, "status": status, "chart": chart, "description": "x", **more}


def release(**facts: Any) -> HelmRelease:
    return HelmRelease("kaito", "ml", **{"chart": "workspace", "version": "0.8.0", **facts})


@pytest.mark.parametrize(
    ("history", "wanted"),
    [
        ([], None),
        ([revision(1, "deployed")], release(revision=1, status="deployed", good_revision=1)),
        (
            [revision(1, "superseded"), revision(2, "failed", updated="2026-01-01T00:00:00Z", app_version="v8")],
            release(revision=2, status="failed", good_revision=1, updated="2026-01-01T00:00:00Z", app_version="v8"),
        ),
        # Helm says it in any order.
        (
            [
                revision(10, "pending-upgrade"),
                revision(9, "deployed"),
                revision(3, "superseded"),
                revision(4, "failed"),
            ],
            release(revision=10, status="pending-upgrade", good_revision=9),
        ),
        ([revision(1, "failed")], release(revision=1, status="failed", good_revision=0)),
        (
            [revision(1, "deployed", "gpu-operator-v25.3.0-rc.1")],
            release(chart="gpu-operator", version="v25.3.0-rc.1", revision=1, status="deployed", good_revision=1),
        ),
        (
            [revision(1, "deployed", "nameless")],
            release(chart="nameless", version="", revision=1, status="deployed", good_revision=1),
        ),
    ],
)
def test_a_release_is_its_newest_revision_and_knows_its_last_good_one(
    history: list[dict[str, Any]], wanted: HelmRelease | None
) -> None:
    assert release_of("kaito", "ml", json.dumps(history)) == wanted


def test_a_history_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(MooringError) as error:
        release_of("kaito", "ml", "REVISION UPDATED")
    assert str(error.value).startswith("the history of release kaito cannot be read: JSON is malformed")
    assert str(error.value).endswith("; use Helm 3.13 or newer")


SECONDS = {
    "helm-check": 1, "helm-observe": 1, "helm-recover": 10, "helm-crds": 1, "helm-install": 30, "helm-rollback": 30,
    "helm-uninstall": 15, "helm-namespace": 1,
}  # fmt: skip
QUIET = ("helm-check", "helm-crds", "helm-namespace")


def test_every_step_goes_well_in_a_simulation_and_finds_the_releases_that_are_there() -> None:
    releases = (release(revision=1, status="deployed"), HelmRelease("gone", "ml"))
    task = HelmTask("install", "helm", Requester(), 60, releases=releases)
    assert [each.name for each in EFFECTS] == [*SECONDS]
    for effect in EFFECTS:
        lasted, report = effect.model(task)
        assert (lasted, effect.executor) == (timedelta(seconds=SECONDS[effect.name]), "helm")
        assert (report.phase, report.exit_code, report.output) == ("Succeeded", 0, "")
        found = [each["name"] for each in report.status.get("releases", ())]
        assert found == ([] if effect.name in QUIET else ["kaito"])
        assert ("releases" in report.status) is (effect.name not in QUIET)
