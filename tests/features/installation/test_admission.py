"""Who asked for an installation is what the API server knows, and what Helm could not be given is refused."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.testing.installations import helm_chart, installation
from tests.features.installation.world import InstallationWorld

FORGED = {"username": "root", "groups": ["system:masters"]}


def asked_by(world: InstallationWorld) -> Object:
    found = world.get()
    assert found is not None
    told: Object = found["spec"]["requestedBy"]
    return told


def test_what_a_user_writes_about_who_asked_counts_for_nothing() -> None:
    world = InstallationWorld()
    world.put(installation(requestedBy=FORGED), user="ada", groups=("platform",))
    assert asked_by(world) == {"username": "ada", "groups": ["platform"]}
    world.change(user="ada", requestedBy=FORGED)
    assert asked_by(world)["username"] == "ada"
    world.change(user="ada", requestedBy=None)
    assert asked_by(world)["username"] == "ada"


def test_whoever_changes_the_spec_asks_for_it_from_then_on() -> None:
    world = InstallationWorld()
    world.put(installation(), user="ada")
    world.change(user="grace", timeoutSeconds=60, requestedBy=FORGED)
    assert asked_by(world) == {"username": "grace", "groups": []}


def test_changes_beside_the_spec_are_no_request() -> None:
    world = InstallationWorld()
    world.put(installation(), user="ada")
    world.run()
    body = {"metadata": {"labels": {"team": "ml"}}}
    resource = world.registry.resource("runway.mooring.dev/v1alpha1", "Installation")
    world.registry.patch(resource, "", "kaito", "merge", body, now=world.simulation.now, user="grace")
    assert asked_by(world)["username"] == "ada"


STRANGE = helm_chart(chart="other/workspace")
HUGE = helm_chart(values={"a": {"b": 2**60}})


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            installation("a", STRANGE),
            'charts[0].chart: Invalid value: "other/workspace": must be a chart of repository',
        ),
        (
            installation("a", HUGE),
            'charts[0].values.a.b: Invalid value: "(hidden)": is 1152921504606846976, which Helm',
        ),
        (installation("a", helm_chart("x"), helm_chart("y"), rollbackTo=2), "spec.rollbackTo: Invalid value: 2: is a"),
        (installation("a", helm_chart(version="latest")), "spec.charts[0].version"),
        (installation("a", helm_chart("Upper")), "spec.charts[0].name"),
        (installation("a", url="ftp://x"), "spec.repository.url"),
        (installation("a", timeoutSeconds=0), "spec.timeoutSeconds"),
        (installation("a", crds="Never"), "spec.crds"),
        (installation("a", helm_chart(), helm_chart()), "spec.charts[1]: Duplicate value"),
    ],
)
def test_a_wrong_field_is_named(made: Any, words: str) -> None:
    world = InstallationWorld()
    with pytest.raises(ApiError) as error:
        world.put(made)
    assert words in str(error.value)
    assert world.get("a") is None
