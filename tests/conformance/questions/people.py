"""Who asks: names with their groups. A token stands for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ADMINISTRATOR = "administrator"
ANONYMOUS = "anonymous"
PEOPLE: Mapping[str, Sequence[str]] = {
    "ann": (),
    "ben": ("readers",),
    "cat": ("readers", "writers"),
    "dan": ("keepers",),
    "eve": (),
    "fay": ("readers",),
    "system:serviceaccount:default:robot": ("system:serviceaccounts", "system:serviceaccounts:default"),
    "system:node:node-a": ("system:nodes",),
    "system:node:node-b": ("system:nodes",),
    "system:node:node-c": (),
    "node-d": ("system:nodes",),
}
