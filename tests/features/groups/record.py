"""Records what a real API server makes of `schema_cases` with upstream's definition of LeaderWorkerSets.

    python -m tests.features.groups.record DEFINITION

DEFINITION is upstream's CustomResourceDefinition, as YAML and perhaps gzipped. The answers go to
`tests/data/groups/schema.json`. No webhook takes part, so they are those of the schema alone.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from mooring.kube.objects import Object
from mooring.testing.homes import REAL, api_only
from mooring.testing.http import Answer, Api
from tests.cli.embedded import eventually
from tests.features.groups.schema_cases import CASES

RECORDED = Path(__file__).parents[2] / "data" / "groups" / "schema.json"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"


def written(case: Any) -> Object:
    """The object of a case."""
    metadata = {"name": "serve", "namespace": "default"}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": case}


def answered(answer: Answer) -> Object:
    """What of an answer is a fact about the schema."""
    if answer.code != 201:
        return {"code": answer.code, "message": answer.body["message"]}
    found: Object = {"code": answer.code, "spec": answer.body["spec"]}
    return found | ({"warnings": answer.warnings} if answer.warnings else {})


def record(api: Api, definition: Object) -> dict[str, Object]:
    made = api.post(DEFINITIONS, definition)
    if made.code != 201:
        raise SystemExit(f"The definition was refused: {made.body['message']}")
    eventually(lambda: api.get(SETS).code == 200 or None, "the definition to be served")
    return {
        name: answered(api.post(SETS, written(case), dryRun="All", fieldValidation="Warn"))
        for name, case in CASES.items()
    }


def main() -> None:
    source = Path(sys.argv[1])
    data = gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes()
    definition = yaml.load(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    with tempfile.TemporaryDirectory() as folder, api_only(REAL, Path(folder)) as home, home.api() as api:
        answers = record(api, definition)
    RECORDED.write_text(json.dumps(answers, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
