"""matchConditions: expressions that say whether a webhook or a policy is about a request at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from mooring.kube.cel.admission import CONDITION_BUDGET, admission_environment, compile_to
from mooring.kube.cel.errors import CelCompileError, CelPatienceError, CelRuntimeError
from mooring.kube.cel.program import CelProgram
from mooring.kube.objects import Object

__all__ = ["NO_BUDGET", "ConditionError", "matches_conditions"]

NO_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_KEPT_PROGRAMS: Final = 1024


class ConditionError(Exception):
    """Conditions that have no value for a request; the text says why."""


def matches_conditions(
    conditions: Sequence[Object],
    variables: Mapping[str, Any],
    *,
    params: bool,
    fails_open: bool,
    patience: int | None = None,
) -> bool:
    """Whether all conditions hold. One that is false decides, whatever is wrong with others.

    Raises ConditionError for what has no value, unless that counts as no match, and CelPatienceError.
    """
    budget, errors = CONDITION_BUDGET, []
    for condition in conditions:
        expression = condition["expression"]
        try:
            value, cost = _program(expression, params).run(variables, patience=patience)
        except CelCompileError as error:
            errors.append(f"compilation error: {error.message}")
            continue
        except CelPatienceError:
            raise
        except CelRuntimeError as error:
            budget -= error.cost
            errors.append(f"expression '{expression}' resulted in error: {error.message}")
        else:
            budget -= cost
            if value is False and budget >= 0:
                return False
        if budget < 0:
            errors = [NO_BUDGET]
            break
    if errors and not fails_open:
        texts = list(dict.fromkeys(errors))
        raise ConditionError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    return not errors


@lru_cache(_KEPT_PROGRAMS)
def _program(expression: str, params: bool) -> CelProgram:
    return compile_to(admission_environment(params=params, authorizer=True), expression, ("bool",))
