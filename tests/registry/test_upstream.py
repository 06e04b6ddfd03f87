"""What the upstream projects publish must be accepted as it is, and our table of kinds must be the real server's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from mooring.kube.objects import Object
from mooring.kube.schemas import builtin_schema
from mooring.registry import Registry
from mooring.registry.resources import builtin_resources
from tests.registry.world import START

UPSTREAM = Path(__file__).parents[3] / "shared" / "upstream"

pytestmark = pytest.mark.skipif(not UPSTREAM.exists(), reason="facts about upstream are not beside this checkout")


def documents(path: Path) -> list[Object]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    text = text.replace("${CLUSTER_NAME}", "cluster").replace("${NAMESPACE}", "default")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [each for each in yaml.load_all(text, loader) if isinstance(each, dict) and "kind" in each]


def installed() -> Registry:
    registry = Registry(now=START)
    kind = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for path in sorted((UPSTREAM / "crds").iterdir()):
        for each in documents(path):
            made = registry.create(kind, each, now=START)
            assert {one["status"] for one in made["status"]["conditions"]} == {"True"}, path.name
    return registry


def test_upstream_definitions_are_accepted_and_their_samples_apply() -> None:
    registry = installed()
    served = {(each.api_version, each.kind) for each in registry.resources}
    tried = 0
    for path in sorted((UPSTREAM / "manifests").rglob("*")):
        if path.suffix not in (".yaml", ".yml"):
            continue
        for each in documents(path):
            if (each["apiVersion"], each["kind"]) in served and "${" not in json.dumps(each):
                _apply(registry, each)
                tried += 1
    assert tried > 50


def _apply(registry: Registry, obj: Object) -> None:
    resource = registry.resource(obj["apiVersion"], obj["kind"])
    namespace = obj["metadata"].get("namespace", "default")
    if registry.find("v1", "Namespace", "", namespace) is None:
        registry.create(registry.resource("v1", "Namespace"), {"metadata": {"name": namespace}}, now=START)
    name = obj["metadata"]["name"]
    if registry.find(obj["apiVersion"], obj["kind"], namespace, name) is not None:
        return
    made = registry.create(resource, obj, now=START, manager="kubectl")
    again = registry.patch(resource, namespace, name, "merge", obj, now=START, manager="kubectl")
    assert again is made or again == made, name


def test_the_table_of_kinds_is_that_of_the_real_server() -> None:
    groups = json.loads((UPSTREAM / "openapi" / "discovery.json").read_text(encoding="utf-8"))["groups"]
    real = {
        (group["metadata"].get("name", ""), version["version"], each["resource"]): each
        for group in groups
        for version in group["versions"]
        for each in version["resources"]
    }
    groups_known = {group for group, _, _ in real}
    for resource in builtin_resources():
        if resource.group not in groups_known:
            # tests/data/discovery.jsonl has them.
            continue
        fact = real[resource.group, resource.version, resource.plural]
        assert fact["responseKind"]["kind"] == resource.kind
        assert fact["singularResource"] == resource.singular
        assert (fact["scope"] == "Namespaced") == resource.namespaced
        assert tuple(fact.get("shortNames", ())) == resource.short_names
        assert tuple(fact.get("categories", ())) == resource.categories
        assert sorted(fact["verbs"]) == sorted(resource.verbs)
        assert resource.subresources <= {each["subresource"] for each in fact.get("subresources", ())}
        assert builtin_schema(resource.api_version, resource.kind).properties
