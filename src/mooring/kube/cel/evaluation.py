"""One run of an expression: its variables, and the costs that stop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mooring.kube.cel.errors import OVER_BUDGET, CelBudgetError, CelPatienceError, CelRuntimeError

__all__ = ["Evaluation", "LazyValue", "Step"]


class Evaluation:
    """One run of an expression.

    `patience` is what may be spent at once: work beyond it is refused here and must be done where nobody waits for it.
    """

    __slots__ = ("cost", "limit", "patience", "variables")

    def __init__(self, variables: Mapping[str, Any], limit: int, patience: int | None = None) -> None:
        self.variables = dict(variables)
        self.cost = 0
        self.limit = limit
        self.patience = limit if patience is None else patience

    def charge(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.patience or self.cost > self.limit:
            self._stop()

    def _stop(self) -> None:
        raise CelBudgetError(OVER_BUDGET) if self.cost > self.limit else CelPatienceError(OVER_BUDGET)


Step = Callable[[Evaluation], Any]


class LazyValue:
    """A variable whose value is found when it is first asked for; what that costs is paid by the expression."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[int, int], tuple[Any, int]]) -> None:
        self._find = find
        self._found: tuple[Any] | CelRuntimeError | None = None

    def __call__(self, evaluation: Evaluation) -> Any:
        if self._found is None:
            try:
                value, cost = self._find(evaluation.limit - evaluation.cost, evaluation.patience - evaluation.cost)
            except CelPatienceError:
                raise
            except CelRuntimeError as error:
                self._found = error
                evaluation.charge(error.cost)
            else:
                self._found = (value,)
                evaluation.charge(cost)
        if isinstance(self._found, CelRuntimeError):
            raise self._found
        assert self._found is not None, "just found"
        return self._found[0]
