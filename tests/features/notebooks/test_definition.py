"""The definition of NotebookValidationJobs has upstream's fields, defaults, rules, names and columns, and six more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mooring.api.crds.resource import definition
from mooring.features.notebooks.api.names import API_VERSION, KIND
from mooring.features.notebooks.definition import NOTEBOOK_VALIDATION_JOBS
from mooring.kube.objects import Object
from mooring.kube.schemas import structural_schema
from mooring.kube.status import ApiError
from mooring.testing.notebooks import notebook_job
from tests.features.notebooks.objects import NOW, create, registry_with_notebooks, with_fields
from tests.features.upstream import differences

UPSTREAM = Path(__file__).parents[4] / "shared/upstream/crds/mlops.mlops.dev_notebookvalidationjobs.yaml"
# What upstream's API lacks.
OURS = {
    ".spec.cellTimeout",
    ".spec.comparisonConfig.normalizers",
    ".spec.comparisonConfig.relativeTolerance",
    ".spec.parameters",
    ".spec.ttlSecondsAfterFinished",
    ".status.effects",
}
DEFINITION = definition(NOTEBOOK_VALIDATION_JOBS)
(VERSION,) = DEFINITION["spec"]["versions"]
SCHEMA: Object = VERSION["schema"]["openAPIV3Schema"]


def fields(part: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    for name, child in (part.get("properties") or {}).items():
        yield f"{path}.{name}", child
        # Kubernetes describes these.
        if name not in ("conditions", "metadata"):
            yield from fields(child.get("items") or child, f"{path}.{name}")


def test_the_schema_is_structural_and_describes_its_fields() -> None:
    assert structural_schema(SCHEMA).properties["spec"].required
    assert [path for path, child in fields(SCHEMA) if not child.get("description")] == [".metadata"]


def test_fields_of_ours_are_optional_and_say_that_they_are_ours() -> None:
    told = dict(fields(SCHEMA))
    for path in OURS:
        assert told[path]["description"].endswith("A field of Mooring's.")
        assert path.rpartition(".")[2] not in told[path.rpartition(".")[0]].get("required", ())


@pytest.mark.skipif(not UPSTREAM.is_file(), reason="upstream's definition is not here")
def test_everything_but_descriptions_and_fields_of_ours_is_upstreams() -> None:
    theirs = yaml.load(UPSTREAM.read_bytes(), Loader=yaml.CSafeLoader)
    (other,) = theirs["spec"]["versions"]
    assert set(differences(SCHEMA, other["schema"]["openAPIV3Schema"])) == OURS
    for key in ("name", "served", "storage", "subresources", "additionalPrinterColumns"):
        assert VERSION[key] == other[key]
    for key in ("group", "names", "scope"):
        assert DEFINITION["spec"][key] == theirs["spec"][key]


def test_short_names_and_columns() -> None:
    assert DEFINITION["spec"]["names"]["shortNames"] == ["nvj", "nvjob"]
    shown = [(each["name"], each.get("priority", 0)) for each in VERSION["additionalPrinterColumns"]]
    assert shown == [("Phase", 0), ("Notebook", 0), ("Age", 0), ("Message", 1)]


def test_defaults_are_filled_in() -> None:
    blocks: Object = {"comparisonConfig": {}, "validationConfig": {}, "modelValidation": {"enabled": False}}
    config = {"tolerations": [{"key": "gpu", "value": "true"}], "buildConfig": {}}
    spec = create(registry_with_notebooks(), notebook_job(pod=config, **blocks))["spec"]
    assert (spec["timeout"], spec["podConfig"]["serviceAccountName"]) == ("30m", "default")
    assert spec["podConfig"]["tolerations"] == [{"key": "gpu", "operator": "Equal", "value": "true"}]
    assert spec["podConfig"]["buildConfig"]["strategy"] == "s2i"
    assert spec["comparisonConfig"] == {
        "strategy": "normalized",
        "floatingPointTolerance": "0.0001",
        "ignoreTimestamps": True,
        "ignoreExecutionCount": True,
    }
    assert spec["validationConfig"]["detectSilentFailures"] is True
    assert spec["modelValidation"]["platform"] == "kserve"


# Unknown fields

UNKNOWN: Object = {"spec": {"retryPolicy": {"limit": 3}, "podConfig": {"skipGitClone": True, "nodeName": "n0"}}}
NAMES = ("spec.podConfig.nodeName", "spec.podConfig.skipGitClone", "spec.retryPolicy")


def test_unknown_fields_are_refused_where_that_is_asked_for() -> None:
    obj = with_fields(notebook_job(), UNKNOWN)
    with pytest.raises(ApiError) as refused:
        create(registry_with_notebooks(), obj, field_validation="Strict")
    assert str(refused.value).startswith("NotebookValidationJob in version")
    assert all(f'unknown field "{name}"' in str(refused.value) for name in NAMES)


def test_a_strict_patch_with_unknown_fields_is_refused_as_invalid() -> None:
    registry = registry_with_notebooks(notebook_job())
    resource = registry.resource(API_VERSION, KIND)
    with pytest.raises(ApiError) as refused:
        registry.patch(resource, "default", "train", "merge", UNKNOWN, now=NOW, field_validation="Strict")
    assert refused.value.code == 422
    assert all(f'unknown field "{name}"' in str(refused.value) for name in NAMES)


def test_unknown_fields_are_dropped_with_a_warning_or_without() -> None:
    registry, obj = registry_with_notebooks(), with_fields(notebook_job(), UNKNOWN)
    for mode, expected in (("Warn", [f'unknown field "{name}"' for name in NAMES]), ("Ignore", [])):
        warnings: list[str] = []
        made = create(registry, obj, field_validation=mode, warnings=warnings, dry_run=True)
        assert sorted(warnings) == expected
        assert "retryPolicy" not in made["spec"]
        assert not {"skipGitClone", "nodeName"} & made["spec"]["podConfig"].keys()


# By schema


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"podConfig": {"nodeSelector": {"gpu": True}}}, "spec.podConfig.nodeSelector.gpu"),
        ({"podConfig": {"resources": {"limits": {"cpu": 2}}}}, "spec.podConfig.resources.limits.cpu"),
        ({"podConfig": {"tolerations": [{"operator": "Gt"}]}}, "spec.podConfig.tolerations[0].operator"),
        ({"podConfig": {"tolerations": [{"effect": "Never"}]}}, "spec.podConfig.tolerations[0].effect"),
        ({"notebook": {"git": {"url": "file:///srv/notebooks"}}}, "spec.notebook.git.url"),
        ({"notebook": {"path": "hello.py"}}, "spec.notebook.path"),
        ({"timeout": "soon"}, "spec.timeout"),
        ({"ttlSecondsAfterFinished": -1}, "spec.ttlSecondsAfterFinished"),
        ({"comparisonConfig": {"normalizers": ["moods"]}}, "spec.comparisonConfig.normalizers[0]"),
        ({"podConfig": None}, "spec.podConfig"),
    ],
)
def test_what_the_schema_refuses_is_named(change: Object, path: str) -> None:
    with pytest.raises(ApiError) as refused:
        create(registry_with_notebooks(), with_fields(notebook_job(), {"spec": change}))
    assert path in str(refused.value)
    assert refused.value.code == 422
