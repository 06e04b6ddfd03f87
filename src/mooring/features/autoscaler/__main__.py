"""Answers recorded requests to the autoscaler: JSON lines in, JSON lines out, each answer with the `id` of its request.

A request that cannot be answered gets a line with `error` and makes the exit code 1; the others are answered all the
same.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from mooring.features.autoscaler.recorded.answers import answer
from mooring.kube.errors import MooringError


def main() -> int:
    failed = False
    for number, line in enumerate(sys.stdin.buffer, start=1):
        request: dict[str, Any] = {}
        try:
            request = msgspec.json.decode(line, type=dict[str, Any])
            reply = answer(request)
        except (MooringError, msgspec.MsgspecError, KeyError) as error:
            failed = True
            cause = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            reply = {"id": request.get("id"), "error": f"line {number}: {cause}"}
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
