"""Advice holds what it promises: a command that is printed is pasted, and so many pods land.

The number of scenes is that of ADVICE_PROOF_SCENES; `make advice-proof` plays more of them than CI does.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.builders import node
from mooring.testing.fixtures import running
from mooring.testing.homes import EMBEDDED, Home, whole
from mooring.testing.http import Api
from tests.e2e.advice.broken import broken_scene
from tests.e2e.advice.chosen import CHOSEN, ChosenScene
from tests.e2e.advice.paste import PATIENCE, POLL, PastingUser

SCENES = int(os.environ.get("ADVICE_PROOF_SCENES", "40"))
FIRST = int(os.environ.get("ADVICE_PROOF_FIRST", "0"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    yield from running(whole(EMBEDDED, tmp_path_factory.mktemp("advice"), [node("first")]))


@pytest.fixture(scope="module")
def api(home: Home) -> Iterator[Api]:
    with home.api() as api:
        # Every scene brings its own nodes. The fleet comes a moment after the API.
        end = time.monotonic() + PATIENCE
        while api.delete("/api/v1/nodes/first").code != 200:
            assert time.monotonic() < end, f"no node in {PATIENCE:g} s"
            time.sleep(POLL)
        yield api


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, FIRST + SCENES))
def test_as_many_pods_land_as_the_pasted_command_promised(home: Home, api: Api, seed: int, tmp_path: Path) -> None:
    user = PastingUser(home, api, broken_scene(seed), tmp_path)
    try:
        user.set_the_scene()
        if proposals := user.proposals():
            # Most people take the first, and some another one.
            rng = random.Random(seed)
            proposal = rng.choice([proposals[0], rng.choice(proposals)])
            user.paste(proposal)
            assert user.wait_for(proposal.promised), f"{proposal}: {user.landed()} landed\n{user.story()}"
    finally:
        user.leave()


@pytest.mark.slow
@pytest.mark.parametrize("chosen", CHOSEN.values(), ids=CHOSEN)
def test_all_pods_land_when_a_chosen_proposal_is_pasted(
    home: Home, api: Api, chosen: ChosenScene, tmp_path: Path
) -> None:
    user = PastingUser(home, api, chosen.scene, tmp_path)
    try:
        user.set_the_scene()
        proposal = next(each for each in user.proposals() if each.title.startswith(chosen.title))
        user.paste(proposal)
        assert user.wait_for(proposal.promised), f"{proposal}: {user.landed()} landed\n{user.story()}"
        assert proposal.promised == chosen.pods
    finally:
        user.leave()
