"""A seeded draw of mutations: the same seed draws the same places, and a change elsewhere leaves them drawn."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from scripts.mutants.mutations import Mutation, mutations

# Of a hundred. Constants are by far the most frequent in tables of field names, where one is as good as the next.
_SHARES = {
    "negated condition": 30,
    "dropped statement": 25,
    "swapped operator": 20,
    "changed constant": 20,
    "changed default": 5,
}


def every_mutation(root: Path, only: str | None) -> list[Mutation]:
    """Of the whole source, or of one package such as `runtime` or `features/groups`; paths are relative to `root`."""
    folder = root / "src" / "mooring" / (only or "")
    paths = [folder] if folder.suffix == ".py" else sorted(folder.rglob("*.py"))
    found = [each for path in paths for each in mutations(path.relative_to(root), path.read_bytes())]
    if not found:
        raise SystemExit(f"mutants: --only {only}: there is no package or module src/mooring/{only} with code in it.")
    return found


def draw(found: Iterable[Mutation], seed: int, count: int) -> list[Mutation]:
    """Kinds by their shares, places within a kind by lot; fewer than `count` where there are fewer."""
    chance = random.Random(seed)
    left: dict[str, list[Mutation]] = {}
    for each in _by_lot(found, seed):
        left.setdefault(each.kind, []).append(each)
    drawn: list[Mutation] = []
    while left and len(drawn) < count:
        kinds: Sequence[str] = sorted(left)
        (kind,) = chance.choices(kinds, [_SHARES[each] for each in kinds])
        drawn.append(left[kind].pop(0))
        if not left[kind]:
            del left[kind]
    return drawn


def _by_lot(found: Iterable[Mutation], seed: int) -> list[Mutation]:
    """Each has a lot of its own, from its words and not its line, so that a removed line does not redraw the rest."""
    same: Counter[tuple[str, ...]] = Counter()
    lots: dict[bytes, Mutation] = {}
    for each in found:
        words = (str(each.path), each.kind, each.in_line, each.text)
        same[words] += 1
        lots[sha256("\0".join((str(seed), *words, str(same[words]))).encode()).digest()] = each
    return [lots[lot] for lot in sorted(lots)]
