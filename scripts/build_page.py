"""A step of building the package: the web page goes into the wheel.

The build backend calls it. An installation that points at the checkout does without; there `make up` builds the page. A
page that cannot be built costs one line, and everything else is packed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["PageBuild"]


class PageBuild(BuildHookInterface[Any]):
    """Runs scripts/page.sh, which does nothing where the page is as new as what it is made from."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        command = ["sh", "scripts/page.sh"]
        try:
            # Builds run in an environment of their own, without the checkout's.
            subprocess.run(command, cwd=root, env={**os.environ, "PYTHON": sys.executable}, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"page: the web page is not in the wheel: {error}", file=sys.stderr)
