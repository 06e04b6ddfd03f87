"""Records what kwok makes of drawn templates, queries and Stages: kwok.jsonl.xz, a question and its answer a line.

python -m tests.nodes.stages.record
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.nodes.stages.drawn_stages import choices, stages
from tests.nodes.stages.drawn_templates import OBJECT, queries, templates
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("kwok.jsonl.xz")
ASKS_KWOK = Path(__file__).parents[2] / "tools" / "stages"


def questions() -> list[Any]:
    return [
        *({"template": text} for text in dict.fromkeys(templates("templates", 1500))),
        *({"query": text} for text in dict.fromkeys(queries("queries", 300))),
        *stages("stages", 900),
        *choices("choices", 150),
    ]


def answers(asked: list[Any]) -> list[Any]:
    text = "".join(json.dumps({"object": OBJECT, **each}) + "\n" for each in asked)
    program = ["go", "run", "."]
    done = subprocess.run(program, cwd=ASKS_KWOK, input=text, check=True, stdout=subprocess.PIPE, text=True)
    # The words of an error are ours.
    return [
        {**found, **({"error": True} if "error" in found else {})}
        for found in map(json.loads, done.stdout.splitlines())
    ]


def main() -> None:
    asked = questions()
    keep(RECORDED, [{**one, **other} for one, other in zip(asked, answers(asked), strict=True)])


if __name__ == "__main__":
    main()
