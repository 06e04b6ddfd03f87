"""Which endpoints share a slice: places that follow from the endpoints alone, whatever came first.

All stand in one place until they are too many. Then the place is halved by a bit of each one's hash, and so on. One
that comes or goes therefore touches one place, at times two, and whoever computes this again finds the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

MAX_ENDPOINTS_PER_SLICE: Final = 100
_HASH_BITS: Final = 64


def slots(uids: Iterable[str], most: int = MAX_ENDPOINTS_PER_SLICE) -> Iterator[tuple[str, frozenset[str]]]:
    """The places, each with the uids that stand there. A place keeps its name when the half beside it parts from it."""
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
