"""`python -m mooring.supervisor.server`: the API server process of `mooring up`."""

from __future__ import annotations

import sys
from pathlib import Path

from mooring.kube.errors import MooringError
from mooring.supervisor.parent_watchdog import end_with_parent, read_config


def main() -> int:
    end_with_parent()
    # Imports come before the config is read: the parent makes certificates meanwhile.
    from mooring.apiserver.kubelets import NodeAccess
    from mooring.apiserver.process import ServerConfig, run_server
    from mooring.supervisor.admission import own_admission
    from mooring.supervisor.logs import log_as_json

    config = read_config()
    log_as_json()
    data = config["data"]
    try:
        return run_server(
            ServerConfig(
                fd=config["socket"],
                tokens=Path(config["tokens"]),
                data=None if data is None else Path(data),
                certificate=Path(config["certificate"]),
                key=Path(config["key"]),
                signing_key=Path(config["signing_key"]),
                authority=Path(config["authority"]),
                nodes=NodeAccess(Path(config["authority"]), config["node_token"]),
            ),
            prepare=own_admission(config["webhooks"]),
        )
    except (MooringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
