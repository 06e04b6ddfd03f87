"""Values of v1beta1 in the form of v1beta2 and back, at their bounds and beyond; and whole objects, as recorded."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from mooring.api.crds.resource import CustomResource, definition
from mooring.features.machines.api.parts import ContractReference
from mooring.features.machines.api.resources import RESOURCES
from mooring.features.machines.api.v1beta1 import forms
from mooring.kube.errors import MooringError
from tests.features.drawn import Change, sample_of, values_below, with_changes
from tests.support.golden import same_as_recorded

DOMAIN = {"controlPlane": True, "attributes": {"a": "b"}}
REFERENCE = {"kind": "K", "name": "n"}
MANY = {f"d{number:03}": DOMAIN for number in range(100)}

CASES: list[tuple[Any, Any, Any]] = [
    (forms.container, {"a": 1}, {}),
    (forms.container, {}, {}),
    (forms.container, [], None),
    (forms.container, None, None),
    (forms.filled, [1], [1]),
    (forms.filled, [], None),
    (forms.filled, "", None),
    (forms.filled, "x", "x"),
    *((forms.between(1, 5), number, number if 1 <= number <= 5 else None) for number in (-1, 0, 1, 5, 6)),
    (forms.between(1, 5), "2", None),
    (forms.other_than("Updating"), "Updating", None),
    (forms.other_than("Updating"), "Running", "Running"),
    (forms.reference_to_group, {**REFERENCE, "apiVersion": "g.io/v1"}, {**REFERENCE, "apiGroup": "g.io"}),
    (forms.reference_to_group, {**REFERENCE, "apiVersion": "v1", "namespace": "x"}, {**REFERENCE, "apiGroup": "v1"}),
    (forms.reference_to_group, {"name": "n", "apiVersion": 1}, {"name": "n"}),
    (forms.reference_to_group, {"kind": "K"}, {"kind": "K"}),
    (forms.reference_to_group, {"uid": "u"}, None),
    (forms.reference_to_group, {}, None),
    (forms.reference_to_group, "x", None),
    (forms.reference_to_version, {**REFERENCE, "apiGroup": "g.io"}, {**REFERENCE, "apiVersion": "g.io/v1beta1"}),
    (forms.reference_to_version, {**REFERENCE, "apiGroup": "g.io/v2"}, {**REFERENCE, "apiVersion": "g.io/v2"}),
    (forms.reference_to_version, {**REFERENCE, "apiVersion": "g.io/v3"}, {**REFERENCE, "apiVersion": "g.io/v3"}),
    (
        forms.reference_to_version,
        {**REFERENCE, "apiGroup": "g.io", "apiVersion": "h.io/v3"},
        {**REFERENCE, "apiVersion": "g.io/v1beta1"},
    ),
    (forms.reference_to_version, {"kind": "K", "apiGroup": 1}, {"kind": "K"}),
    (forms.reference_to_version, {}, None),
    (forms.reference_to_version, None, None),
    (forms.node_to_name, {"name": "a.b-c", "kind": "Node"}, {"name": "a.b-c"}),
    (forms.node_to_name, {"name": "a" * 253}, {"name": "a" * 253}),
    (forms.node_to_name, {"name": "a" * 254}, None),
    (forms.node_to_name, {"name": "A"}, None),
    (forms.node_to_name, {"name": ""}, None),
    (forms.node_to_name, {"name": 1}, None),
    (forms.node_to_name, {}, None),
    (forms.node_to_name, "a", None),
    (forms.node_to_reference, {"name": "a"}, {"apiVersion": "v1", "kind": "Node", "name": "a"}),
    (forms.node_to_reference, {}, None),
    (forms.node_to_reference, "a", None),
    *(
        (forms.text_to_seconds, text, seconds)
        for text, seconds in (
            ("0s", 0), ("1s", 1), ("90s", 90), ("1m", 60), ("1m30s", 90), ("1h", 3600), ("2h3m4s", 7384),
            ("1h4s", 3604),             ("2147483647s", 2147483647), ("2147483648s", None),
            ("596523h14m7s", 2147483647), ("596523h14m8s", None),
            ("", None), ("250ms", None), ("1.5s", None), ("-1s", None), ("1s1m", None), ("x", None), (5, None),
            (None, None), ("1234567h", None), ("12345678901s", None),
        )
    ),
    *(
        (forms.seconds_to_text, seconds, text)
        for seconds, text in (
            (0, "0s"), (1, "1s"), (59, "59s"), (60, "1m0s"), (90, "1m30s"), (3599, "59m59s"), (3600, "1h0m0s"),
            (7384, "2h3m4s"), (2147483647, "596523h14m7s"), (-1, None), ("5", None), (None, None),
        )
    ),
    (forms.domains_to_list, {"b": None, "a": DOMAIN}, [{**DOMAIN, "name": "a"}, {"name": "b"}]),
    (forms.domains_to_list, {"x" * 256: {}}, [{"name": "x" * 256}]),
    (forms.domains_to_list, {"x" * 257: {}}, None),
    (forms.domains_to_list, {"a": {}, "": {}}, None),
    (forms.domains_to_list, {}, None),
    (forms.domains_to_list, [], None),
    (forms.domains_to_list, MANY, [{**DOMAIN, "name": name} for name in MANY]),
    (forms.domains_to_list, {**MANY, "x": {}}, None),
    (forms.domains_to_map, [{**DOMAIN, "name": "a"}, {"name": "b"}, {"a": 1}, "c"], {"a": DOMAIN, "b": {}}),
    (forms.domains_to_map, [], {}),
    (forms.domains_to_map, {}, None),
]  # fmt: skip


def test_every_value_has_the_form_of_the_other_version_or_none() -> None:
    for form, value, wanted in CASES:
        assert form(value) == wanted, (form, value)


@pytest.mark.parametrize(
    ("reference", "group"),
    [
        (ContractReference(api_group="g.io"), "g.io"),
        (ContractReference(api_group="g.io/v1"), "g.io"),
        (ContractReference(api_version="g.io/v1"), "g.io"),
        (ContractReference(api_group="g.io", api_version="h.io/v1"), "g.io"),
        (ContractReference(), ""),
    ],
)
def test_a_reference_has_a_group_in_whichever_way_it_is_written(reference: ContractReference, group: str) -> None:
    assert reference.group == group
    assert reference.group_kind == (group, "")
    assert not reference


# What a schema does not say of its texts.
TEXTS = ("1m30s", "250ms", "g.io/v1", "n")


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.plural)
def test_altered_objects_become_those_of_the_other_version_as_recorded(resource: CustomResource) -> None:
    found = {}
    for version in resource.versions:
        dice = Random(f"{resource.kind}/{version.name}")
        (wanted,) = (resource.api_version(each) for each in resource.versions if each is not version)
        openapi = version_schema_of(resource, version.name)
        given = resource.api_version(version)
        whole = {**sample_of(openapi), "apiVersion": given, "kind": resource.kind, "metadata": {"name": "n"}}
        changes = [*values_below(whole, openapi, dice)]
        picked = dice.sample(changes, min(len(changes), 120))
        for each in [*picked, *(Change(change.path, dice.choice(TEXTS)) for change in picked[::4])]:
            try:
                made = resource.convert(with_changes(whole, [each]), wanted)
                said = json.dumps(made, sort_keys=True, indent=0)
            except (MooringError, TypeError, AttributeError) as error:
                said = f"{type(error).__name__}: {error}"
            found[f"{version.name} {each}"] = said
    same_as_recorded(f"machines-conversions-{resource.plural}", found)


def version_schema_of(resource: CustomResource, version: str) -> Any:
    (found,) = (each for each in definition(resource)["spec"]["versions"] if each["name"] == version)
    return found["schema"]["openAPIV3Schema"]
