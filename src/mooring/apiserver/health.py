"""Whether the server lives and is ready, check by check, and which version it is.

The checks have few and honest names: `ping` says that the process answers, `storage` that what it writes lasts,
`shutdown` that it is not about to stop. Clients ask for the version to know what they may expect: it is that of the API
server whose behaviour is served.
"""

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import Response, json_response, text_response
from mooring.apiserver.routing import RequestInfo

__all__ = ["VERSION_SUFFIX", "Check", "health", "version"]

# Says what is wrong, or nothing.
Check = Callable[[], str]

_OPTIONS: Final = ((b"x-content-type-options", b"nosniff"),)
VERSION_SUFFIX: Final = "+mooring"
_VERSION: Final = f"v1.35.8{VERSION_SUFFIX}"
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def version() -> Response:
    machine = platform.machine().lower()
    return json_response(
        {
            "major": "1",
            "minor": "35",
            "emulationMajor": "1",
            "emulationMinor": "35",
            "minCompatibilityMajor": "1",
            "minCompatibilityMinor": "34",
            "gitVersion": _VERSION,
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": platform.python_implementation().lower(),
            "platform": f"{sys.platform}/{_MACHINES.get(machine, machine)}",
        }
    )


def health(request: HttpRequest, target: RequestInfo, checks: Mapping[str, Check]) -> Response:
    """The answer to /healthz, /livez and /readyz, and to one check below them."""
    name = target.root
    if target.rest:
        return _single(name, target.rest, checks)
    excluded = set(request.query.get("exclude", ()))
    results = {check: look() for check, look in checks.items() if check not in excluded}
    failed = [check for check, problem in results.items() if problem]
    lines = [_line(check, problem) for check, problem in results.items()]
    lines += [f"[+]{check} excluded: ok" for check in checks if check in excluded]
    if failed:
        return text_response("\n".join([*lines, f"{name} check failed\n"]), 500, _OPTIONS)
    if "verbose" in request.query:
        return text_response("\n".join([*lines, f"{name} check passed\n"]), 200, _OPTIONS)
    return text_response("ok", 200, _OPTIONS)


def _single(name: str, rest: Sequence[str], checks: Mapping[str, Check]) -> Response:
    look = checks.get(rest[0]) if len(rest) == 1 else None
    if look is None:
        return text_response("404 page not found\n", 404, _OPTIONS)
    problem = look()
    if problem:
        return text_response(f"internal server error: {problem}\n", 500, _OPTIONS)
    return text_response("ok", 200, _OPTIONS)


def _line(check: str, problem: str) -> str:
    return f"[-]{check} failed: {problem}" if problem else f"[+]{check} ok"
