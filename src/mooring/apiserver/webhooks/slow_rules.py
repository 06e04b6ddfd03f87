"""Rules of custom kinds that take long: the write is given up, evaluated by a thread, and made again.

The registry is synchronous. Rules that cost more than it waits for interrupt it like a webhook without a response does;
the next attempt at the same write finds what they said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mooring.apiserver.webhooks.off_loop import PATIENCE, OffLoop
from mooring.apiserver.webhooks.pending import Pending
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema

if TYPE_CHECKING:
    from mooring.kube.cel.rules.evaluation import Findings

__all__ = ["SlowRules"]

# Answers that nobody came back for; more than there are writes at a time.
_MAX_KEPT: Final = 64


class SlowRules:
    """Checks objects against the rules of their kind, as the registry does by itself, but never for long at once."""

    def __init__(self, off_loop: OffLoop) -> None:
        self._off_loop = off_loop
        self._found: list[tuple[Schema, Any, Any, Findings]] = []

    def check(self, schema: Schema, new: Object, old: Object | None) -> Findings:
        from mooring.kube.cel.rules.evaluation import OverPatience, check_rules

        if self._found:
            known = self._take(schema, new, old)
            if known is not None:
                return known
        try:
            return check_rules(schema, new, old, patience=PATIENCE)
        except OverPatience:
            pass

        async def settle(_: bool) -> None:
            found = await self._off_loop.run_apart(lambda: check_rules(schema, new, old))
            self._found.append((schema, _judged(new), _judged(old), found))
            del self._found[:-_MAX_KEPT]

        raise Pending(settle)

    def _take(self, schema: Schema, new: Object, old: Object | None) -> Findings | None:
        for index, (known, one, other, found) in enumerate(self._found):
            if known is schema and one == _judged(new) and other == _judged(old):
                del self._found[index]
                return found
        return None


def _judged(obj: Object | None) -> Any:
    """What rules can see of an object. Each attempt at a creation generates another name and uid."""
    if obj is None:
        return None
    metadata = obj["metadata"]
    name = metadata.get("generateName") or metadata.get("name")
    return {**obj, "metadata": name}
