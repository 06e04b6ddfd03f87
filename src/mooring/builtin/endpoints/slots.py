"""Which endpoints share an EndpointSlice: slots that follow from the endpoints alone, in whatever order they came.

All endpoints share one slot until there are too many. Then the slot is halved by one bit of each endpoint's hash, and
so on. An endpoint that comes or goes therefore changes one slot, at times two, and computing the slots again gives the
same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

MAX_ENDPOINTS_PER_SLICE: Final = 100
_HASH_BITS: Final = 64


def slots(uids: Iterable[str], most: int = MAX_ENDPOINTS_PER_SLICE) -> Iterator[tuple[str, frozenset[str]]]:
    """The slots, each with its uids. A slot keeps its name when its other half becomes a slot of its own."""
    hashed = [(_bits(uid), uid) for uid in uids]
    yield from _halves(hashed, "", most)


def _halves(hashed: list[tuple[str, str]], path: str, most: int) -> Iterator[tuple[str, frozenset[str]]]:
    if len(hashed) <= most or len(path) == _HASH_BITS:
        if hashed:
            yield path.rstrip("0"), frozenset(uid for _, uid in hashed)
        return
    for bit in "01":
        yield from _halves([each for each in hashed if each[0][len(path)] == bit], path + bit, most)


def _bits(uid: str) -> str:
    number = int.from_bytes(hashlib.blake2b(uid.encode(), digest_size=_HASH_BITS // 8).digest())
    return f"{number:0{_HASH_BITS}b}"
