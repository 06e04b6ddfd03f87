"""Nothing outside a feature's folder knows it: its kinds and controllers are named there and in the catalog alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mooring.catalog import CATALOG
from mooring.runtime.feature import Feature

SOURCE = Path(__file__).parents[2] / "src" / "mooring"
FEATURES = [feature for feature in CATALOG.features if (SOURCE / "features" / feature.name).is_dir()]
# Builders for tests of every feature live together, where people who write tests look for them.
EXEMPT = (SOURCE / "testing",)
# Features that agree on an API: each names kinds of the other, through its `api` alone, and the agent those of both.
NEIGHBOURS = {
    "machines": (SOURCE / "features" / "hosts", SOURCE / "agents" / "host"),
    "hosts": (SOURCE / "features" / "machines", SOURCE / "agents" / "host"),
}
# Names of upstream's that are words of everybody: whoever means the kind also names its group.
COMMON_WORDS = {"Cluster", "clusters", "cluster", "Machine", "machines", "machine", "cl", "ma", "md", "ms"}


def words_of(feature: Feature) -> set[str]:
    """Everything that names the feature: kinds, plurals, short names, groups, and the words of `--controllers`."""
    resources = [
        word
        for each in feature.resources()
        for word in (each.kind, each.plural, each.singular, each.group, *each.short_names)
        if word
    ]
    return {*resources, *feature.names} - COMMON_WORDS


def test_every_folder_of_features_is_in_the_catalog() -> None:
    folders = {path.parent.name for path in (SOURCE / "features").glob("*/feature.py")}
    assert folders == {feature.name for feature in FEATURES}


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_is_named_in_its_own_folder_only(feature: Feature) -> None:
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words_of(feature)))})s?(?![\w-])", re.IGNORECASE)
    own = (SOURCE / "features" / feature.name, *NEIGHBOURS.get(feature.name, ()), *EXEMPT)
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in sorted([*SOURCE.rglob("*.py"), *(SOURCE.parents[1] / "scripts").glob("*.py")])
        if not any(folder in path.parents for folder in own)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("feature", CATALOG.features, ids=lambda feature: feature.name)
def test_the_names_of_all_parts_are_those_that_are_declared(feature: Feature) -> None:
    assert len(feature.controllers.all(lambda part: part.name)) == len(feature.controllers.names)
    assert feature.webhooks.all(lambda part: part.switch) or not feature.webhooks.names
    assert len(feature.workloads.all(lambda part: part.kind)) == len(feature.workloads.names)
    assert {*feature.conflicts, *feature.on_request, *feature.add_ons} <= {*feature.names}
