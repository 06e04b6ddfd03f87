"""Writes that are alike leave traces that are alike: what came of one is kept, and the next only sets the time.

A controller writes the same fields of an object over and over, and thousands of objects of one template are written in
the same way. Who owns what afterwards follows from who owned what, which fields changed, and who wrote; working that
out again each time would be the larger half of a status write. What is kept is bounded and starts anew when full.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mooring.kube.apply.comparing import Comparison
from mooring.kube.apply.fieldsets import encode_fields
from mooring.kube.apply.managers import Identity, Managers, entry_order, identity_of
from mooring.kube.schemas.model import Schema

__all__ = ["MOST_ENTRIES", "Traces", "TracesMemo"]

# Beyond this many entries their times decide which of them are merged.
MOST_ENTRIES: Final = 9
_LIMIT: Final = 1024

_encode: Final = msgspec.json.Encoder().encode


class _Trace(NamedTuple):
    """One entry of the outcome. `origin` is the place of the entry it comes from, -1 for a new one."""

    origin: int
    identity: Identity
    api_version: str
    # None for an entry that stays the very one it was.
    fields: dict[str, Any] | None
    # Whether its time is that of the write.
    fresh: bool


class Traces(NamedTuple):
    """What a write leaves behind, times aside."""

    schema: Schema
    entries: tuple[_Trace, ...]

    def entries_at(self, now: str, before: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The entries, given those before the write."""
        made = [self._entry(trace, now, before) for trace in self.entries]
        return sorted(made, key=entry_order) if len(made) > 1 else made

    def _entry(self, trace: _Trace, now: str, before: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        origin = before[trace.origin] if trace.origin >= 0 else None
        if origin is not None and trace.fields is None:
            return origin if isinstance(origin, dict) else dict(origin)
        identity = trace.identity
        made: dict[str, Any] = {
            "manager": identity.manager,
            "operation": identity.operation,
            "apiVersion": trace.api_version,
        }
        time = now if trace.fresh else (origin or {}).get("time")
        if time is not None:
            made["time"] = time
        made["fieldsType"] = "FieldsV1"
        made["fieldsV1"] = trace.fields
        if identity.subresource:
            made["subresource"] = identity.subresource
        return made


class TracesMemo:
    """The traces of writes, by what they follow from."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], Traces] = {}

    def key(
        self, schema: Schema, writer: Identity, before: Sequence[Mapping[str, Any]], comparison: Comparison
    ) -> tuple[int, bytes]:
        entries = [
            [each.get(name) for name in ("manager", "operation", "apiVersion", "subresource", "fieldsType", "fieldsV1")]
            for each in before
        ]
        return id(schema), _encode((writer, entries, comparison))

    def find(self, key: tuple[int, bytes]) -> Traces | None:
        return self._known.get(key)

    def learn(
        self,
        key: tuple[int, bytes],
        schema: Schema,
        writer: Identity,
        before: Sequence[Mapping[str, Any]],
        after: Managers,
        *,
        gained: bool,
    ) -> Traces:
        """Keep what came of a write. The schema is held on to, so that its id stays its own."""
        origins = {identity_of(entry): place for place, entry in enumerate(before)}
        entries = []
        for identity, entry in after.items():
            origin = origins.get(identity, -1)
            fields = None if entry.source is not None else encode_fields(entry.fields)
            if fields is not None and origin >= 0 and fields == before[origin].get("fieldsV1"):
                # Sharing the fields with the entry from before spares whoever stores them a look.
                fields = before[origin].get("fieldsV1")
            entries.append(_Trace(origin, identity, entry.api_version, fields, gained and identity == writer))
        if len(self._known) >= _LIMIT:
            self._known.clear()
        found = self._known[key] = Traces(schema, tuple(entries))
        return found
