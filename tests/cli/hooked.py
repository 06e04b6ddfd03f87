"""`mooring` with two webhooks and a conversion more than it has: `python -m tests.cli.hooked up|run ...`.

The table of the product is replaced before the command looks at it, and in the API server process of `up` too.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mooring.supervisor import embedded as cluster
from mooring.supervisor import selection, table
from mooring.supervisor.children import Program
from tests.runtime.hooks import GADGETS, GUARD, SIDECAR

ROOT = Path(__file__).parents[2]
SERVER = "mooring.supervisor.server"


def put_webhooks_into_the_table() -> None:
    webhooks = (SIDECAR, GUARD)
    replaced: dict[Any, dict[str, Any]] = {
        table: {"all_webhooks": lambda: webhooks, "all_conversions": lambda: (GADGETS,)},
        selection: {"WEBHOOKS": tuple(webhook.switch for webhook in webhooks)},
    }
    for module, values in replaced.items():
        for name, value in values.items():
            setattr(module, name, value)


def _program(*arguments: Any, **settings: Any) -> Program:
    made = Program(*arguments, **settings)
    return replace(made, module=__spec__.name) if made.module == SERVER else made


def main() -> int:
    put_webhooks_into_the_table()
    if len(sys.argv) == 1:
        from mooring.supervisor.server import main as serve

        return serve()
    from mooring.cli.main import cli

    # The children of `up` do not look into the current folder.
    os.environ["PYTHONPATH"] = str(ROOT)
    setattr(cluster, "Program", partial(_program))  # noqa: B010
    cli()
    return 0


if __name__ == "__main__":
    sys.exit(main())
