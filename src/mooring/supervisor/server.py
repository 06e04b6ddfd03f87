"""`python -m mooring.supervisor.server`: the API server process of `mooring up`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mooring.kube.errors import MooringError
from mooring.supervisor.parent_watchdog import end_with_parent, read_config

if TYPE_CHECKING:
    from mooring.registry import Registry


def main() -> int:
    end_with_parent()
    # What is loaded until the first request stays; to look for garbage in it took a tenth of the start.
    gc.disable()
    # Imports come before the config is read: the parent makes certificates meanwhile.
    from mooring.apiserver.nodes.kubelets import NodeAccess
    from mooring.apiserver.process import ServerConfig, run_server
    from mooring.net.certificates import Certificates
    from mooring.supervisor.logs import log_as_json

    config = read_config()
    log_as_json()
    data = config["data"]
    certificates = Certificates(Path(config["authority"]).parent)
    try:
        return run_server(
            ServerConfig(
                fd=config["socket"],
                tokens=Path(config["tokens"]),
                data=None if data is None else Path(data),
                accept_data_loss=config["accept_data_loss"],
                certificate=Path(config["certificate"]),
                key=Path(config["key"]),
                signing_key=Path(config["signing_key"]),
                authority=Path(config["authority"]),
                backup_files={path: Path(place) for path, place in config["backup_files"].items()},
                nodes=NodeAccess(certificates, config["node_token"]),
                front_proxy=certificates,
                audit_log=None if config["audit_log"] is None else Path(config["audit_log"]),
            ),
            prepare=_prepare(config),
        )
    except (MooringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _prepare(config: dict[str, Any]) -> Callable[[Registry], None]:
    """What is in the registry before the first request: our kinds, webhooks, a class of storage, and our rights."""
    from mooring.runtime.settings import Configuration
    from mooring.supervisor.admission import own_admission
    from mooring.supervisor.own_rights import grant_rights
    from mooring.supervisor.storage import have_default_class

    controllers: list[str] = config["controllers"]
    admission = own_admission(controllers, Configuration(*config["configuration"]))

    def prepare(registry: Registry) -> None:
        admission(registry)
        now = datetime.now(UTC)
        have_default_class(registry, controllers, now)
        grant_rights(registry, controllers, config["fleet_rules"], now=now, node=config["node"])

    return prepare


if __name__ == "__main__":
    sys.exit(main())
