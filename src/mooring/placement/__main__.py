"""Answers recorded requests: JSON lines in, JSON lines out, each answer with the `id` of its request.

`op` is `explain`, `schedule` or `validate`. A request that cannot be answered gets a line with `error` and makes the
exit code 1; the others are answered all the same.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from mooring.api.core.validation.pods import answer_validate
from mooring.kube.errors import MooringError
from mooring.placement.requests import explain_request, schedule_request

OPERATIONS = {"explain": explain_request, "schedule": schedule_request, "validate": answer_validate}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    operation = OPERATIONS.get(request.get("op", "explain"))
    if operation is None:
        known = ", ".join(OPERATIONS)
        raise MooringError(f"op: {request['op']!r} is not known, use one of {known}")
    return operation(request)


def main() -> int:
    failed = False
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        request: dict[str, Any] = {}
        try:
            request = msgspec.json.decode(line, type=dict[str, Any])
            # Recorded lines carry the request beside the expected answer.
            request = request.get("request", request)
            reply = answer(request)
        except (MooringError, msgspec.MsgspecError, KeyError) as error:
            failed = True
            cause = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            reply = {"id": request.get("id"), "error": f"line {number}: {cause}"}
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
