"""What comes out of a protobuf body is what the same Go object would have been as JSON."""

from typing import Any

import pytest

from mooring.apiserver.protobuf import decode
from mooring.apiserver.protobuf.tables import message_of
from mooring.kube.objects import Object
from mooring.registry.resources import Resource, builtin_resources
from tests.apiserver.protobuf.encoder import body, field, message, varint

# What Go sends of metadata in which only a name is set: empty texts, a zero generation and an empty time.
NAMED = message((1, "web"), (2, ""), (3, ""), (4, ""), (5, ""), (6, ""), (7, 0), (8, b""))


def read(api_version: str, kind: str, *fields: tuple[int, bytes | str | int | float]) -> Object:
    found = decode(body(api_version, kind, message(*fields)))
    assert (found.pop("apiVersion"), found.pop("kind")) == (api_version, kind)
    return found


def config_map(*fields: tuple[int, bytes | str | int | float]) -> Object:
    found = read("v1", "ConfigMap", (1, NAMED), *fields)
    assert found.pop("metadata") == {"name": "web"}
    return found


def schema(*fields: tuple[int, bytes | str | int | float]) -> Any:
    """The schema of a definition that has nothing else."""
    validation = message((1, message(*fields)))
    version = message((1, "v1"), (2, 1), (3, 1), (4, validation))
    found = read("apiextensions.k8s.io/v1", "CustomResourceDefinition", (2, message((7, version))))
    return found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


@pytest.mark.parametrize("resource", builtin_resources(), ids=str)
def test_every_built_in_kind_and_its_list_can_be_sent(resource: Resource) -> None:
    assert message_of(resource.api_version, resource.kind) is not None
    assert message_of(resource.api_version, resource.list_kind) is not None


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "Binding"),
        ("policy/v1", "Eviction"),
        ("autoscaling/v1", "Scale"),
        ("authentication.k8s.io/v1", "TokenRequest"),
        ("authentication.k8s.io/v1", "TokenReview"),
        ("authentication.k8s.io/v1", "SelfSubjectReview"),
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview"),
        ("authorization.k8s.io/v1", "SubjectAccessReview"),
        ("authorization.k8s.io/v1", "LocalSubjectAccessReview"),
        ("v1", "Status"),
        ("meta.k8s.io/v1", "PartialObjectMetadata"),
    ],
)
def test_what_is_sent_without_being_a_resource_is_known_too(api_version: str, kind: str) -> None:
    assert message_of(api_version, kind) is not None


def test_delete_options_come_in_the_name_of_any_group() -> None:
    for version in ("v1", "meta.k8s.io/v1", "apps/v1", "example.com/v1alpha1"):
        found = read(version, "DeleteOptions", (1, 0), (2, message((1, "some-uid"))), (4, "Background"), (5, "All"))
        assert found == {
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": "some-uid"},
            "propagationPolicy": "Background",
            "dryRun": ["All"],
        }


def test_a_pod_as_kubectl_run_sends_it() -> None:
    resources = message((1, message((1, "cpu"), (2, message((1, "250m"))))))
    request = message((1, "/ready"), (2, message((1, 1), (2, 0), (3, "http"))))
    probe = message((1, message((2, request))), (2, 5), (3, 0))
    container = message(
        *((1, "main"), (2, "nginx"), (3, "serve"), (4, "-v"), (4, ""), (5, ""), (8, resources), (11, probe)),
        *((13, ""), (14, ""), (16, 0), (17, 0), (18, 0), (20, "")),
    )
    toleration = message((1, "gpu"), (2, "Exists"), (3, ""), (4, ""), (5, 300))
    security = message((2, 1000), (4, 1), (4, 2), (5, 0))
    spec = message(
        *((2, container), (3, "Never"), (4, 0), (6, ""), (7, message((1, "zone"), (2, "a")))),
        *((11, 0), (14, security), (22, toleration)),
    )

    found = read("v1", "Pod", (1, NAMED), (2, spec), (3, message((1, ""), (3, ""))))

    assert found == {
        "metadata": {"name": "web"},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "nginx",
                    "command": ["serve"],
                    "args": ["-v", ""],
                    "resources": {"limits": {"cpu": "250m"}},
                    "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "initialDelaySeconds": 5},
                }
            ],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "nodeSelector": {"zone": "a"},
            "securityContext": {"runAsUser": 1000, "supplementalGroups": [1, 2], "fsGroup": 0},
            "tolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 300}],
        },
        "status": {},
    }


def test_an_empty_object_looks_as_go_prints_one() -> None:
    assert read("v1", "Pod") == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    assert read("rbac.authorization.k8s.io/v1", "Role") == {"metadata": {}, "rules": None}
    assert read("scheduling.k8s.io/v1", "PriorityClass") == {"metadata": {}, "value": 0}
    event = read("v1", "Event")
    assert (event["firstTimestamp"], event["eventTime"], event["involvedObject"]) == (None, None, {})
    deployment = read("apps/v1", "Deployment")
    assert deployment["spec"] == {
        "selector": None,
        "template": {"metadata": {}, "spec": {"containers": None}},
        "strategy": {},
    }


def test_fields_of_an_embedded_struct_stand_in_the_one_around_it() -> None:
    volume = message((1, "cache"), (2, message((2, message((1, "Memory"))))))
    found = read("v1", "Pod", (2, message((1, volume))))
    assert found["spec"]["volumes"] == [{"name": "cache", "emptyDir": {"medium": "Memory"}}]

    unnamed = read("v1", "Pod", (2, message((34, b""))))
    assert unnamed["spec"]["ephemeralContainers"] == [{"name": "", "resources": {}}]


def test_bytes_are_base64_and_maps_keep_empty_values() -> None:
    data = message((1, "key"), (2, b"\x00\xff"))
    assert config_map((3, data), (2, message((1, "empty"))), (3, message((1, "none")))) == {
        "data": {"empty": ""},
        "binaryData": {"key": "AP8=", "none": ""},
    }


def test_times_are_whole_seconds_and_micro_times_are_not() -> None:
    lease = read(
        "coordination.k8s.io/v1",
        "Lease",
        (1, message((8, message((1, 1_700_000_000), (2, 999_999_999))))),
        (2, message((2, 0), (3, message((1, 1_700_000_000), (2, 123_456_789))), (4, message((1, -1), (2, 0))))),
    )
    assert lease["metadata"]["creationTimestamp"] == "2023-11-14T22:13:20Z"
    assert lease["spec"] == {
        "leaseDurationSeconds": 0,
        "acquireTime": "2023-11-14T22:13:20.123456Z",
        "renewTime": "1969-12-31T23:59:59.000000Z",
    }


def test_the_zero_time_is_null_or_left_out() -> None:
    zero = message((1, -62135596800))
    assert read("v1", "ConfigMap", (1, message((8, zero)))) == {"metadata": {}}
    assert read("v1", "Event", (1, b""), (6, zero))["firstTimestamp"] is None


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (5, 5), (-5, -5), (2**31 - 1, 2**31 - 1), (-(2**31), -(2**31)), (2**32 - 1, -1)],
)
def test_integers_of_32_bits_have_a_sign(value: int, number: int) -> None:
    assert read("scheduling.k8s.io/v1", "PriorityClass", (2, value))["value"] == number


def test_integers_of_64_bits_have_a_sign() -> None:
    assert read("apps/v1", "ControllerRevision", (3, -(2**63)))["revision"] == -(2**63)
    assert read("apps/v1", "ControllerRevision", (3, 2**63 - 1))["revision"] == 2**63 - 1


def test_numbers_may_be_packed_into_one_field() -> None:
    packed = varint(1) + varint(2**40) + varint(-3)
    found = read("v1", "Pod", (2, message((14, message((4, packed), (4, 7))))))
    assert found["spec"]["securityContext"]["supplementalGroups"] == [1, 2**40, -3, 7]


def test_a_number_that_may_be_text() -> None:
    def ports(value: bytes) -> Any:
        return read("v1", "Service", (2, message((1, message((3, 80), (4, value))))))["spec"]["ports"]

    assert ports(message((1, 0), (2, 8080), (3, ""))) == [{"port": 80, "targetPort": 8080}]
    assert ports(message((1, 1), (2, 0), (3, "http"))) == [{"port": 80, "targetPort": "http"}]
    assert ports(b"") == [{"port": 80, "targetPort": 0}]


def test_lists_in_a_message_of_their_own_are_plain_lists() -> None:
    extra = message((1, "scopes"), (2, message((1, "a"), (1, "b"))))
    found = read("authorization.k8s.io/v1", "SubjectAccessReview", (2, message((3, "me"), (5, extra))))
    assert found["spec"] == {"user": "me", "extra": {"scopes": ["a", "b"]}}


def test_json_inside_protobuf_is_json() -> None:
    found = read("apps/v1", "ControllerRevision", (2, message((1, b'{"spec":{"a":[1,null]}}'))), (3, 4))
    assert found == {"metadata": {}, "data": {"spec": {"a": [1, None]}}, "revision": 4}
    entry = message((1, "me"), (2, "Apply"), (3, "v1"), (6, "FieldsV1"), (7, message((1, b'{"f:data":{}}'))))
    managed = read("v1", "ConfigMap", (1, message((17, entry))))
    assert managed["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {}}


def test_schemas_and_the_choices_in_them() -> None:
    text = message((5, "string"), (2, ""), (10, 0))
    found = schema(
        *((5, "object"), (2, "http://x"), (3, "#/a"), (8, message((1, b"[1]"))), (9, 10.0), (11, 0.5), (19, 1e22)),
        *((13, 0), (20, message((1, b'"a"'))), (20, message((1, b"null"))), (23, "name"), (40, 1)),
        *((24, message((1, text))), (30, message((1, 1))), (33, message((1, 0), (2, text)))),
        *((29, message((1, "name"), (2, text))), (29, message((1, "any"), (2, b"")))),
        *((32, message((1, "a"), (2, message((2, "b"))))), (32, message((1, "c"), (2, message((1, text)))))),
    )
    assert found == {
        "type": "object",
        "$schema": "http://x",
        "$ref": "#/a",
        "default": [1],
        "maximum": 10,
        "minimum": 0.5,
        "multipleOf": 1e22,
        "maxLength": 0,
        "enum": ["a", None],
        "required": ["name"],
        "x-kubernetes-int-or-string": True,
        "items": {"type": "string"},
        "additionalProperties": True,
        "additionalItems": {"type": "string"},
        "properties": {"name": {"type": "string"}, "any": {}},
        "dependencies": {"a": ["b"], "c": {"type": "string"}},
    }
    assert schema((24, message((2, text), (2, b"")))) == {"items": [{"type": "string"}, {}]}
    assert schema((30, message((1, 0)))) == {"additionalProperties": False}
    assert schema((30, b"")) == {"additionalProperties": False}


def test_fields_from_a_newer_version_are_skipped() -> None:
    group = varint(900 << 3 | 3) + field(1, "in") + varint(901 << 3 | 3) + varint(901 << 3 | 4) + varint(900 << 3 | 4)
    fixed = varint(903 << 3 | 5) + b"abcd"
    raw = message((1, NAMED), (900, "text"), (901, 7), (902, 1.5)) + group + fixed + field(4, 1)
    assert decode(body("v1", "ConfigMap", raw)) == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "web"},
        "immutable": True,
    }


def test_what_is_sent_twice_is_merged_or_replaced() -> None:
    again = message((1, message((3, "ns"))), (1, message((1, ""))))
    found = decode(body("v1", "ConfigMap", message((1, NAMED)) + again))
    assert found["metadata"] == {"namespace": "ns"}
