"""Which controllers and webhooks run: `--controllers` in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError

__all__ = ["PROCESS_NODE", "select_controllers"]

PROCESS_NODE: Final = "process-node"
"""Not a controller, but switched like one: this machine as a node of `mooring up`."""


def select_controllers(
    text: str, usual: Sequence[str] | None = None, extra: Sequence[str] = (), *, external: bool = False
) -> tuple[str, ...]:
    """`a,b` runs these, `-c` the usual ones but that one, `*` all; later words count more than earlier ones.

    `extra` are words that are known too. On an external cluster, what is for the embedded one alone is not.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    known = (*CATALOG.names, *extra)
    if external:
        known = tuple(name for name in known if name not in CATALOG.embedded_only)
    if not words:
        raise InputError(f"--controllers names none; there are {', '.join(known)}, * for all and -NAME for all but one")
    chosen = set(known if usual is None else usual) if words[0].startswith("-") else set()
    for word in words:
        names = _names(word.removeprefix("-"), known)
        chosen = chosen - names if word.startswith("-") else chosen | names
    return tuple(name for name in known if name in chosen)


def _names(word: str, known: Sequence[str]) -> set[str]:
    if word == "*":
        return set(known)
    if word in known:
        return {word}
    raise InputError(f'--controllers: there is no controller "{word}"; there are {", ".join(known)}')
