"""Drawn quantities, names, labels, selectors, bodies with fields twice or unknown: what a real server makes of them.

A record is `[what, given, answer]`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Final

from mooring.testing.http import Answer, Api
from tests.conformance.language.definitions import complaints

Object = dict[str, Any]

CONFIGS: Final = "/api/v1/namespaces/default/configmaps"
_QUOTAS: Final = "/api/v1/namespaces/default/resourcequotas"
_DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
# Objects to select from.
LABELS: Final[dict[str, dict[str, str]]] = {
    "one": {"app": "web", "tier": "front", "rev": "1"},
    "two": {"app": "web", "tier": "back", "rev": "2"},
    "three": {"app": "db", "rev": "10", "example.com/zone": "a"},
    "four": {"tier": "", "rev": "0"},
    "five": {"app": "", "example.com/zone": "b", "rev": "x"},
    "six": {},
}
_KEYS: Final = (
    "app",
    "tier",
    "rev",
    "example.com/zone",
    "zz",
    "-bad",
    "a/b/c",
    "A_b",
    "",
    "é",
    "in",
    "notin",
    "x" * 64,
    "example.com/",
    "/x",
)
_VALUES: Final = (
    "web",
    "db",
    "front",
    "",
    "1",
    "2",
    "5",
    "-bad",
    "a b",
    "A_b",
    "x" * 64,
    "b",
    "in",
    "!",
    "010",
    "9223372036854775808",
    "1.5",
)
_NAMES: Final = (
    "abc",
    "a-b",
    "a.b",
    "-a",
    "a-",
    "A",
    "",
    "1a",
    "a..b",
    "a_b",
    "é",
    "a" * 63,
    "a" * 64,
    "a" * 253,
    "a" * 254,
    "x/y",
    "example.com/name",
    "example.com/",
    "/x",
    "EXAMPLE.com/x",
    "a b",
    "..",
    ".",
    "%",
    "kubernetes.io/x",
    "x.k8s.io/y",
    "a.b.c/" + "n" * 63,
    "a.b.c/" + "n" * 64,
    "_",
    "a.",
    "0",
    "foo.example.com",
    "a--b",
)
_DIGITS: Final = (
    "0",
    "1",
    "5",
    "12",
    "100",
    "1024",
    "999",
    "1000",
    "00",
    "123456789",
    "9223372036854775807",
    "9223372036854775808",
    "12345678901234567890123",
    "7",
    "250",
)
_SUFFIXES: Final = (
    "",
    "",
    "n",
    "u",
    "m",
    "k",
    "M",
    "G",
    "T",
    "P",
    "E",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "Pi",
    "Ei",
    "e3",
    "E3",
    "e-3",
    "e0",
    "e+6",
    "e10",
    "K",
    "i",
    "e",
    "mi",
    "x",
    " ",
    "Mib",
    "kk",
    "e1.5",
)


class Values:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def quantity(self) -> Any:
        draw = self._draw
        if draw.random() < 0.06:
            return draw.choice(
                (
                    1,
                    0,
                    1.5,
                    1e3,
                    10**19,
                    0.1,
                    True,
                    [],
                    {},
                    "",
                    "-",
                    "+",
                    ".",
                    "1..2",
                    " 1",
                    "1 ",
                    "--1",
                    "1e400",
                    "e3",
                    "Ki",
                    1e-7,
                )
            )
        sign = draw.choice(("", "", "", "", "+", "-"))
        digits = draw.choice(_DIGITS)
        if draw.random() < 0.4:
            digits += f".{draw.choice(('0', '5', '25', '001', '1000', '123456789', '1234567891', '', '999999999999'))}"
        return f"{sign}{digits if draw.random() < 0.97 else '.' + digits}{draw.choice(_SUFFIXES)}"

    def selector(self) -> str:
        draw = self._draw
        parts = [self._requirement() for _ in range(draw.choice((1, 1, 1, 2, 3)))]
        text = draw.choice((",", ",", ", ", " , ", ",,", " ")).join(parts) if len(parts) > 1 else parts[0]
        if draw.random() < 0.1:
            at = draw.randrange(len(text) + 1)
            text = text[:at] + draw.choice("(),=!<> x") + text[at:]
        return text

    def _requirement(self) -> str:
        draw = self._draw
        key, value = (draw.choice(each[:5]) if draw.random() < 0.85 else draw.choice(each) for each in (_KEYS, _VALUES))
        several = draw.choice((",", ", ")).join(draw.choice(_VALUES[:7]) for _ in range(draw.choice((0, 1, 2, 3))))
        return draw.choice(
            (
                f"{key}={value}",
                f"{key}=={value}",
                f"{key}!={value}",
                f"{key} = {value}",
                f"{key} in ({several})",
                f"{key} notin ({several})",
                key,
                f"!{key}",
                f"! {key}",
                f"{key}>{value}",
                f"{key}<{value}",
                f"{key} > {value}",
                f"{key} in {value}",
                f"{key}in({several})",
                f"{key}={several}",
                f"{key} exists",
                f"{key}!",
                f"{key} in ({several}",
            )
        )

    def field_selector(self) -> str:
        draw = self._draw
        keys = (
            "metadata.name",
            "metadata.name",
            "metadata.namespace",
            "data.a",
            "metadata.labels",
            "",
            "Metadata.Name",
        )
        values = ("one", "two", "default", "", "a\\,b", "a\\=b", "one\\", "x=y", "a\\b")
        parts = [
            f"{draw.choice(keys)}{draw.choice(('=', '==', '!=', '', '>'))}{draw.choice(values)}"
            for _ in range(draw.choice((1, 1, 2)))
        ]
        return ",".join(parts)

    def metadata(self) -> Object:
        """With something odd in about one of its fields."""
        draw = self._draw
        made: Object = {"name": "fine"}
        name = draw.choice(_NAMES)
        match draw.randrange(8):
            case 0:
                made["name"] = name
            case 1:
                made["labels"] = {name: "v"}
            case 2:
                made["labels"] = {"k": draw.choice((*_NAMES, *_VALUES))}
            case 3:
                made["annotations"] = {name: "v"}
            case 4:
                made["finalizers"] = [name]
            case 5:
                owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u", "controller": True}
                owner[draw.choice(("apiVersion", "kind", "name", "uid"))] = draw.choice(("", "a/b/c", "x", "v1"))
                made["ownerReferences"] = [owner] * draw.choice((1, 1, 2))
            case 6:
                made["namespace"] = name
            case _:
                made[draw.choice(("labels", "annotations", "finalizers", "name", "ownerReferences", "namespace"))] = (
                    draw.choice(({"a": 1}, ["a", 1], "x", 1, {"a": None}, [], {}, None, [{}]))
                )
        return made

    def body(self) -> tuple[str, str]:
        """Where to send it, and a body as text: with members twice, or unknown, or in other letters."""
        draw = self._draw
        if draw.random() < 0.5:
            pod = {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "env": [{"name": "A", "value": "1"}],
                        "resources": {"limits": {"cpu": "1"}},
                    }
                ],
                "nodeSelector": {"a": "b"},
            }
            spec = {
                "replicas": 1,
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod},
            }
            body: Object = {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "d", "labels": {"a": "b"}},
                "spec": spec,
            }
            base = _DEPLOYMENTS
        else:
            body = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "c", "annotations": {"a": "b"}, "managedFields": []},
                "data": {"a": "1", "b": "2"},
                "immutable": False,
            }
            base = CONFIGS
        return base, self._written(body)

    def _written(self, value: Any, depth: int = 0) -> str:
        draw = self._draw
        if isinstance(value, list):
            return f"[{','.join(self._written(each, depth + 1) for each in value)}]"
        if not isinstance(value, dict):
            return json.dumps(value)
        members = [f"{json.dumps(key)}:{self._written(each, depth + 1)}" for key, each in value.items()]
        if draw.random() < 0.14:
            plain = [key for key, each in value.items() if not isinstance(each, dict | list)]
            if plain:
                key = draw.choice(plain)
                members.insert(draw.randrange(len(members) + 1), f"{json.dumps(key)}:{json.dumps(value[key])}")
        if draw.random() < 0.1:
            odd = draw.choice(("zz", "Spec", "NAME", "x.y", "a b", "é", "replica", "$x", 'q\\"q'))
            members.insert(draw.randrange(len(members) + 1), f'"{odd}":{draw.choice(("1", "{}", "[]", "null"))}')
        return f"{{{','.join(members)}}}"


def values(api: Api) -> Iterator[Any]:
    drawn = Values(61)
    for _ in range(500):
        given = drawn.quantity()
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"example.com/thing": given, "limits.memory": given}},
        }
        answer = api.post(_QUOTAS, quota, dryRun="All")
        yield [
            "quantity",
            given,
            answer.body["spec"]["hard"] if answer.code == 201 else complaints(answer.code, answer.body),
        ]
    for name, labels in LABELS.items():
        api.post(CONFIGS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}})
    for what, draw, count in (("labelSelector", drawn.selector, 600), ("fieldSelector", drawn.field_selector, 150)):
        for _ in range(count):
            given = draw()
            yield [what, given, _found(api.get(CONFIGS, **{what: given}))]
    for name in LABELS:
        api.delete(f"{CONFIGS}/{name}")
    for _ in range(400):
        metadata = drawn.metadata()
        answer = api.post(CONFIGS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, dryRun="All")
        yield ["metadata", metadata, [complaints(answer.code, answer.body), answer.warnings]]
    for _ in range(300):
        base, text = drawn.body()
        for way in ("Strict", "Warn"):
            answer = api.post(base, text, dryRun="All", fieldValidation=way)
            yield ["body", [base, text, way], [complaints(answer.code, answer.body), answer.warnings]]


def _found(answer: Answer) -> Any:
    if answer.code != 200:
        return answer.body["message"]
    return [each["metadata"]["name"] for each in answer.body["items"] if each["metadata"]["name"] in LABELS]
