"""What may be written where the API takes CEL for its own admission: names of variables, and what conditions know."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.registry.world import World, refused

GROUP = "admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
# Of the grammar of CEL, which keeps these words for itself.
RESERVED = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
]


@pytest.fixture
def world() -> World:
    return World()


def make(world: World, kind: str, obj: Object) -> Object:
    return world.registry.create(world.registry.resource(GROUP, kind), obj, now=world.now)


def policy(**spec: Any) -> Object:
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}], **spec}
    return {"metadata": {"name": "p"}, "spec": spec}


def webhook(**fields: Any) -> Object:
    client = {"url": "https://judge.example.com/"}
    hook = {"name": "a.example.com", "clientConfig": client, "rules": [RULE], "sideEffects": "None", **fields}
    return {"metadata": {"name": "w"}, "webhooks": [{**hook, "admissionReviewVersions": ["v1"]}]}


@pytest.mark.parametrize("word", RESERVED)
def test_a_variable_does_not_take_a_word_of_the_language(world: World, word: str) -> None:
    with refused(422, f'spec.variables[0].name: Invalid value: "{word}": must be a valid CEL identifier'):
        make(world, "ValidatingAdmissionPolicy", policy(variables=[{"name": word, "expression": "1"}]))


def test_variables_may_have_any_other_name(world: World) -> None:
    names = ("x", "_y1", "continued", "Loop")
    make(world, "ValidatingAdmissionPolicy", policy(variables=[{"name": each, "expression": "1"} for each in names]))


def test_parameters_are_known_to_policies_and_not_to_webhooks(world: World) -> None:
    conditions = [{"name": "large", "expression": "params.data.size() > 1"}]
    parameters = {"apiVersion": "v1", "kind": "ConfigMap"}
    make(world, "ValidatingAdmissionPolicy", policy(paramKind=parameters, matchConditions=conditions))
    with refused(422, "undeclared reference to 'params'"):
        make(world, "ValidatingWebhookConfiguration", webhook(matchConditions=conditions))
    make(world, "ValidatingWebhookConfiguration", webhook())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ({"apiVersion": "v1", "kind": ""}, "spec.paramKind.kind: Required value"),
        ({"apiVersion": "", "kind": "ConfigMap"}, "spec.paramKind.apiVersion: Required value"),
        ({"apiVersion": "a/b/c", "kind": "X"}, 'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected Group'),
        ({"apiVersion": "a.b/", "kind": "X"}, 'spec.paramKind.apiVersion: Invalid value: "a.b/": version must be'),
        (
            {"apiVersion": "v1", "kind": "Config_Map"},
            'spec.paramKind.kind: Invalid value: "Config_Map": may have mixed',
        ),
    ],
)
def test_the_kind_of_parameters_has_a_version_and_a_name(world: World, kind: Object, text: str) -> None:
    with refused(422, text):
        make(world, "ValidatingAdmissionPolicy", policy(paramKind=kind))
