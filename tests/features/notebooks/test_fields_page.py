"""docs/notebooks-fields.md has every field of the API, made from its definition.

`MOORING_UPDATE_GOLDEN=1 pytest tests/features/notebooks/test_fields_page.py` writes it anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from mooring.api.crds.resource import definition
from mooring.features.notebooks.definition import NOTEBOOK_VALIDATION_JOBS
from mooring.kube.objects import Object

PAGE = Path(__file__).parents[3] / "docs" / "notebooks-fields.md"
HEAD = """# Fields of a NotebookValidationJob

Every field of `mlops.mlops.dev/v1alpha1`, with `*` where it is required, its default and the values that it takes.
The page is made from the definition (`config/crd/mlops.mlops.dev_notebookvalidationjobs.yaml`); `kubectl explain
nvj.spec` tells the same. [notebooks.md](notebooks.md) says how they work together, and
[notebook-runner.md](notebook-runner.md) what the checks do.

Fields of Mooring's own are marked so. They are optional; upstream's API drops them.

Where a job has no `comparisonConfig`, annotations count that came before there was one:
`mlops.dev/comparison-strategy`, `mlops.dev/numeric-tolerance`, `mlops.dev/ignore-timestamps`,
`mlops.dev/ignore-execution-count` (or `-counts`), and `mlops.dev/timestamp-patterns`, with a regular expression in
each line. One that cannot be read is ignored, with a warning.
"""
# Kubernetes describes these.
KNOWN = ("conditions", "effects")


def fields(part: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    required = part.get("required", ())
    for name, child in (part.get("properties") or {}).items():
        here = f"{path}.{name}" if path else name
        yield f"{here}{'*' if name in required else ''}", child
        if name not in KNOWN:
            inner = child.get("items") or child
            yield from fields(inner, f"{here}[]" if "items" in child else here)


def said(schema: Object) -> str:
    kind = schema.get("type", "any")
    if kind == "array":
        kind = f"list of {said(schema['items'])}"
    elif isinstance(schema.get("additionalProperties"), dict):
        kind = f"map of {schema['additionalProperties'].get('type', 'any')}"
    parts = [kind]
    if "enum" in schema:
        parts = [" or ".join(f"`{each}`" if each else "empty" for each in schema["enum"])]
    if "default" in schema:
        default = schema["default"]
        parts.append(f"default `{default if isinstance(default, str) else json.dumps(default)}`")
    parts += [f"from {schema['minimum']}"] if "minimum" in schema else []
    parts += [f"to {schema['maximum']}"] if "maximum" in schema else []
    return ", ".join(parts)


def page() -> str:
    (version,) = definition(NOTEBOOK_VALIDATION_JOBS)["spec"]["versions"]
    lines = [HEAD]
    for title in ("spec", "status"):
        lines.append(f"## {title}\n\n| field | type | meaning |\n|---|---|---|")
        for path, schema in fields(version["schema"]["openAPIV3Schema"]["properties"][title]):
            lines.append(f"| `{path}` | {said(schema)} | {schema['description']} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def test_the_page_has_every_field() -> None:
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
