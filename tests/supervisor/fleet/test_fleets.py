"""What is read of fleet files, what is wrong with them and on which line, and the rights that they take."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.manifests import ManifestError
from mooring.supervisor.fleet.lines import line_of
from mooring.supervisor.fleet.manifest import DEFAULT_FLEET, check_fleet, read_fleet
from mooring.supervisor.fleet.rights import fleet_rules

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FLEET = """# Two nodes that are simulated, and one that is not.
kind: Node
apiVersion: v1
metadata:
  name: gpu
  uid: old
  resourceVersion: "7"
  creationTimestamp: null
  generation: 3
  selfLink: /x
  managedFields: []
  labels:
    kubernetes.io/hostname: elsewhere
    rack: a
  annotations:
    kwok.x-k8s.io/node: fake
    mooring.dev/replicas: "2"
status:
  capacity:
    cpu: "8"
  addresses:
  - type: InternalIP
    address: 10.0.0.254
  - type: Hostname
    address: other
  - type: ExternalIP
    address: 192.0.2.1
---
---
kind: Node
apiVersion: v1
metadata:
  name: real
status:
  capacity: {cpu: "2"}
  allocatable: {cpu: "1"}
  addresses: [{type: InternalIP, address: odd}]
---
kind: ConfigMap
apiVersion: v1
metadata:
  name: settings
  uid: old
---
kind: Namespace
apiVersion: v1
metadata:
  name: shop
"""


def fleet(folder: Path, text: str) -> Path:
    path = folder / "fleet.yaml"
    path.write_text(text)
    return path


def numbered(number: int) -> Object:
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": f"gpu-{number}",
            "labels": {"kubernetes.io/hostname": f"gpu-{number}", "rack": "a"},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {
            "capacity": {"cpu": "8"},
            "allocatable": {"cpu": "8"},
            "addresses": [
                {"type": "InternalIP", "address": f"10.0.0.{253 + number}"},
                {"type": "Hostname", "address": f"gpu-{number}"},
                {"type": "ExternalIP", "address": "192.0.2.1"},
            ],
        },
    }


REAL: Object = {
    "kind": "Node",
    "apiVersion": "v1",
    "metadata": {"name": "real", "labels": {"kubernetes.io/hostname": "real"}},
    "status": {
        "capacity": {"cpu": "2"},
        "allocatable": {"cpu": "1"},
        "addresses": [{"type": "InternalIP", "address": "odd"}],
    },
}
SETTINGS: Object = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "settings"}}
SHOP: Object = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}}


def test_a_fleet_is_written_out_with_what_kubelets_would_say_and_what_others_need_first(tmp_path: Path) -> None:
    found = read_fleet(fleet(tmp_path, FLEET))
    assert found.objects == [SHOP, numbered(1), numbered(2), REAL, SETTINGS]
    assert found.unattended == ["real"]
    assert found.nodes == 3
    # Labels without a host name get one, and a node without labels or status as well.
    bare = (
        "kind: Node\napiVersion: v1\nmetadata: {name: one, labels: {a: b}, annotations: {mooring.dev/replicas: '1'}}\n"
    )
    (one,) = read_fleet(fleet(tmp_path, bare)).objects
    assert one["metadata"] == {
        "name": "one-1",
        "labels": {"kubernetes.io/hostname": "one-1", "a": "b"},
        "annotations": {},
    }
    assert "status" not in one


def test_the_default_fleet_is_one_that_a_server_takes() -> None:
    found = check_fleet(DEFAULT_FLEET, NOON)
    assert found == read_fleet(DEFAULT_FLEET)
    assert found.unattended == []
    assert found.nodes > 0


NODE = "kind: Node\napiVersion: v1\nmetadata:\n  name: a\n"
LIST = "kind: List\napiVersion: v1\nitems:\n- kind: Node\n  apiVersion: v1\n  metadata:\n    name: a\n- "


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("kind: Node\napiVersion: v1\nmetadata: {}\n", 3, "Node: metadata.name: required, and must be a string"),
        ("kind: Node\napiVersion: v1\n", 1, "Node: metadata.name: required, and must be a string"),
        (
            "kind: Node\napiVersion: v1\nmetadata:\n  name: 7\n",
            4,
            "Node: metadata.name: required, and must be a string",
        ),
        (
            "kind: Node\napiVersion: v1\nmetadata:\n  name: ''\n",
            4,
            "Node: metadata.name: required, and must be a string",
        ),
        (f"{NODE}---\n{NODE}", 9, 'Node "a" is there twice'),
        (
            f"{LIST}kind: Node\n  apiVersion: v1\n  metadata:\n    annotations: {{}}\n    name: a\n",
            12,
            'Node "a" is there twice',
        ),
        (
            f'{NODE}  annotations:\n    mooring.dev/replicas: "0"\n',
            6,
            'metadata.annotations.mooring.dev/replicas: "0" must be a number from 1 to 20000 in quotes, as "3"',
        ),
        (
            f'{NODE}  annotations:\n    mooring.dev/replicas: "20001"\n',
            6,
            'metadata.annotations.mooring.dev/replicas: "20001" must be a number from 1 to 20000 in quotes, as "3"',
        ),
        (
            f"{NODE}  annotations:\n    mooring.dev/replicas: 3\n",
            6,
            "metadata.annotations.mooring.dev/replicas: 3 without quotes must be a number from 1 to 20000 in quotes, "
            'as "3"',
        ),
        (
            f'{NODE}  annotations:\n    mooring.dev/replicas: "\u0663"\n',
            6,
            'metadata.annotations.mooring.dev/replicas: "\u0663" must be a number from 1 to 20000 in quotes, as "3"',
        ),
        (
            f'{NODE.replace("Node", "ConfigMap")}  annotations:\n    mooring.dev/replicas: "3"\n',
            6,
            "metadata.annotations.mooring.dev/replicas: only a Node can stand for several, not a ConfigMap",
        ),
        (
            "kind: Widget\napiVersion: x.io/v1\nmetadata:\n  name: a\n",
            1,
            "x.io/v1 Widget: no such kind is served; define it first",
        ),
        (f"{NODE}status:\n  capacity:\n    cpu: '1'\n    memory: much\n", 8, None),
        (f"{NODE}spec:\n  taints:\n  - key: a\n    effect: NoSchedule\n  - key: b\n    effect: Odd\n", 10, None),
        (f"{NODE}spec:\n  odd: 1\n", 6, None),
        ("kind: ConfigMap\napiVersion: v1\nmetadata:\n  labels: {}\n  name: A_B\n", 5, None),
    ],
)
def test_what_is_wrong_with_a_fleet_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, problem: str | None
) -> None:
    path = fleet(tmp_path, text)
    with pytest.raises(ManifestError) as told:
        check_fleet(path, NOON)
    assert told.value.line == line, str(told.value)
    if problem is not None:
        assert problem in str(told.value)
        assert str(told.value).endswith(problem)
    assert "metadata.taints" not in str(told.value)


def test_a_fleet_may_have_as_many_nodes_of_a_kind_as_20000_and_objects_that_every_cluster_has(tmp_path: Path) -> None:
    many = f'{NODE}  annotations:\n    mooring.dev/replicas: "20000"\n'
    found = read_fleet(fleet(tmp_path, many)).objects
    assert (len(found), found[0]["metadata"]["name"], found[-1]["metadata"]["name"]) == (20000, "a-1", "a-20000")
    default = "kind: Namespace\napiVersion: v1\nmetadata:\n  name: default\n"
    assert check_fleet(fleet(tmp_path, default), NOON).nodes == 0
    # Of the same name, but not the same: of other kinds and in other namespaces.
    places = "".join(
        f"---\nkind: {kind}\napiVersion: v1\nmetadata: {{name: a{where}}}\n"
        for kind in ("ConfigMap", "Secret")
        for where in (", namespace: x", ", namespace: default")
    )
    namespace = "---\nkind: Namespace\napiVersion: v1\nmetadata: {name: x}\n"
    assert len(check_fleet(fleet(tmp_path, places + namespace), NOON).objects) == 5


LINES = """# a comment
apiVersion: v1
kind: Node
metadata:
  name: a
  labels:
    a.b/c: x
    a.b: y
spec:
  taints:
  - key: one
  - key: two
    effect: odd
---
# nothing
---
kind: List
items:
- kind: Node
- kind: Node
  metadata: {name: b}
"""


@pytest.mark.parametrize(
    ("document", "item", "fields", "line"),
    [
        (1, None, (), 2),
        (1, None, ("metadata.name",), 5),
        (1, None, ("metadata.nothing",), 4),
        (1, None, ("nothing",), 2),
        (1, None, ("metadata.labels.a.b/c",), 7),
        (1, None, ("metadata.labels.a.b",), 8),
        (1, None, ("metadata.labels[a.b]",), 8),
        (1, None, ("spec.taints[1].effect",), 13),
        (1, None, ("spec.taints[1]",), 12),
        (1, None, ("spec.taints[2].effect",), 10),
        (1, None, ("spec.taints[x].effect",), 10),
        (1, None, ("spec.taintsandmore",), 9),
        (1, None, ("spec", "metadata.name"), 5),
        (2, None, ("items[0]",), 19),
        (2, None, (), 17),
        (2, 0, (), 19),
        (2, 1, ("metadata.name",), 21),
        (2, 2, ("kind",), None),
        (1, 0, ("kind",), None),
        (3, None, ("kind",), None),
    ],
)
def test_a_field_is_found_on_its_line_or_the_nearest_thing_around_it(
    tmp_path: Path, document: int, item: int | None, fields: tuple[str, ...], line: int | None
) -> None:
    assert line_of(fleet(tmp_path, LINES), document, item, fields) == line


def test_a_file_that_is_gone_or_broken_has_no_lines(tmp_path: Path) -> None:
    assert line_of(tmp_path / "none", 1, None, ()) is None
    assert line_of(fleet(tmp_path, "a: [\n"), 1, None, ("a",)) is None


# Rights


def test_a_fleet_takes_the_rights_to_create_what_is_in_it() -> None:
    always = [
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["create", "list"]},
    ]
    assert fleet_rules([]) == always
    names = {"kind": "Fish", "plural": "fishes-of-ours"}
    objects: list[Object] = [
        REAL,
        SETTINGS,
        {"kind": "Fish", "apiVersion": "x.io/v2"},
        {
            "kind": "CustomResourceDefinition",
            "apiVersion": "apiextensions.k8s.io/v1",
            "spec": {"group": "x.io", "names": names},
        },
        {"kind": "Fish", "apiVersion": "y.io/v1"},
    ]
    created = {
        "": ["configmaps", "nodes"],
        "apiextensions.k8s.io": ["customresourcedefinitions"],
        "x.io": ["fishes-of-ours"],
        # As clients guess it, who know nothing of the kind.
        "y.io": ["fishs"],
    }
    rules = [{"apiGroups": [group], "resources": kinds, "verbs": ["create"]} for group, kinds in created.items()]
    assert fleet_rules(objects) == [*always, *rules]
    role: Object = {"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1"}
    group = ["rbac.authorization.k8s.io"]
    assert fleet_rules([role])[2:] == [
        {"apiGroups": group, "resources": ["roles"], "verbs": ["create"]},
        {"apiGroups": group, "resources": ["roles", "clusterroles"], "verbs": ["escalate", "bind"]},
    ]
