"""What keys assume of folds until they see what they decided: the fold holds it until the key runs again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Generic, TypeVar

from mooring.kube.errors import MooringError
from mooring.runtime.decision import Assume
from mooring.runtime.folds import Fold

K = TypeVar("K", bound=Hashable)


class Assumptions(Generic[K]):
    def __init__(self, states: Mapping[Fold[Any], Any]) -> None:
        self._states = states
        # The folds that hold what a key has decided and not seen.
        self._assumed: dict[K, tuple[Fold[Any], ...]] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._assumed

    def replace(self, key: K, assumes: tuple[Assume, ...]) -> None:
        """Let folds hold what a key assumes, and no longer what it assumed before."""
        for fold in self._assumed.pop(key, ()):
            self._hold(fold, ())
        if assumes:
            self._assumed[key] = tuple(each.fold for each in assumes)
            for fold, assumptions in assumes:
                self._hold(fold, assumptions)

    def _hold(self, fold: Fold[Any], assumptions: tuple[Any, ...]) -> None:
        if fold.assume is None:
            raise MooringError(f"fold {fold.name} holds no assumptions; declare `assume` on it")
        fold.assume(self._states[fold], assumptions)
