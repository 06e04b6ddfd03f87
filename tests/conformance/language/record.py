"""Writes the recordings anew from a real control plane.

python -m tests.conformance.language.record              all of them
python -m tests.conformance.language.record expressions  only these
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from mooring.testing.homes import REAL, api_only
from mooring.testing.http import Api
from tests.conformance.language.applies import applies
from tests.conformance.language.asking import BY_CHANCE, PANIC, batches, refusals, values_of
from tests.conformance.language.costing import costs
from tests.conformance.language.definitions import definitions
from tests.conformance.language.expressions import Expressions
from tests.conformance.language.objects import objects
from tests.conformance.language.recordings import write
from tests.conformance.language.values import values


def expressions(api: Api, count: int = 9600) -> Iterator[Any]:
    """`[expression, refusal]` of those that do not compile, else `[expression, [what it is on each sample]]`."""
    made = Expressions(35)
    ways = ["shown"] * 8 + ["ill"] * 3 + ["broken"]
    drawn = [made.fresh(ways[index % len(ways)]) for index in range(count)]
    for number, batch in enumerate(batches(drawn, 200)):
        refused = refusals(api, batch)
        # What compiles and has no bool is refused too, and has a value.
        fine = [each for index, each in enumerate(batch) if refused.get(index, _NO_BOOL).endswith(_NO_BOOL)]
        shown = [f"'%s'.format([{each}]) == ''" for each in fine]
        again = refusals(api, shown)
        for index, words in again.items():
            if words != PANIC:
                yield [shown[index], words]
        kept = [each for index, each in enumerate(fine) if index not in again]
        told = dict(zip(kept, values_of(api, f"values{number}", kept), strict=True))
        for index, each in enumerate(batch):
            if each in told:
                # What makes the server stumble over itself is nobody's measure.
                if not any("internal error" in words or words == BY_CHANCE for words in told[each]):
                    yield [each, told[each]]
            elif each not in fine and refused[index] != PANIC:
                yield [each, refused[index]]
        print(f"{number}: {len(batch)} expressions, {len(kept)} with values", flush=True)


_NO_BOOL: Final = "cel expression must evaluate to a bool"
_RECORDERS: Final[dict[str, Callable[[Api], Iterator[Any]]]] = {
    "applies": applies,
    "costs": costs,
    "definitions": definitions,
    "expressions": expressions,
    "objects": objects,
    "values": values,
}


def main() -> None:
    names = sys.argv[1:] or list(_RECORDERS)
    with tempfile.TemporaryDirectory() as folder, api_only(REAL, Path(folder)) as home, home.api() as api:
        for name in names:
            print(name, write(name, list(_RECORDERS[name](api))), "bytes")


if __name__ == "__main__":
    main()
