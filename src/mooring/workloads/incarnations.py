"""Names of pods where upstream's suffix is random: a number that an owner hands out once, written as five letters.

Other children that are replaced under new names take theirs from here too; what is said of pods holds for them.

The lowest free number comes next, so a decision that is repeated after a crash gives the same names and makes no second
pod. A number that was used must not come back when its pod is gone: events of two pods would merge, and
`kubectl wait --for=delete` would wait for the wrong one. So the owner carries a record, the annotation `RECORD`:

    Every number from the record on belongs to a pod that is there and stays, or was never handed out.

First pods need no record. It is raised above all numbers in use when a pod that has one of them leaves, and the pods
that follow take theirs from there: a rollout of a thousand pods raises it once. It is raised in the intent stage, and
together with a status that changes at that time anyway, so that it costs no write of its own.

That a pod left is seen on the pod itself (it is being deleted, or has ended), by what the key remembers to have handed
out, or, after a restart, by a status that counts more pods than there are. One case is beyond all of these: a pod that
comes and goes entirely between its creation and a crash before the next status. There, repeating the decision wins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Kind
from mooring.api.meta import AnnotatedMeta
from mooring.runtime.view import View
from mooring.workloads.kinds import POD
from mooring.workloads.podcontrol import ALPHABET

RECORD: Final = "mooring.dev/incarnation"
_SUFFIX_CHARS: Final = 5
# How many numbers there are before they begin again.
_NUMBERS: Final = len(ALPHABET) ** _SUFFIX_CHARS
_DIGITS: Final = {letter: digit for digit, letter in enumerate(ALPHABET)}
# A pod's name is cut so that the suffix fits into the 63 characters of a host name.
_MAX_BASE_CHARS: Final = 63 - 1 - _SUFFIX_CHARS


class IncarnationOwner(Protocol):
    @property
    def metadata(self) -> AnnotatedMeta: ...


class Issued(NamedTuple):
    """What a key remembers of its owner's numbers: the record, and the first one that was not handed out since."""

    record: int
    next: int


@lru_cache(maxsize=10_000)
def _scatter(uid: str) -> tuple[int, int, int]:
    """An owner's permutation of all numbers, as factor, inverse factor and shift: names of one owner never meet."""
    seed = hashlib.blake2b(uid.encode(), digest_size=16).digest()
    # Every factor that shares no divisor with a power of 27 has an inverse.
    factor = int.from_bytes(seed[:8]) % (_NUMBERS // 3) * 3 + 1 + seed[15] % 2
    return factor, pow(factor, -1, _NUMBERS), int.from_bytes(seed[8:15]) % _NUMBERS


def suffix(uid: str, number: int) -> str:
    factor, _, shift = _scatter(uid)
    value = (number * factor + shift) % _NUMBERS
    letters = []
    for _ in range(_SUFFIX_CHARS):
        value, digit = divmod(value, len(ALPHABET))
        letters.append(ALPHABET[digit])
    return "".join(letters)


def number_of(uid: str, name: str) -> int | None:
    """The number that a name would stand for if the owner had given it; None if no number gives such a name."""
    value = 0
    for letter in reversed(name[-_SUFFIX_CHARS:]):
        digit = _DIGITS.get(letter)
        if digit is None:
            return None
        value = value * len(ALPHABET) + digit
    _, inverse, shift = _scatter(uid)
    return (value - shift) * inverse % _NUMBERS


def _steps_from(first: int, number: int | None) -> int:
    return _NUMBERS if number is None else (number - first) % _NUMBERS


def _is_active(pod: Pod) -> bool:
    return pod.active


class Incarnations:
    """The numbers of one owner as one run sees them.

    `most` is how many pods the owner has wanted or counted, so that a name which somebody else made up is not taken
    for a number far away. `uncounted` is how many of the pods that the status counts are not there any more.
    """

    def __init__(
        self,
        owner: IncarnationOwner,
        pods: Sequence[HasMeta],
        most: int,
        known: Issued | None = None,
        uncounted: int = 0,
        stays: Callable[[Any], bool] = _is_active,
    ) -> None:
        meta = owner.metadata
        self._uid, self._namespace = meta.uid, meta.namespace
        self._on_record = recorded(owner)
        # A record that was removed from the object is written again.
        first = self._on_record if known is None else max(self._on_record, known.record)
        reach = most + len(pods)
        steps = [(_steps_from(first, number_of(self._uid, pod.metadata.name)), pod) for pod in pods]
        used = [(first + step, pod) for step, pod in steps if step < reach]
        after = max((number for number, _ in used), default=first - 1) + 1
        if known is None:
            unseen = uncounted > 0
            # Numbers are handed out without gaps, so those that are gone follow on those that are there at most.
            after = max(after, first + len(used) + uncounted) if unseen else after
        else:
            unseen = known.next - first > len(used)
            after = max(after, known.next)
        left = unseen or not all(stays(pod) for _, pod in used)
        self._record = after if left else first
        self._next = after

    @property
    def annotations(self) -> dict[str, str]:
        """What has to be written to the owner before a pod gets a name; nothing if the record stands."""
        return {} if self._record == self._on_record else {RECORD: str(self._record)}

    @property
    def issued(self) -> Issued:
        return Issued(self._record, self._next)

    def names(self, view: View, base: str, middle: str = "", kind: Kind[Any] = POD) -> Iterator[str]:
        """Free names in the order of their numbers; one that another owner's pod has is passed over."""
        start = f"{base[: _MAX_BASE_CHARS - len(middle)]}{middle}-"
        number = self._record
        while True:
            name = start + suffix(self._uid, number)
            number += 1
            if view.get(kind, self._namespace, name) is None:
                self._next = max(self._next, number)
                yield name


def recorded(owner: IncarnationOwner) -> int:
    text = owner.metadata.annotations.get(RECORD, "")
    return int(text) if text.isdecimal() else 0


def without_record(annotations: dict[str, str]) -> dict[str, str]:
    """Annotations as they are copied to another object, whose pods have numbers of their own."""
    return {name: value for name, value in annotations.items() if name != RECORD}
