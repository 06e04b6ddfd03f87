"""The definition of LeaderWorkerSets: what is checked in is what the types say, and upstream's fields are all there."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.features.groups.definition import leader_worker_set_definition
from mooring.kube.objects import Object
from mooring.kube.schemas import structural_schema
from scripts.crds import FOLDER, texts
from tests.features.upstream import columns, differences

ROOT = Path(__file__).parents[3]
UPSTREAM = ROOT.parent / "shared/upstream/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml.gz"
TEMPLATES = [f".spec.leaderWorkerTemplate.{name}.spec" for name in ("leaderTemplate", "workerTemplate")]
# Fields of pods that one version of Kubernetes has and the other does not, and what only we have.
MISSING = {f"{path}.schedulingGroup" for path in TEMPLATES}
OURS = {f"{path}.workloadRef" for path in TEMPLATES} | {".spec.leaderWorkerTemplate.schedulingPolicy"}


def schema(definition: Object) -> Object:
    (version,) = definition["spec"]["versions"]
    found: Object = version["schema"]["openAPIV3Schema"]
    return found


WRITTEN = texts(CATALOG.resources(CATALOG.external))


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_checked_in_is_what_the_types_say(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == WRITTEN[name], "run python -m scripts.crds"


def test_the_schema_is_structural() -> None:
    assert structural_schema(schema(leader_worker_set_definition())).properties["spec"].required


def own_fields(part: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    for name, child in (part.get("properties") or {}).items():
        here = f"{path}.{name}"
        yield here, child
        # What is inside of templates is described where Kubernetes describes it.
        if name not in ("leaderTemplate", "workerTemplate", "volumeClaimTemplates", "conditions", "metadata"):
            yield from own_fields(child, here)


def test_every_field_is_described() -> None:
    whole = schema(leader_worker_set_definition())
    assert not [path for path, child in own_fields(whole) if not child.get("description") and path != ".metadata"]


@pytest.mark.skipif(not UPSTREAM.is_file(), reason="upstream's definition is not here")
def test_names_types_defaults_and_rules_are_those_of_upstream() -> None:
    theirs = yaml.load(gzip.decompress(UPSTREAM.read_bytes()), Loader=yaml.CSafeLoader)
    ours = leader_worker_set_definition()
    assert set(differences(schema(ours), schema(theirs))) == MISSING | OURS
    (mine,), (other,) = ours["spec"]["versions"], theirs["spec"]["versions"]
    assert mine["subresources"] == other["subresources"]
    assert columns(mine) == columns(other)
    assert {name: ours["spec"]["names"][name] for name in theirs["spec"]["names"]} == theirs["spec"]["names"]
