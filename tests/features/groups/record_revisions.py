"""Records the revisions that upstream's controller makes of `revision_cases`, in `tests/data/groups/revisions.json`.

    python -m tests.features.groups.record_revisions MODULE

MODULE is a copy of upstream's Go module that may be written to. Every set goes there as an API server stores it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import START
from tests.features.groups.revision_cases import ALL
from tests.features.groups.town import registry_with_groups

RECORDED = Path(__file__).parents[2] / "data" / "groups" / "revisions.json"
PROGRAM = Path(__file__).parents[2] / "tools" / "conformance" / "record_revisions.go"


def stored(case: Object) -> Object:
    """A set as an API server has it."""
    registry = registry_with_groups()
    resource = registry.resource(case["apiVersion"], case["kind"])
    return registry.create(resource, case, now=START, namespace="default", dry_run=True)


def main() -> None:
    folder = Path(sys.argv[1]) / "record_revisions"
    folder.mkdir(exist_ok=True)
    shutil.copy(PROGRAM, folder / "main.go")
    sets = json.dumps({name: stored(case) for name, case in ALL.items()})
    made = subprocess.run(
        ["go", "run", f"./{folder.name}"], input=sets, cwd=folder.parent, check=True, capture_output=True, text=True
    )
    answers = json.loads(made.stdout)
    RECORDED.write_text(json.dumps(answers, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
