"""Another user of the cluster, in a process of its own: how long a read and a write take, ten times a second.

`python -m bench.soak.probe ENDPOINT` prints a line for each: when it was sent, on the monotonic clock, and seconds; -1
for one that was not answered. 507, of a full disk, is an answer.
"""

from __future__ import annotations

import json
import sys
import time

from bench.wire import ApiEndpoint, Wire

_PATH = "/api/v1/namespaces/default/configmaps/probe"
_PERIOD_SECONDS = 0.1


def main() -> None:
    endpoint = ApiEndpoint.of(sys.argv[1])
    wire: Wire | None = None
    number = 0
    while True:
        number += 1
        began = time.monotonic()
        try:
            wire = wire or Wire(endpoint)
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}, "data": {"n": str(number)}}
            write = wire.request(
                "PATCH", f"{_PATH}?fieldManager=probe", json.dumps(body).encode(), "application/apply-patch+yaml"
            )
            code, _ = wire.ask(wire.request("GET", _PATH) if number % 2 else write)
            took = time.monotonic() - began if code < 500 or code == 507 else -1.0
        except (OSError, ValueError):
            wire, took = None, -1.0
        print(began, took, flush=True)
        time.sleep(max(0.0, began + _PERIOD_SECONDS - time.monotonic()))


if __name__ == "__main__":
    main()
