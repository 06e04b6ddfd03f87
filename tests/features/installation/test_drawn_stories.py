"""Installations in the hands of busy users, as recorded: charts, endings, rollbacks and changes that were drawn."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from mooring.features.installation.effects import EFFECTS, OBSERVE
from mooring.kube.objects import Object
from mooring.runtime.effects import Report
from mooring.testing.installations import helm_chart, installation
from tests.features.chance import Deed, busy_hours
from tests.features.installation.world import InstallationWorld, modelled

OUTPUTS = (
    'Error: chart "workspace" version "0.8.0" not found in https://x repository',
    "Error: looks like https://x is not a valid chart repository",
    'Error: secrets is forbidden: User "ada" cannot list resource',
    "Error: UPGRADE FAILED: context deadline exceeded",
    "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
    'Error: users "ada" is forbidden: User "mooring" cannot impersonate resource "users"',
    "",
)
STATUSES = (
    "deployed",
    "failed",
    "pending-install",
    "pending-upgrade",
    "pending-rollback",
    "superseded",
    "uninstalling",
)
CHARTS = (
    [helm_chart()],
    [helm_chart(version="0.9.0")],
    [helm_chart(values={"a": 1, "b": {"c": None, "d": [1, 2]}}, skipCRDs=True)],
    [helm_chart("first", namespace="a"), helm_chart("second", namespace="b")],
    [helm_chart("second", namespace="b", createNamespace=False)],
)


def drawn_report(dice: Random, usual: Any, *, observes: bool) -> Any:
    """As the model of an effect says, but for some runs, which end otherwise."""

    def model(task: Any) -> tuple[timedelta, Report]:
        luck = dice.random()
        if luck < 0.65:
            found: tuple[timedelta, Report] = usual(task)
            return found
        seconds = timedelta(seconds=dice.choice((1, 30, 900)))
        if observes and luck < 0.9:
            release = {"name": "kaito-workspace", "namespace": "kaito-workspace", "revision": dice.randint(1, 3)}
            seen = {**release, "status": dice.choice(STATUSES), "version": "0.8.0", "goodRevision": dice.randint(0, 1)}
            return seconds, Report("Succeeded", 0, "", status={"releases": [seen]})
        if luck < 0.95:
            return seconds, Report("Failed", dice.choice((1, 2, 126, 127)), dice.choice(OUTPUTS))
        return seconds, Report("TimedOut", None, "")

    return model


class Users:
    def __init__(self, world: InstallationWorld) -> None:
        self.world = world

    def ask(self, dice: Random) -> None:
        crds: dict[str, Any] = {"crds": dice.choice(("Missing", "Chart")), "timeoutSeconds": dice.choice((60, 600))}
        self.world.put(installation("kaito", *dice.choice(CHARTS), **crds), user=dice.choice(("ada", "bob")))

    def change_charts(self, dice: Random) -> None:
        self.world.change(charts=dice.choice(CHARTS), user=dice.choice(("ada", "grace")))

    def roll_back(self, dice: Random) -> None:
        self.world.change(rollbackTo=dice.choice((1, 2, None)))

    def suspend(self, dice: Random) -> None:
        self.world.change(suspend=dice.random() < 0.5)

    def try_again(self, dice: Random) -> None:
        self.world.change(attempt=dice.randint(1, 9))

    def delete(self, dice: Random) -> None:
        self.world.delete()

    def forget(self, dice: Random) -> None:
        self.world.set_status(**dice.choice(({"releases": []}, {"steps": None}, {"phase": "Pending"})))


@pytest.mark.parametrize("seed", range(24))
def test_busy_users_of_charts_get_what_was_recorded(seed: int) -> None:
    dice, fate = Random(f"installation/{seed}"), Random(f"fate/{seed}")
    running = ("installation", "installation-webhook") if seed % 6 else ("installation",)
    with ExitStack() as stack:
        for effect in EFFECTS:
            model = drawn_report(fate, effect.model, observes=effect is OBSERVE)
            stack.enter_context(modelled(effect, model))
        world = InstallationWorld(running=running)
        users = Users(world)
        users.ask(dice)
        deeds: dict[Deed, int] = {
            users.ask: 2, users.change_charts: 4, users.roll_back: 3, users.suspend: 2, users.try_again: 3,
            users.delete: 1, users.forget: 1,
        }  # fmt: skip
        busy_hours(dice, deeds, world.run, rounds=14)
        world.run(7200)
    found: Object | None = world.get()
    assert found is None or found["status"]["phase"]
