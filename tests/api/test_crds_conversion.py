"""Objects go from version to version through the hub, nothing is lost, and what people change wins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, settings

from mooring.api.crds.conversion import Spoke, conversion_data
from mooring.api.crds.resource import CustomResource, Version, definition
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Conversion
from mooring.testing.conversions import conversions_round_trip
from tests.api.sample import MODEL_CACHES, ModelCache, OldModelCache, from_hub, to_hub
from tests.runtime.hooks import GADGET_RESOURCE

V1 = "example.com/v1"
OLD = "example.com/v1alpha1"
KEPT = conversion_data("example.com")
KEPT_OF_OLD = conversion_data("example.com", "v1alpha1")


def cache(api_version: str = V1, **spec: Any) -> Object:
    return {"apiVersion": api_version, "kind": "ModelCache", "metadata": {"name": "m", "uid": "u"}, "spec": spec}


def old(obj: Object) -> Object:
    return MODEL_CACHES.convert(obj, OLD)


def new(obj: Object) -> Object:
    return MODEL_CACHES.convert(obj, V1)


FULL = cache(source={"repository": "r/a", "tag": "1"}, replicas=3, storage="5Gi", pullSecrets=["x"])


def test_what_both_versions_can_say_is_converted_and_nothing_is_annotated() -> None:
    made = old(cache(source={"repository": "r/a", "tag": "1"}, replicas=3))
    assert made == cache(OLD, image="r/a:1", copies=3)
    assert new(made) == cache(source={"repository": "r/a", "tag": "1"}, replicas=3)


def test_what_a_spoke_cannot_say_waits_in_an_annotation() -> None:
    made = old(FULL)
    assert made["spec"] == {"image": "r/a:1", "copies": 3}
    assert json.loads(made["metadata"]["annotations"][KEPT]) == [
        {"path": ["spec", "pullSecrets"], "kept": ["x"]},
        {"path": ["spec", "storage"], "kept": "5Gi"},
    ]
    assert new(made) == FULL


def test_an_edit_in_the_other_version_wins_and_the_rest_comes_back() -> None:
    made = old(FULL)
    edited = {**made, "spec": {"image": "r/b:2", "copies": 5}}
    assert new(edited)["spec"] == {
        "source": {"repository": "r/b", "tag": "2"},
        "replicas": 5,
        "storage": "5Gi",
        "pullSecrets": ["x"],
    }
    assert "annotations" not in new(edited)["metadata"]


def test_what_the_hub_cannot_say_waits_there() -> None:
    """One that writes its image in another way than the conversion would."""

    def loose(obj: Object) -> Object:
        return to_hub({**obj, "spec": {**obj["spec"], "image": obj["spec"]["image"].lower()}})

    resource = CustomResource(
        "example.com",
        "ModelCache",
        "modelcaches",
        versions=(
            Version("v1", ModelCache),
            Version("v1alpha1", OldModelCache, conversion=Spoke(loose, from_hub)),
        ),
    )
    shouted = cache(OLD, image="R/A:1", copies=3)
    hub = resource.convert(shouted, V1)
    assert hub["spec"] == {"source": {"repository": "r/a", "tag": "1"}, "replicas": 3}
    assert list(hub["metadata"]["annotations"]) == [KEPT_OF_OLD]
    assert resource.convert(hub, OLD) == shouted
    # Once the hub says something else, the old spelling is of no use.
    hub["spec"]["source"] = {"repository": "r/b", "tag": "1"}
    assert resource.convert(hub, OLD) == cache(OLD, image="r/b:1", copies=3)


def nested(name: str, spec: Object) -> Object:
    return {"apiVersion": f"example.com/{name}", "kind": "Nest", "metadata": {"name": "n"}, "spec": spec}


def without_colours(obj: Object) -> Object:
    spec = {key: value for key, value in obj["spec"].items() if key != "items"}
    if "box" in spec:
        spec["box"] = {key: value for key, value in spec["box"].items() if key != "colour"}
    if "items" in obj["spec"]:
        spec["items"] = [{"name": each["name"]} for each in obj["spec"]["items"]]
    return {**obj, "spec": spec}


NESTS = CustomResource(
    "example.com",
    "Nest",
    "nests",
    versions=(
        Version("v2", ModelCache),
        Version("v1", ModelCache, conversion=Spoke(lambda obj: obj, without_colours)),
        Version("v1beta1", ModelCache, conversion=Spoke(lambda obj: obj, without_colours)),
    ),
)


def test_a_part_that_was_taken_away_does_not_come_back() -> None:
    made = NESTS.convert(nested("v2", {"box": {"size": 1, "colour": "red"}}), "example.com/v1")
    assert made["spec"] == {"box": {"size": 1}}
    kept = NESTS.convert({**made, "spec": {"box": {"size": 2}}}, "example.com/v2")
    assert kept["spec"] == {"box": {"size": 2, "colour": "red"}}
    gone = NESTS.convert({**made, "spec": {}}, "example.com/v2")
    assert gone == nested("v2", {})


def test_items_of_a_list_come_back_only_while_the_list_is_what_it_was() -> None:
    items = [{"name": "a", "colour": "red"}, {"name": "b", "colour": "blue"}]
    made = NESTS.convert(nested("v2", {"items": items}), "example.com/v1")
    assert NESTS.convert(made, "example.com/v2") == nested("v2", {"items": items})
    shorter = NESTS.convert({**made, "spec": {"items": [{"name": "b"}]}}, "example.com/v2")
    # The colour of a must not become that of b.
    assert shorter["spec"] == {"items": [{"name": "b"}]}


def test_two_spokes_meet_in_the_hub() -> None:
    full = nested("v2", {"box": {"size": 1, "colour": "red"}})
    one = NESTS.convert(full, "example.com/v1")
    other = NESTS.convert(one, "example.com/v1beta1")
    assert other["apiVersion"] == "example.com/v1beta1"
    assert NESTS.convert(other, "example.com/v2") == full


@pytest.mark.parametrize(
    "text", ["", "no JSON", "{}", '[{"path": []}]', '[{"path": ["metadata", "name"], "kept": "x"}]']
)
def test_an_annotation_that_somebody_else_wrote_changes_nothing(text: str) -> None:
    obj = cache(OLD, image="r/a", copies=1)
    obj["metadata"]["annotations"] = {KEPT: text, "other": "stays"}
    made = new(obj)
    assert made["spec"] == {"source": {"repository": "r/a"}, "replicas": 1}
    assert made["metadata"] == {"name": "m", "uid": "u", "annotations": {"other": "stays"}}


def test_true_is_not_one() -> None:
    def counted(obj: Object) -> Object:
        return {**obj, "spec": {"on": int(obj["spec"]["on"])}}

    resource = CustomResource(
        "example.com",
        "Nest",
        "nests",
        versions=(
            Version("v2", ModelCache),
            Version("v1", ModelCache, conversion=Spoke(lambda obj: obj, counted)),
        ),
    )
    made = resource.convert(nested("v2", {"on": True}), "example.com/v1")
    assert made["spec"]["on"] == 1
    assert resource.convert(made, "example.com/v2")["spec"]["on"] is True


def test_the_test_that_comes_with_a_declaration_passes() -> None:
    assert conversions_round_trip(MODEL_CACHES) == 2
    assert conversions_round_trip(GADGET_RESOURCE) == 2


@pytest.fixture
def no_shrinking() -> Iterator[None]:
    """Finds failures without looking for the smallest ones, which takes most of the time."""
    before = settings.get_current_profile_name()
    settings.register_profile("no shrinking", settings(), phases=(Phase.generate,))
    settings.load_profile("no shrinking")
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("no_shrinking")
def test_the_test_that_comes_with_a_declaration_can_fail() -> None:
    def broken(spoke: Spoke) -> CustomResource:
        versions = (Version("v1", ModelCache), Version("v1alpha1", OldModelCache, conversion=spoke))
        return CustomResource("example.com", "ModelCache", "modelcaches", versions)

    def careless(obj: Object) -> Object:
        obj["spec"]["source"]["tag"] = "latest"
        return from_hub(obj)

    def unpruned(obj: Object) -> Object:
        return {**from_hub(obj), "notes": "x"}

    def invalid(obj: Object) -> Object:
        made = from_hub(obj)
        return {**made, "spec": {**made["spec"], "image": "Not An Image"}}

    def demanding(obj: Object) -> Object:
        return to_hub(obj) if obj["spec"]["image"] else obj

    with pytest.raises(KeyError, match=r"spec|image"):
        conversions_round_trip(broken(Spoke(demanding, from_hub)))
    for spoke, sentence in (
        (Spoke(to_hub, careless), "changed what it was given"),
        (Spoke(to_hub, unpruned), "makes fields that v1alpha1 does not have"),
        (Spoke(to_hub, invalid), "makes what is invalid in v1alpha1"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            conversions_round_trip(broken(spoke))


def test_the_definition_is_closed_until_somebody_converts() -> None:
    conversion = definition(MODEL_CACHES)["spec"]["conversion"]
    assert conversion["strategy"] == "Webhook"
    stored = [version["name"] for version in definition(MODEL_CACHES)["spec"]["versions"] if version["storage"]]
    assert stored == ["v1"]


def test_the_runtime_serves_what_is_declared() -> None:
    made = Conversion.of(MODEL_CACHES)
    assert made.definition == "modelcaches.example.com"
    assert made.convert(cache(OLD, image="r/a", copies=1), V1) == cache(source={"repository": "r/a"}, replicas=1)


SPOKE = Spoke(to_hub, from_hub)


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ((), "has the versions"),
        ((Version("v1", ModelCache), Version("v1", ModelCache)), "each once"),
        ((Version("v1", ModelCache, conversion=SPOKE),), "exactly one version is the hub"),
        (
            (Version("v3", ModelCache), Version("v2", ModelCache), Version("v1", OldModelCache, conversion=SPOKE)),
            r"has the hubs \['v3', 'v2'\]; exactly one version is the hub",
        ),
        ((Version("v1", ModelCache, storage=True), Version("v2", ModelCache, storage=True)), "storage=True of one"),
    ],
)
def test_versions_that_do_not_fit_together_are_refused(versions: tuple[Version, ...], sentence: str) -> None:
    with pytest.raises(MooringError, match=sentence):
        CustomResource("example.com", "ModelCache", "modelcaches", versions)


def test_a_version_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(MooringError, match=r"ModelCache has no version example\.com/v9; it has example\.com/v1, "):
        MODEL_CACHES.convert(FULL, "example.com/v9")
