"""A function of an expression: its types as Kubernetes declares them, and what it does."""

from collections.abc import Callable
from typing import Any, NamedTuple

NO_SUCH_OVERLOAD = "no such overload"


class Function(NamedTuple):
    """One overload. What `call` raises is the error of the expression, by its text."""

    name: str
    parameters: tuple[str, ...]
    result: str
    call: Callable[..., Any]
    # Whether the first parameter stands before the name: `version.major()`.
    member: bool = False
