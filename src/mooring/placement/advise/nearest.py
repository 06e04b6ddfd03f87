"""The existing words that are nearest to one that is not there: most selectors that match nothing are misspelt.

Distances count letters inserted, left out, exchanged or swapped with their neighbour. All candidates are measured at
once, because a label may have as many values as there are nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_NO_DIGITS = str.maketrans("", "", "0123456789")


def distances(word: str, others: Sequence[str]) -> NDArray[np.int64]:
    """The number of slips between `word` and each of `others`."""
    if not others:
        return np.zeros(0, dtype=np.int64)
    table = np.array(others, dtype=np.str_)
    lengths = np.char.str_len(table)
    width = max(int(lengths.max()), 1)
    letters = table.astype(f"<U{width}").view(np.uint32).reshape(len(others), width).T
    steps = np.arange(width + 1, dtype=np.int64)[:, None]
    older = previous = np.broadcast_to(steps, (width + 1, len(others)))
    for i, letter in enumerate(word):
        row = previous + 1
        row[1:] = np.minimum(row[1:], previous[:-1] + (letters != ord(letter)))
        if i:
            swapped = (letters[1:] == ord(word[i - 1])) & (letters[:-1] == ord(letter))
            row[2:] = np.where(swapped, np.minimum(row[2:], older[:-2] + 1), row[2:])
        # Letters left out of the word: the least of everything before, one step for each position.
        row = np.minimum.accumulate(row - steps, axis=0) + steps
        older, previous = previous, row
    found: NDArray[np.int64] = previous[lengths, np.arange(len(others))]
    return found


def tolerance(word: str) -> int:
    """How many slips still look like a slip: one in three letters, three at most."""
    return min(len(word) // 3, 3)


def meant(word: str, others: Sequence[str]) -> str | None:
    """The one of `others` that was meant by `word`; None where none is near, or several are equally near.

    Words that differ in digits only (`gen4`, `gen5`) are different words, not slips.
    """
    return _meant(word, tuple(others))


# A search for sets asks the same of the same labels hundreds of times.
@lru_cache(maxsize=128)
def _meant(word: str, others: tuple[str, ...]) -> str | None:
    lowered = word.lower()
    candidates = [
        o for o in others if o != word and (o.lower() == lowered or not _differ_in_digits(o.lower(), lowered))
    ]
    if not candidates:
        return None
    measured = distances(lowered, [o.lower() for o in candidates])
    least = int(measured.min())
    if least > tolerance(word) or np.count_nonzero(measured == least) > 1:
        return None
    return candidates[int(measured.argmin())]


def _differ_in_digits(word: str, other: str) -> bool:
    return word.translate(_NO_DIGITS) == other.translate(_NO_DIGITS)


def meant_key(key: str, others: Sequence[str]) -> str | None:
    """The label key or resource name that was meant: nearly the same, or the same name with another prefix."""
    found = meant(key, others)
    if found is not None:
        return found
    name = key.rpartition("/")[2]
    same = [other for other in others if other != key and other.rpartition("/")[2] == name]
    return same[0] if len(same) == 1 else None
