"""Drawn patches of all three kinds: the document after each, or why it cannot be applied."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any, Final

from mooring.kube.patches import PatchError, json_patch, merge_diff, merge_patch, strategic_merge_patch
from mooring.kube.patches.equality import same
from mooring.kube.schemas import builtin_schema
from tests.support.golden import same_as_recorded

_VALUES: Final[tuple[Any, ...]] = (
    None,
    0,
    1,
    1.0,
    True,
    False,
    "a",
    "b",
    "",
    [],
    [1],
    ["a", None],
    {},
    {"a": 1},
    {"a": None, "b": [{"c": None}]},
)
_PATHS: Final = (
    *(
        "",
        "/",
        "/a",
        "/b",
        "/b/c",
        "/b/c/d",
        "/l",
        "/l/0",
        "/l/1",
        "/l/2",
        "/l/-",
        "/l/-1",
        "/l/-3",
        "/l/-4",
        "/l/3",
        "/l/4",
    ),
    *(
        "/l/x",
        "/l/01",
        "/l/+1",
        "/l/1/z",
        "/x~1y",
        "/m~0n",
        "/~2",
        "a",
        "/l/9999999999999999999",
        "/b/",
        "/n/a",
        "/l/0/0",
    ),
    *("/l/1234567890123456789", "/l/123456789012345678", "/" + "a/" * 201),
)
_NO_PATCHES: Final[tuple[Any, ...]] = (None, [], "x", 1)
_OPS: Final = ("add", "remove", "replace", "move", "copy", "test")
_ODD: Final[tuple[Any, ...]] = (
    None,
    1,
    "x",
    {},
    {"op": "odd", "path": "/a"},
    {"op": 1},
    {"op": "add", "path": 1},
    {"op": "test"},
    {"op": "move", "from": {}},
)
_DOCUMENT: Final = {
    "a": 1,
    "b": {"c": {"d": [1, 2]}},
    "l": [1, {"z": 2}, [3]],
    "x/y": "slash",
    "m~n": "tilde",
    "n": None,
    "": "empty",
}


def _told(document: Any, patch: Any, function: Any, *more: Any) -> str:
    before, given = json.dumps([document, patch]), copy.deepcopy(patch)
    try:
        found = json.dumps(function(document, given, *more))
    except PatchError as error:
        found = f"! {error.code} {error}"
    assert json.dumps([document, given]) == before, "neither document nor patch is changed"
    return found


def test_drawn_operations_do_what_they_did() -> None:
    draw, said = Random(1), {}
    cases: list[Any] = [
        [{"op": op, "path": path, "value": value}]
        for op in ("add", "remove", "replace", "test")
        for path in _PATHS
        for value in ("new", 1)
    ]
    cases += [
        [{"op": op, "from": source, "path": path}]
        for op in ("move", "copy")
        for source in _PATHS[:20]
        for path in _PATHS[::3]
    ]
    cases += [None, 1, "x", {}, [], *([each] for each in _ODD)]
    for _ in range(350):
        made = []
        for _ in range(draw.randint(1, 4)):
            each = {
                "op": draw.choice(_OPS),
                "path": draw.choice(_PATHS),
                "from": draw.choice(_PATHS),
                "value": draw.choice(_VALUES),
            }
            if draw.random() < 0.1:
                del each[draw.choice([*each])]
            made.append(each)
        cases.append(made)
    for number, operations in enumerate(cases):
        said[f"{number} {json.dumps(operations)[:300]}"] = _told(_DOCUMENT, operations, json_patch)
    for path, document in (("", [1, 2]), ("/0", [1, 2]), ("/a", "text"), ("", {}), ("/-", [])):
        for op in ("add", "remove", "replace", "test"):
            said[f"{document} {op} {path}"] = _told(document, [{"op": op, "path": path, "value": [1, 2]}], json_patch)
    said["replace with text"] = _told({}, [{"op": "replace", "path": "", "value": "x"}], json_patch)
    same_as_recorded("kube-json-patches", said)


def test_operations_may_cost_only_so_much() -> None:
    assert json_patch({}, [{"op": "add", "path": "/a", "value": 1}] * 10_000) == {"a": 1}
    assert _told({}, [{"op": "add", "path": "/a", "value": 1}] * 10_001, json_patch) == (
        "! 413 The allowed maximum operations in a JSON patch is 10000, got 10001"
    )
    large = {"a": "x" * (1024 * 1024 - 2)}
    copies = [{"op": "copy", "from": "/a", "path": f"/b{number}"} for number in range(4)]
    assert len(json_patch(large, copies[:3])) == 4
    assert _told(large, copies, json_patch).startswith(
        "! 422 Unable to complete the copy, the accumulated size increase of copy is 4194304, "
    )
    nest = [{"op": "copy", "from": "", "path": "/a"}] * 3
    assert _told({"a": 1}, nest, json_patch).startswith("!")
    deep = json.loads('{"a":' * 199 + "{}" + "}" * 199)
    path = "/a" * 199
    assert json_patch(deep, [{"op": "add", "path": f"{path}/b", "value": 1}])
    assert _told(deep, [{"op": "add", "path": f"{path}/b", "value": {}}], json_patch).startswith(
        "! 400 exceeded max depth"
    )


def _drawn(draw: Random, depth: int = 0) -> Any:
    roll = draw.random()
    if depth < 3 and roll < 0.45:
        return {key: _drawn(draw, depth + 1) for key in draw.sample("abcd", draw.randrange(4))}
    if depth < 3 and roll < 0.6:
        return [_drawn(draw, depth + 1) for _ in range(draw.randrange(3))]
    return draw.choice(_VALUES)


def test_drawn_merge_patches_do_what_they_did() -> None:
    draw, said = Random(2), {}
    for number in range(500):
        document, patch = ({key: _drawn(draw, 1) for key in draw.sample("abcd", draw.randrange(5))} for _ in range(2))
        said[f"{number} {json.dumps([document, patch])}"] = _told(document, patch, merge_patch)
        said[f"{number} diff"] = json.dumps(merge_diff(document, patch))
    for odd in _NO_PATCHES:
        said[f"odd {odd}"] = _told({"a": 1}, odd, merge_patch)
    unchanged = {"a": {"b": [1]}, "c": None}
    assert merge_patch(unchanged, {"a": {"b": [1]}, "z": None}) is unchanged
    for left in _VALUES:
        for right in _VALUES:
            assert same(left, right) is (json.dumps(left) == json.dumps(right)), (left, right)
    same_as_recorded("kube-merge-patches", said)


_PORTS: Final = [
    {"containerPort": port, "protocol": protocol, "name": f"p{port}"}
    for port in (80, 81)
    for protocol in ("TCP", "UDP")
]
_DIRECTIVES: Final[tuple[dict[str, Any], ...]] = (
    *({"$patch": each} for each in ("replace", "delete", "merge", "odd", None, 1)),
    *({"$patch": each, "name": "a"} for each in ("replace", "delete", "merge", "odd")),
)


def _pod(draw: Random, *, patch: bool) -> dict[str, Any]:
    def container(name: str) -> dict[str, Any]:
        made: dict[str, Any] = {"name": name, "image": draw.choice("xyz")}
        if draw.random() < 0.4:
            made["ports"] = [copy.deepcopy(each) for each in draw.sample(_PORTS, draw.randrange(4))]
        if draw.random() < 0.3:
            made["env"] = [{"name": each, "value": draw.choice("12")} for each in draw.sample("EFG", draw.randrange(4))]
        if draw.random() < 0.2:
            made["args"] = draw.choice((["1"], ["1", "2"], []))
        if patch and draw.random() < 0.1:
            made[draw.choice([*made])] = draw.choice((None, "odd", 1, [], {}))
        return made

    spec: dict[str, Any] = {"containers": [container(name) for name in draw.sample("abcd", draw.randrange(4))]}
    options: dict[str, tuple[Any, ...]] = {
        "nodeSelector": ({"a": "1"}, {"a": "2", "b": "3"}, {}, None),
        "tolerations": ([{"key": "a"}], [{"key": "b"}, {"key": "a"}], []),
        "volumes": ([{"name": "v", "emptyDir": {}}], [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w"}]),
        "imagePullSecrets": ([{"name": "s"}], [{"name": "t"}, {"name": "s"}]),
        "hostAliases": ([{"ip": "1"}], [{"ip": "2", "hostnames": ["h"]}]),
        "activeDeadlineSeconds": (1, 1.0, 2),
    }
    spec |= {name: copy.deepcopy(draw.choice(values)) for name, values in options.items() if draw.random() < 0.3}
    metadata: dict[str, Any] = {"finalizers": draw.sample(["x", "y", "z"], draw.randrange(4))}
    if draw.random() < 0.4:
        metadata["labels"] = draw.choice(({"l": "1"}, {"l": None, "m": "2"}, {})) if patch else {"l": "0"}
    made = {"metadata": metadata, "spec": spec}
    if patch:
        _direct(draw, made)
    return made


def _direct(draw: Random, made: dict[str, Any]) -> None:
    """Puts directives into a patch, right ones and wrong ones."""
    spec, metadata, chance = made["spec"], made["metadata"], draw.random
    named = [{"name": each} for each in draw.sample("abcd", draw.randrange(5))]
    if chance() < 0.2:
        spec["containers"].insert(draw.randrange(len(spec["containers"]) + 1), copy.deepcopy(draw.choice(_DIRECTIVES)))
    if chance() < 0.2:
        spec["$setElementOrder/containers"] = draw.choice(
            (named, named, named, "odd", [1], [{"image": "x"}], [{"name": True}])
        )
    if chance() < 0.2:
        metadata["$deleteFromPrimitiveList/finalizers"] = draw.choice((["x"], ["y", "z"], [], "x", [1]))
    if chance() < 0.2:
        metadata["$setElementOrder/finalizers"] = draw.choice(
            (["z", "y", "x"], ["x"], [], ["x", "x"], [{"a": 1}], None)
        )
    if chance() < 0.2:
        spec["$retainKeys"] = draw.choice((["containers"], [*spec], [], "odd", ["containers", "volumes"]))
    if chance() < 0.1:
        spec[draw.choice(("$setElementOrder", "$deleteFromPrimitiveList", "$setElementOrderx/containers", "$odd"))] = []
    if chance() < 0.1:
        metadata["labels"] = draw.choice(
            ({"$patch": "replace", "n": "1"}, {"$patch": "delete"}, {"$patch": "odd"}, {"$retainKeys": ["l"], "l": "5"})
        )
    if chance() < 0.05:
        del spec["containers"]
    if chance() < 0.05:
        spec["containers"] = draw.choice(
            ([1], ["a"], [{}], "odd", None, [{"name": "a"}, 1], [{"image": "x"}], {"$patch": "replace"})
        )
    if chance() < 0.05:
        spec.update(draw.choice(({"$patch": "replace"}, {"$patch": "delete"}, {"$patch": ["x"]})))


def test_drawn_strategic_patches_do_what_they_did() -> None:
    draw, said, schema = Random(3), {}, builtin_schema("v1", "Pod")
    for number in range(900):
        document, patch = _pod(draw, patch=False), _pod(draw, patch=True)
        if draw.random() < 0.05:
            document["spec"]["containers"] = draw.choice(
                ([1], ["a", {"name": "b"}], [{"image": "x"}], [{"name": "a"}, {"name": "a", "image": "z"}])
            )
        said[f"{number} {json.dumps([document, patch])}"] = _told(document, patch, strategic_merge_patch, schema)
    for odd in _NO_PATCHES:
        said[f"odd {odd}"] = _told({"a": 1}, odd, strategic_merge_patch, schema)
    refused = sum(each.startswith("!") for each in said.values())
    assert 100 < refused < 500, refused
    same_as_recorded("kube-strategic-patches", said)
