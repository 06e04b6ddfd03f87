"""How large a seed's world is and how much befalls it: many small worlds find more in an hour than a few large ones.

The suite plays its few seeds at full extent. Where there are thousands, each draws its own: most are small, with a few
objects, a few steps, some kinds of faults and seldom a crash, after which every key begins anew; one in ten is as
large as in the suite, and one in ten, large or small, meets every fault as often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from mooring.runtime.drivers.faults import Faults

FULL_SHARE = 0.1
# Of the kinds of faults that a story has, a seed with few of them has each with this chance.
KINDS_SHARE = 0.5
# A crash costs as much as some thirty decisions, and each shows one interleaving more.
FEWER_CRASHES = 4


@dataclass(frozen=True)
class Extent:
    """`small` worlds have fewer objects and steps, `sparse` ones fewer kinds of faults, and few crashes."""

    small: bool = False
    sparse: bool = False

    def of(self, most: int, draw: Random, least: int = 1) -> int:
        """How many there are of something, where a full world has `most`: rather few."""
        return min(draw.randint(least, most), draw.randint(least, most)) if self.small and most > least else most

    def faults(self, rate: float, seed: int) -> Faults:
        every = Faults.everything(rate)
        if not self.sparse:
            return every
        draw = Random(f"faults {seed}")
        kinds = ("conflict", "throttle", "fail_before", "fail_after", "lost_answer", "lag", "drop", "repeat", "expire")
        gone = dict.fromkeys((kind for kind in kinds if draw.random() >= KINDS_SHARE), 0.0)
        # A watch that has nothing to tell may end or repeat itself, and that is all.
        idle = every.idle if not {"expire", "repeat"} <= gone.keys() else 0.0
        return replace(every, **gone, crash=draw.choice((0.0, 1.0, 1.0, 2.0)) * every.crash / FEWER_CRASHES, idle=idle)


FULL = Extent()


def drawn(seed: int) -> Extent:
    draw = Random(f"extent {seed}")
    return Extent(small=draw.random() >= FULL_SHARE, sparse=draw.random() >= FULL_SHARE)
