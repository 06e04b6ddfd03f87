"""Real kubectl, run as people run it, in a namespace of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SECONDS = 60


class Kubectl:
    """Calling it runs kubectl and gives what it printed; a command that fails is a failed test, unless it should."""

    def __init__(self, program: Path, kubeconfig: Path, cache: Path, namespace: str = "default") -> None:
        self.program = program
        self.kubeconfig = kubeconfig
        self.cache = cache
        self.namespace = namespace
        ours = {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(cache), "HOME": str(cache)}
        self._environment = {**os.environ, **ours}

    def __call__(self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None) -> str:
        done = self.run(*arguments, stdin=stdin, environment=environment)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)} ended with {done.returncode}: {done.stderr}"
        return done.stdout

    def fails(self, *arguments: str, stdin: str | None = None) -> str:
        """What it says on standard error when it fails."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode != 0, f"kubectl {' '.join(arguments)} succeeded: {done.stdout}"
        return done.stderr

    def run(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env={**self._environment, **(environment or {})},
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A command that goes on, like a watch; its user ends it."""
        return subprocess.Popen(
            self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self._environment
        )

    def command(self, *arguments: str) -> list[str]:
        return [str(self.program), "--namespace", self.namespace, *arguments]

    def apply(self, *objects: Mapping[str, Any], flags: tuple[str, ...] = ()) -> str:
        return self("apply", *flags, "-f", "-", stdin=manifest(*objects))

    def get(self, *arguments: str) -> Any:
        """The JSON of what is asked for."""
        return json.loads(self("get", *arguments, "-o", "json"))


def manifest(*objects: Mapping[str, Any]) -> str:
    """A file of several documents, in a form that both kubectls take."""
    return "\n".join(map(json.dumps, objects))
