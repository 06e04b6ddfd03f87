"""`python -m mooring.supervisor.server`: the API server process of `mooring up`."""

from __future__ import annotations

import sys
from pathlib import Path

from mooring.kube.errors import MooringError
from mooring.supervisor.parent_watchdog import end_with_parent, take_orders


def main() -> int:
    end_with_parent()
    # What takes long comes before the orders: the parent has certificates to make meanwhile.
    from mooring.apiserver.logs import NodeAccess
    from mooring.apiserver.process import ServerConfig, run_server
    from mooring.supervisor.admission import own_admission
    from mooring.supervisor.logs import log_as_json

    orders = take_orders()
    log_as_json()
    data = orders["data"]
    try:
        return run_server(
            ServerConfig(
                fd=orders["socket"],
                tokens=Path(orders["tokens"]),
                data=None if data is None else Path(data),
                certificate=Path(orders["certificate"]),
                key=Path(orders["key"]),
                nodes=NodeAccess(Path(orders["authority"]), orders["node_token"]),
            ),
            prepare=own_admission(orders["webhooks"]),
        )
    except (MooringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
