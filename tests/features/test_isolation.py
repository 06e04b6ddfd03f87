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
EXEMPT = (SOURCE / "testing", SOURCE / "catalog.py")
# Features that agree on an API: each names kinds of the other, through its `api` alone, and the agent those of both.
# `mooring notebook` and `mooring installations` are commands of one feature, and providers of models make objects of
# several.
# What people are shown of the objects of a feature stands together.
FEATURE_VIEWS = SOURCE / "runway" / "feature_views"
NEIGHBOURS = {
    "groups": (SOURCE / "runway" / "providers",),
    "installation": (
        SOURCE / "runway" / "providers",
        SOURCE / "runway" / "operations",
        SOURCE / "cli" / "installation",
        FEATURE_VIEWS / "installations.py",
        SOURCE / "cli" / "main.py",
    ),
    "workspaces": (SOURCE / "runway" / "providers",),
    "machines": (SOURCE / "features" / "hosts", SOURCE / "features" / "autoscaler", SOURCE / "agents" / "host"),
    "notebooks": (SOURCE / "cli" / "notebook", FEATURE_VIEWS / "notebooks.py"),
    "hosts": (
        SOURCE / "features" / "machines",
        SOURCE / "features" / "autoscaler",
        SOURCE / "agents" / "host",
        FEATURE_VIEWS / "hosts.py",
    ),
}
# Names of upstream's that are words of everybody, in quotes too: whoever means the kind also names its group.
EVERYBODYS_WORDS = {"Cluster", "clusters", "cluster", "Machine", "machines", "machine", "cl", "ma", "md", "ms"}


def words_of(feature: Feature) -> tuple[set[str], set[str]]:
    """Everything that names the feature: kinds, plurals, short names, groups, and the words of `--controllers`.

    What is a word of English too, or of any program (workspace, wks), comes second: it names the feature only
    where it stands in quotes.
    """
    distinct, common = set[str](), set[str]()
    for each in feature.resources():
        is_distinct = sum(map(str.isupper, each.kind)) > 1
        (distinct if is_distinct else common).update({each.kind, each.plural, each.singular} - {""})
        distinct.add(each.group)
        common.update(each.short_names)
    for name in feature.names:
        (distinct if "-" in name else common).add(name)
    return distinct, common - EVERYBODYS_WORDS


def test_every_folder_of_features_is_in_the_catalog() -> None:
    folders = {path.parent.name for path in (SOURCE / "features").glob("*/feature.py")}
    assert folders == {feature.name for feature in FEATURES}


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_is_named_in_its_own_folder_only(feature: Feature) -> None:
    distinct, common = ("|".join(map(re.escape, sorted(words))) for words in words_of(feature))
    quoted = rf"|\"(?:{common})\"" if common else ""
    pattern = re.compile(rf"(?<![\w-])(?:{distinct})s?(?![\w-]){quoted}", re.IGNORECASE)
    own = (SOURCE / "features" / feature.name, *NEIGHBOURS.get(feature.name, ()), *EXEMPT)
    found = [
        f"{path.relative_to(SOURCE.parents[1])}:{number}: {line.strip()}"
        for path in sorted([*SOURCE.rglob("*.py"), *(SOURCE.parents[1] / "scripts").glob("*.py")])
        if not any(folder in (path, *path.parents) for folder in own)
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
