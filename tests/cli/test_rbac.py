"""config/rbac: what it grants is what controllers and webhooks declare."""

from __future__ import annotations

from typing import Any

import yaml

from mooring.catalog import CATALOG
from mooring.supervisor.declared_rules import bindings_of, roles_of
from mooring.supervisor.own_rights import RULES
from scripts.crds import FOLDER as DEFINITIONS
from scripts.crds import KUSTOMIZATION, kustomization_text
from scripts.rbac import FOLDER, rules_text, texts


def granted(name: str) -> set[tuple[str, str, str]]:
    (role,) = [each for each in roles_of(CATALOG) if each["metadata"]["name"] == f"mooring:{name}"]
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_the_files_are_what_is_declared() -> None:
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == texts()
    assert RULES.read_text(encoding="utf-8") == rules_text()


def test_the_kustomization_names_every_file_of_config() -> None:
    assert KUSTOMIZATION.read_text(encoding="utf-8") == kustomization_text()
    named = {KUSTOMIZATION.parent / each for each in yaml.safe_load(kustomization_text())["resources"]}
    assert named == {*FOLDER.iterdir(), *DEFINITIONS.iterdir()}


def test_every_part_has_a_role_and_only_what_runs_by_default_is_bound() -> None:
    roles = {each["metadata"]["name"] for each in roles_of(CATALOG)}
    here = [name for name in CATALOG.names if name not in CATALOG.embedded_only]
    assert roles == {f"mooring:{name}" for name in (*here, "runtime", "webhooks")}
    bound = {each["roleRef"]["name"] for each in bindings_of(CATALOG) if each["kind"] == "ClusterRoleBinding"}
    assert bound == {f"mooring:{name}" for name in (*CATALOG.external, "runtime", "webhooks")}


def test_only_what_works_on_kinds_of_others_is_granted_all_kinds() -> None:
    here = {*CATALOG.controller_names} - CATALOG.embedded_only
    wide = {name for name in here if any(group == "*" for group, _, _ in granted(name))}
    assert wide == {"garbage-collector", "horizontal-pod-autoscaler", "namespace"}


# Makes Secrets, and so must be able to ask whose one is that exists already.
MAKES_SECRETS = "k8sinstallerconfig"
# Writes the token that was minted for a machine into that machine's kubeconfig, and so reads it back. It asks for
# single Secrets; rules cannot say which.
READS_ITS_TOKENS = "bootstrapkubeconfig"
# It asks for metadata only, of the Secrets that jobs name: whether they are there.
LOOKS_FOR_SECRETS = "notebook-validation"


def test_no_controller_may_read_all_secrets_unless_it_covers_every_kind() -> None:
    reading = {
        name: {verb for group, resource, verb in granted(name) if (group, resource) == ("", "secrets")}
        & {"get", "list", "watch"}
        for name in CATALOG.external
    }
    assert {name: verbs for name, verbs in reading.items() if verbs} == {
        MAKES_SECRETS: {"get"},
        READS_ITS_TOKENS: {"get", "list", "watch"},
        LOOKS_FOR_SECRETS: {"list", "watch"},
    }


def test_the_scheduler_is_granted_what_it_declares() -> None:
    verbs = {(resource, verb) for group, resource, verb in granted("scheduler") if resource.startswith("pods")}
    assert verbs == {
        ("pods", "get"), ("pods", "list"), ("pods", "watch"), ("pods", "delete"),
        ("pods/binding", "create"), ("pods/status", "patch"),
    }  # fmt: skip


def test_files_hold_whole_objects() -> None:
    objects: list[Any] = [each for text in texts().values() for each in yaml.safe_load_all(text)]
    assert all(each["apiVersion"] and each["kind"] and each["metadata"]["name"] for each in objects)
    assert "&id" not in "".join(texts().values())
