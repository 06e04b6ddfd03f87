"""The schemas of built-in kinds: what they say, that they are shared, and that they are upstream's."""

from pathlib import Path
from typing import Any

import pytest

from mooring.kube.schemas import (
    ABSENT,
    Schema,
    apply_defaults,
    builtin_kinds,
    builtin_schema,
    empty_object,
    prune,
    validate,
)
from mooring.kube.schemas.builtin import object_meta
from tests.kube.schemas import upstream

DATA = Path(__file__).parents[3] / "src/mooring/kube/schemas/data/builtin.txt"
OPENAPI = Path(__file__).parents[4] / "shared/upstream/openapi/builtin-schemas.json.gz"
# Their types were compared with the document of the release that has them.
GROUPS_BESIDE_THE_DOCUMENT = ("apiregistration.", "flowcontrol.")


def at(schema: Schema, *path: str) -> Schema:
    """The schema at the end of a path of field names; `[]` is an item of a list."""
    for step in path:
        child = schema.items if step == "[]" else schema.properties[step]
        assert child is not None
        schema = child
    return schema


@pytest.fixture
def pod_spec() -> Schema:
    return at(builtin_schema("v1", "Pod"), "spec")


def test_every_kind_can_be_resolved() -> None:
    for api_version, kind in builtin_kinds():
        assert builtin_schema(api_version, kind).name.endswith(f".{kind}")


def test_an_unknown_kind_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        builtin_schema("apps/v1", "Pod")


def test_a_kind_is_resolved_once_and_its_types_are_shared(pod_spec: Schema) -> None:
    deployment = builtin_schema("apps/v1", "Deployment")
    assert builtin_schema("apps/v1", "Deployment") is deployment
    assert at(deployment, "spec", "template", "spec") is pod_spec


def test_a_list_knows_how_its_items_are_told_apart(pod_spec: Schema) -> None:
    ports = at(pod_spec, "containers", "[]", "ports")
    assert (ports.list_type, ports.list_map_keys, ports.key_defaults) == (
        "map",
        ("containerPort", "protocol"),
        (0, "TCP"),
    )
    assert (ports.patch_strategy, ports.patch_merge_key) == (("merge",), "containerPort")


def test_a_list_without_a_mark_is_owned_as_a_whole(pod_spec: Schema) -> None:
    assert at(pod_spec, "tolerations").list_type == "atomic"


def test_a_mark_on_a_field_does_not_mark_its_type() -> None:
    budget = builtin_schema("policy/v1", "PodDisruptionBudget")
    deployment = builtin_schema("apps/v1", "Deployment")
    assert at(budget, "spec", "selector").patch_strategy == ("replace",)
    assert at(deployment, "spec", "selector").patch_strategy == ()
    assert at(deployment, "spec", "selector").struct_type == "atomic"
    assert at(builtin_schema("v1", "PersistentVolume"), "spec", "claimRef").struct_type == "granular"
    assert at(builtin_schema("v1", "Event"), "involvedObject").struct_type == "atomic"


def test_a_type_may_contain_itself() -> None:
    versions = at(builtin_schema("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "spec", "versions", "[]")
    schema = at(versions, "schema", "openAPIV3Schema")
    assert schema.properties["not"] is schema


def test_a_zero_value_is_no_default_but_tells_items_apart(pod_spec: Schema) -> None:
    env = at(pod_spec, "containers", "[]", "env")
    assert at(env, "[]", "name").default is ABSENT
    assert env.key_defaults == ("",)


def test_an_empty_object_has_the_parts_that_are_never_absent() -> None:
    assert empty_object("v1", "Pod") == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    assert empty_object("x.io/v1", "Thing") == {}
    for api_version, kind in builtin_kinds():
        assert validate(builtin_schema(api_version, kind), empty_object(api_version, kind)) == []


@pytest.mark.parametrize(
    ("container", "complaint"),
    [
        pytest.param({"resources": {"limits": {"cpu": "1", "memory": 1.5}}}, None, id="a quantity may be a number"),
        pytest.param(
            {"resources": {"limits": {"cpu": "one"}}},
            'spec.containers[0].resources.limits.cpu: Invalid value: "one": quantities must match the regular '
            "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            id="a string that is no quantity is refused",
        ),
        pytest.param({"livenessProbe": {"httpGet": {"port": "http"}}}, None, id="a port may be a name"),
        pytest.param(
            {"livenessProbe": {"httpGet": {"port": True}}},
            'spec.containers[0].livenessProbe.httpGet.port: Invalid value: "boolean": '
            'spec.containers[0].livenessProbe.httpGet.port in body must be of type integer,string: "boolean"',
            id="but not a boolean",
        ),
        pytest.param({"ports": [{"containerPort": 1}] * 2}, None, id="the code of a kind decides what may repeat"),
        pytest.param({"env": None, "stdin": None}, None, id="null is another way of not setting a field"),
        pytest.param(
            {"ports": [{"containerPort": 2**31}]},
            "spec.containers[0].ports[0].containerPort: Invalid value: 2147483648: "
            'spec.containers[0].ports[0].containerPort in body must be of type int32: "2147483648"',
            id="a number has to fit",
        ),
    ],
)
def test_values_of_special_types(container: dict[str, Any], complaint: str | None) -> None:
    errors = validate(builtin_schema("v1", "Pod"), {"spec": {"containers": [{"name": "a", **container}]}})
    assert [str(error) for error in errors] == ([] if complaint is None else [complaint])


def test_a_time_is_checked_and_a_raw_object_is_not() -> None:
    event = builtin_schema("v1", "Event")
    assert [error.path for error in validate(event, {"firstTimestamp": "yesterday"})] == ["firstTimestamp"]
    revision = {"data": {"any": [{"thing": None}]}, "revision": 1}
    assert prune(builtin_schema("apps/v1", "ControllerRevision"), revision) is revision


def test_bytes_are_a_string_and_nothing_else() -> None:
    assert [
        error.path for error in validate(builtin_schema("v1", "Secret"), {"data": {"a": [], "b": 1, "c": "YQ=="}})
    ] == [
        "data.a",
        "data.b",
    ]


def test_nulls_and_unknown_fields_go_and_defaults_come() -> None:
    schema = builtin_schema("v1", "Pod")
    pod = {"spec": {"hostname": None, "bogus": 1, "containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}}
    stored = apply_defaults(schema, prune(schema, pod))
    assert stored == {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}}


def test_labels_are_strings() -> None:
    assert [str(error) for error in validate(object_meta(), {"labels": {"a": 1}}, "metadata")] == [
        'metadata.labels.a: Invalid value: "integer": metadata.labels.a in body must be of type string: "integer"'
    ]


@pytest.mark.skipif(not OPENAPI.exists(), reason="the OpenAPI document of the release is not at hand")
def test_the_table_is_what_the_release_says() -> None:
    lines = DATA.read_text(encoding="utf-8").splitlines(keepends=True)
    known = "".join(line for line in lines if not line.startswith(GROUPS_BESIDE_THE_DOCUMENT))
    assert known == upstream.encode(upstream.read(OPENAPI))


@pytest.mark.skipif(not OPENAPI.exists(), reason="the OpenAPI document of the release is not at hand")
def test_every_field_of_the_release_is_known() -> None:
    schemas = upstream.read(OPENAPI)["schemas"]
    seen: set[str] = set()

    def walk(name: str, schema: Schema) -> None:
        if name in seen or not schema.properties:
            return
        seen.add(name)
        fields = schemas[name]["properties"]
        assert schema.properties.keys() == fields.keys(), name
        for key, field in fields.items():
            child = schema.properties[key]
            field = field.get("items", field) if "items" in field else field.get("additionalProperties", field)
            child = child.items or child.additional_properties or child
            reference = field.get("$ref") or field.get("allOf", [{}])[0].get("$ref")
            if reference:
                walk(reference.rpartition("/")[2], child)

    for name, source in schemas.items():
        for kind in source.get("x-kubernetes-group-version-kind", [])[:1]:
            version = f"{kind['group']}/{kind['version']}".removeprefix("/")
            walk(name, builtin_schema(version, kind["kind"]))
    assert len(seen) > 450
