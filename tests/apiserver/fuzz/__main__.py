"""`make fuzz`: requests drawn from a seed, to an API server in a process of its own; which it could not answer.

`python -m tests.apiserver.fuzz --requests 1000000 --seed 7`. A request that is answered with an error of the server, or
that ends the server, is printed, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from mooring.apiserver.authentication.token_file import put_token
from mooring.testing.processes import ProgramEnded, ProgramProcess
from tests.apiserver.fuzz.client import FuzzClient, Reply
from tests.apiserver.fuzz.requests import DrawnRequest, RequestFuzz

# Objects pile up, and so does what lists cost; a server is fuzzed afresh after so many requests.
REQUESTS_PER_SERVER: Final = 20_000
_SHOWN: Final = 20


class Finding(NamedTuple):
    request: bytes
    reply: Reply


class Findings:
    """What came of it: the answers by status, and what the server should not have done."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.wrong: list[Finding] = []
        self.memory_mib = 0.0

    @property
    def count(self) -> int:
        return self.statuses.total()

    def add(self, request: DrawnRequest, reply: Reply) -> None:
        self.statuses[reply.status] += 1
        if _is_failure(request, reply) or (request.whole and not reply.status):
            self.wrong.append(Finding(request.data, reply))

    def text(self) -> str:
        answers = ", ".join(f"{code or 'none'}: {count}" for code, count in sorted(self.statuses.items()))
        lines = [
            f"{self.count} requests, {len(self.wrong)} failed; memory {self.memory_mib:.0f} MiB at most; {answers}"
        ]
        lines += [f"{finding.request[:2000]!r}\n  {finding.reply}" for finding in self.wrong[:_SHOWN]]
        return "\n".join(lines)


def _is_failure(request: DrawnRequest, reply: Reply) -> bool:
    """Whether something broke: some refusals have such a code, in any encoding, as on the real server."""
    if request.data.startswith(b"HEAD "):
        # The answer has no body that could tell.
        return reply.status == 500
    return reply.status >= 500 and (b"Status" not in reply.shown or b"its log says more" in reply.shown)


@contextmanager
def fuzzed_server(folder: Path) -> Iterator[tuple[ProgramProcess, int, str]]:
    """An API server, its port, and the header that its administrator sends."""
    folder.mkdir(parents=True, exist_ok=True)
    token = put_token(folder / "tokens", "fuzz", ["system:masters"])
    command: list[str | Path] = [sys.executable, "-m", "mooring.apiserver", "--tokens", folder / "tokens"]
    server = ProgramProcess([*command, "--audit-log", folder / "audit.log"], folder / "apiserver.log")
    try:
        found: list[int] = []

        def listens() -> bool:
            found[:] = [int(port) for port in re.findall(r"listening on 127.0.0.1:(\d+)", server.tail())]
            return bool(found)

        server.wait_until(listens, 60)
        yield server, found[0], f"Bearer {token}"
    finally:
        server.stop()


def fuzz(folder: Path, seed: int, requests: int, findings: Findings, until: float = float("inf")) -> None:
    """Send requests to a new server. A ProgramEnded says that it did not live through them."""
    with fuzzed_server(folder) as (server, port, authorization):
        drawn, client = RequestFuzz(seed, authorization), FuzzClient("127.0.0.1", port)
        probe = f"GET /readyz HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n\r\n".encode()
        for _ in range(requests):
            request = drawn.next()
            reply = client.ask(request.data, endless=request.endless, whole=request.whole)
            findings.add(request, reply)
            if not reply.status and (not server.running() or client.ask(probe).status != 200):
                raise ProgramEnded(f"the server did not live through {request.data[:2000]!r}\n{server.tail()}")
            if time.monotonic() > until:
                break
        findings.memory_mib = max(findings.memory_mib, _memory_mib(server.pid))
        client.close()
        if (code := server.stop()) != 0:
            raise ProgramEnded(f"the server ended with exit code {code}\n{server.tail()}")


def _memory_mib(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.apiserver.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="how many (1,000,000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; every server has the next one (0)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after this long")
    given = parser.parse_args()
    findings, seed = Findings(), given.seed
    until = time.monotonic() + 60 * given.minutes
    try:
        while (left := given.requests - findings.count) > 0 and time.monotonic() < until:
            with tempfile.TemporaryDirectory(prefix="mooring-fuzz-") as folder:
                fuzz(Path(folder), seed, min(left, REQUESTS_PER_SERVER), findings, until)
            seed += 1
            print(findings.text(), flush=True)
    except ProgramEnded as error:
        print(error)
        return 1
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
