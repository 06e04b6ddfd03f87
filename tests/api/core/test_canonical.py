"""One spelling of each thing. What a revision of a real set comes to is held against upstream's in tests/groups."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.core.canonical import canonical_form
from mooring.kube.objects import Object


def pod(**spec: Any) -> Object:
    return {"spec": {"containers": [{"name": "a"}], **spec}}


BARE: Object = {"metadata": {}, "spec": {"containers": [{"name": "a", "resources": {}}]}}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (pod(), BARE),
        (pod(hostNetwork=False, nodeSelector={}, volumes=[], hostname="", affinity=None), BARE),
        (pod(terminationGracePeriodSeconds=0)["spec"], {**BARE["spec"], "terminationGracePeriodSeconds": 0}),
        (
            pod(overhead={"cpu": "1000m", "memory": 1024})["spec"],
            {**BARE["spec"], "overhead": {"cpu": "1", "memory": "1024"}},
        ),
    ],
)
def test_what_a_go_client_would_write_is_written(given: Object, made: Object) -> None:
    kind = "PodTemplateSpec" if "spec" in given else "PodSpec"
    assert canonical_form(kind, given) == made
    assert canonical_form(kind, made) == made


def test_what_the_table_does_not_know_stays() -> None:
    given = pod(newer={"a": None}, newest=None)["spec"]
    given["containers"][0]["resources"] = {"limits": {"cpu": "2000m"}, "shares": []}
    made = canonical_form("PodSpec", given)
    assert made["newer"] == {"a": None}
    assert "newest" not in made
    assert made["containers"][0]["resources"] == {"limits": {"cpu": "2"}, "shares": []}


@pytest.mark.parametrize("wrong", [pod(containers=3), pod(hostNetwork="no"), {"spec": []}])
def test_a_value_of_the_wrong_type_is_left_as_it_is(wrong: Object) -> None:
    assert canonical_form("PodTemplateSpec", wrong) is wrong


def test_lists_of_a_type_have_their_form_too() -> None:
    claims = [{"metadata": {"name": "a"}, "spec": {"resources": {"requests": {"storage": "1024Mi"}}}}, None]
    first, second = canonical_form("[PersistentVolumeClaim]", claims)
    assert first["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    assert second == {"metadata": {}, "spec": {"resources": {}}, "status": {}}
