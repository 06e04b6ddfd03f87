"""Who belongs to whom: from a pod up to what a person asked for, and from there down to all pods.

Objects arrive in any order and from watches of their own. An object counts as the top of its tree for as long as its
owner is not known, and stops to when the owner arrives; `changed` names all whose answer may be another then.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Ownership"]


class Ownership:
    """By uid. An owner may be named before it is there."""

    def __init__(self) -> None:
        self._owner: dict[str, str] = {}
        self._owned: dict[str, set[str]] = {}

    def __contains__(self, uid: str) -> bool:
        return uid in self._owner

    def put(self, uid: str, owner: str) -> set[str]:
        """An object that is there, and its owner's uid or nothing. The tops whose trees it changed."""
        before = self._owner.get(uid)
        changed = {self.top(uid)} if before is not None else set()
        if before is None:
            # What was the top of a tree for want of this one no longer is.
            changed |= self._owned.get(uid, set())
        elif before and before != owner:
            self._forget(before, uid)
        self._owner[uid] = owner
        if owner:
            self._owned.setdefault(owner, set()).add(uid)
        return {*changed, uid, self.top(uid)}

    def remove(self, uid: str) -> set[str]:
        if uid not in self._owner:
            return set()
        changed = {uid, self.top(uid), *self._owned.get(uid, ())}
        if owner := self._owner.pop(uid):
            self._forget(owner, uid)
        return changed

    def top(self, uid: str) -> str:
        """The uid at the top of an object's tree, its own where it has no owner that is there."""
        seen = {uid}
        while (owner := self._owner.get(uid)) and owner in self._owner and owner not in seen:
            seen.add(owner)
            uid = owner
        return uid

    def below(self, uid: str) -> Iterator[str]:
        """All that the object owns, directly or not."""
        waiting, seen = [uid], {uid}
        while waiting:
            for each in self._owned.get(waiting.pop(), ()):
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
                    yield each

    def _forget(self, owner: str, uid: str) -> None:
        owned = self._owned.get(owner, set())
        owned.discard(uid)
        if not owned:
            self._owned.pop(owner, None)
