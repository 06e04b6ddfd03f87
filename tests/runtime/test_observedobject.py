"""From the wire to a typed view: the same as from a plain object, smaller, and unmoved by oddities."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.views import Pod
from mooring.api.kinds import Key, Kind
from mooring.kube.objects import Object
from mooring.runtime.dispatcher.observedobject import ObjectReader, Unreadable, version_of

POD: Kind[Pod] = Kind("v1", "Pod", Pod)


def pod(number: int, **spec: Any) -> Object:
    labels = {"app": f"app-{number % 3}"}
    container = {"name": "c", "image": "x", "volumeMounts": [{"name": f"token-{number}", "mountPath": "/t"}]}
    return {
        "metadata": {
            "name": f"p{number}",
            "namespace": "a",
            "uid": f"u{number}",
            "resourceVersion": "7",
            "labels": labels,
        },
        "spec": {"containers": [container], "nodeName": f"n{number % 2}", "tolerations": [{"key": "gpu"}], **spec},
        "status": {"phase": "Running"},
    }


def raw(obj: Object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(obj))


def test_json_gives_the_same_view_as_a_plain_object() -> None:
    from_wire, from_object = ObjectReader(POD), ObjectReader(POD)
    for number in range(20):
        found = from_wire.read(raw(pod(number)))
        assert found == from_object.read(pod(number))
        assert (found.key, found.version) == (Key("a", f"p{number}"), 7)


def test_pods_of_one_template_share_what_they_have_in_common() -> None:
    reader = ObjectReader(POD)
    first, second = reader.read(raw(pod(0))).view, reader.read(raw(pod(6))).view
    assert first.metadata.name != second.metadata.name
    assert first.metadata.labels is second.metadata.labels
    # Though each pod's token volume has a name of its own, which no view reads.
    assert first.spec.containers is second.spec.containers
    assert first.spec.tolerations is second.spec.tolerations
    assert first.spec.node_name is second.spec.node_name


def test_sharing_goes_on_after_the_trial_for_what_repeats() -> None:
    reader = ObjectReader(POD)
    views = [reader.read(raw(pod(number))).view for number in range(5000)]
    assert views[4998].metadata.labels is views[0].metadata.labels
    assert [view.metadata.name for view in views] == [f"p{number}" for number in range(5000)]
    assert all(view == msgspec.convert(pod(number), Pod) for number, view in enumerate(views))


def test_a_null_counts_as_absent() -> None:
    odd = pod(1, tolerations=None, nodeSelector=None)
    odd["status"]["conditions"] = None
    assert ObjectReader(POD).read(raw(odd)).view.spec.tolerations in ((), None)
    assert ObjectReader(POD).read(odd).view == ObjectReader(POD).read(raw(odd)).view


@pytest.mark.parametrize("wrap", [raw, lambda obj: obj], ids=["json", "plain"])
def test_an_object_of_another_shape_is_unreadable(wrap: Any) -> None:
    with pytest.raises(Unreadable, match="v1/Pod cannot be read"):
        ObjectReader(POD).read(wrap({**pod(1), "spec": "none"}))


def test_a_bookmark_has_a_version_and_nothing_else() -> None:
    bookmark = {"kind": "Pod", "metadata": {"resourceVersion": "12"}}
    assert version_of(bookmark) == version_of(raw(bookmark)) == 12
