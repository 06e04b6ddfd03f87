"""Requests as JSON lines on standard input, answers on standard output: for comparing a feature with recordings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["answer_lines"]


def answer_lines(answer: Callable[[Object], Object]) -> int:
    """The exit code: 1 where a request could not be answered, which gets a line with `error` and stops no other."""
    failed = False
    for number, line in enumerate(sys.stdin.buffer, start=1):
        request: Object = {}
        try:
            request = msgspec.json.decode(line, type=dict[str, Any])
            reply = answer(request)
        except (MooringError, msgspec.MsgspecError, KeyError) as error:
            failed = True
            cause = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            reply = {"id": request.get("id"), "error": f"line {number}: {cause}"}
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
    return 1 if failed else 0
