"""No feature is left out of the simulations."""

from __future__ import annotations

import pytest

from mooring.catalog import CATALOG
from tests.simulations.__main__ import play
from tests.simulations.stories import STORIES


def test_every_feature_has_a_seeded_story() -> None:
    # These take part in the stories of the others.
    everywhere = {"control-plane", "nodes", "simulated-node-claims"}
    assert {each.name for each in CATALOG.features} - everywhere == STORIES.keys() - {"builtin"}


def test_a_story_that_breaks_is_told_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def story(seed: int) -> None:
        assert seed != 7, "seven is lost"

    monkeypatch.setattr("tests.simulations.__main__.STORIES", {"hosts": {"broken": story}})
    played = play("hosts", "broken", range(10))
    assert len(played.failures) == 1
    assert played.failures[0].startswith("hosts: broken, seed 7\n")
    assert "seven is lost" in played.failures[0]
