"""How a real API server's prices of expressions are found out: in a loop that is made longer until it is too dear.

What an expression costs at most decides whether its definition is taken, and by how much it is too dear is said: a loop
over as many items as bring it just above the limit tells the price to six digits.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from mooring.testing.http import Api
from tests.conformance.language.asking import DEFINITIONS, batches, causes, refusals
from tests.conformance.language.expressions import Expressions
from tests.conformance.language.samples import SPEC, definition

Object = dict[str, Any]

_FACTOR: Final = re.compile(r"Forbidden: estimated rule cost exceeds budget by factor of (more than 100|[0-9.]+)x")
_PLACE: Final = re.compile(r"properties\[p([0-9]+)\]\.x-kubernetes-validations\[0\]\.rule$")
_ROUNDS: Final = 6
_MOST_ITEMS: Final = 10**9


def priced(expression: str, items: int, wide: bool) -> Object:
    """A schema whose rule evaluates an expression so often at most; `wide` is one without other bounds."""
    spec = copy.deepcopy(SPEC)
    if wide:
        for each in spec["properties"].values():
            for bound in ("maxItems", "maxLength", "maxProperties"):
                each.pop(bound, None)
                if isinstance(each.get("items"), dict):
                    each["items"].pop(bound, None)
    spec["properties"]["times"] = {"type": "array", "maxItems": items, "items": {"type": "integer"}}
    spec["x-kubernetes-validations"] = [{"rule": f"self.times.all(q, [{expression}].size() == 1)", "message": "m"}]
    return spec


def costs(api: Api, count: int = 360) -> Iterator[Any]:
    """`[expression, wide, items, factor]`."""
    made = Expressions(36)
    drawn = [made.fresh("shown") for _ in range(count)]
    for number, batch in enumerate(batches(drawn, 60)):
        refused = refusals(api, [f"[{each}].size() == 1" for each in batch])
        fine = [each for index, each in enumerate(batch) if index not in refused or "estimated" in refused[index]]
        for wide in (False, True):
            for expression, (items, factor) in zip(fine, _estimates(api, fine, wide), strict=True):
                if factor:
                    yield [expression, wide, items, factor]
        print(f"{number}: {len(fine)} prices", flush=True)


def _estimates(api: Api, expressions: Sequence[str], wide: bool) -> list[tuple[int, str]]:
    items, factors = [1000] * len(expressions), [""] * len(expressions)
    best = list(zip(items, factors, strict=True))
    for _ in range(_ROUNDS):
        properties = {f"p{index}": priced(each, items[index], wide) for index, each in enumerate(expressions)}
        answer = api.post(DEFINITIONS, definition("estimate", properties), dryRun="All")
        found = {
            int(place[1]): told[1]
            for field, text in causes(answer.body)
            if (place := _PLACE.search(field)) and (told := _FACTOR.match(text))
        }
        for index in range(len(expressions)):
            factor = found.get(index, "")
            if factor and not factor.startswith("more"):
                best[index] = (items[index], factor)
                if float(factor) >= 1.5:
                    items[index] = max(1, int(items[index] * 1.25 / float(factor)))
            elif factor and not best[index][1]:
                items[index] = max(1, items[index] // 60)
            elif not factor and not best[index][1]:
                items[index] = min(items[index] * 40, _MOST_ITEMS)
    return best
