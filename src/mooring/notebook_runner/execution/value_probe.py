"""Asks a Python kernel about the value of the cell that it just ran: types, shape, length, number.

The printed form of a value tells neither its type nor its shape for sure. The answer is kept in the metadata of the
cell, so that rules are decided from the executed notebook alone.
"""

from __future__ import annotations

import ast
import json
from typing import Any, Final

__all__ = ["METADATA_KEY", "PROBE", "answer_of"]

METADATA_KEY: Final = "mooring"

# One expression: a kernel evaluates it without output and without a place in its history.
PROBE: Final = (
    "(lambda v: __import__('json').dumps({"
    "'types': [c.__module__ + '.' + c.__qualname__ for c in type(v).__mro__],"
    "'shape': [int(n) for n in v.shape] if hasattr(v, 'shape') else [len(v)] if hasattr(v, '__len__') else None,"
    "'length': len(v) if hasattr(v, '__len__') and getattr(v, 'shape', 1) != () else None,"
    "'number': repr(float(v)) if hasattr(v, '__float__') and getattr(v, 'size', 1) == 1 else None,"
    "}))(Out[%d]) if %d in Out else 'null'"
)


def answer_of(reply: dict[str, Any] | None) -> dict[str, Any] | None:
    """What the reply to an execution with the probe says; nothing, when the cell has no value or it cannot be told."""
    try:
        text = (reply or {})["content"]["user_expressions"]["value"]["data"]["text/plain"]
        found = json.loads(ast.literal_eval(text))
    except (KeyError, TypeError, ValueError, SyntaxError):
        return None
    return found if isinstance(found, dict) else None
