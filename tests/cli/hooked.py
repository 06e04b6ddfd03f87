"""`mooring` with two webhooks and a conversion more than it has: `python -m tests.cli.hooked up|run ...`.

The catalog of the product is changed before the command looks at it, and in the API server process of `up` too.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mooring.builtin.feature import CONTROL_PLANE
from mooring.catalog import CATALOG
from mooring.nodes.feature import NODES
from mooring.runtime.webhooks.direct import install
from mooring.supervisor import admission
from mooring.supervisor import embedded as cluster
from mooring.supervisor.children import Program
from tests.runtime.hooks import GADGETS, HOOKS

ROOT = Path(__file__).parents[2]
SERVER = "mooring.supervisor.server"


def put_webhooks_into_the_catalog() -> None:
    CATALOG.features = (CONTROL_PLANE, NODES, HOOKS)
    # `run` asks the catalog; the API server of `up` takes conversions from definitions, and this one has none.
    setattr(CATALOG, "conversions", lambda: (GADGETS,))  # noqa: B010
    setattr(admission, "install", partial(install, conversions=(GADGETS,)))  # noqa: B010


def _program(*arguments: Any, **settings: Any) -> Program:
    made = Program(*arguments, **settings)
    return replace(made, module=__spec__.name) if made.module == SERVER else made


def main() -> int:
    put_webhooks_into_the_catalog()
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
