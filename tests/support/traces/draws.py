"""Small things that drawn stories have in common."""

from __future__ import annotations

from random import Random
from typing import Any

from mooring.kube.objects import Object
from tests.support.traces.story import Story


def chosen(draw: Random, chance: float, **fields: Any) -> dict[str, Any]:
    """These fields, each with the chance; a list is what its value is drawn from."""
    found: dict[str, Any] = {}
    for name, values in fields.items():
        if draw.random() < chance:
            found[name] = draw.choice(values) if isinstance(values, list) else values
    return found


def toggle_quota(story: Story, draw: Random, amount: str = "pods", kind: str = "ResourceQuota") -> None:
    """Allow a few pods only, or any number again."""
    if story.get(kind, "few") is not None:
        story.delete(kind, "few")
        return
    hard = {amount: str(draw.randrange(1, 5))}
    story.create({"apiVersion": "v1", "kind": kind, "metadata": {"name": "few"}, "spec": {"hard": hard}})


def anyone(story: Story, draw: Random, kind: str) -> Object | None:
    """One of the objects of a kind."""
    found = story.all(kind)
    return draw.choice(found) if found else None
